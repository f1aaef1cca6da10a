/* SPDX-License-Identifier: MIT */
/* What `aprof check` has found, as a compiler would say it. */
#ifndef APROF_CLI_CHECK_TEXT_H
#define APROF_CLI_CHECK_TEXT_H

#include "check/check.h"

#include <stdio.h>

void check_print(const struct check_result *, FILE *);
/* What was not seen, in a few lines, or all of it. */
void check_print_unseen(const struct check_result *, bool all, FILE *);

#endif
