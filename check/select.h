/* SPDX-License-Identifier: MIT */
/*
 * Which findings count.
 *
 * Purpose: takes those out of a result that a baseline knows, and those that a change has nothing
 * to do with. Cost: a look at each finding. Locking: none.
 */
#ifndef APROF_CHECK_SELECT_H
#define APROF_CHECK_SELECT_H

#include "check.h"

#include <stdio.h>

/* Without those of the baseline. False after a message. */
bool select_unknown(struct check_result *, const char *path);
/* A baseline that knows all of a struct check_result. */
void select_write(const void *result, FILE *);
/* Those with a line, their own or of their path, that a unified diff adds; "-": standard input. */
bool select_changed(struct check_result *, const char *path);

#endif
