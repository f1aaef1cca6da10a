/* SPDX-License-Identifier: MIT */
/*
 * The spans of a process: what is kept of each, and its sums.
 *
 * Cost: linear in them. Locking: none.
 */
#ifndef APROF_SHOW_SPANS_H
#define APROF_SHOW_SPANS_H

#include "read/view.h"

#include <stdio.h>

void spans_print(const struct view *, FILE *out);
/* aprof.spans/1 */
void spans_json(const struct view *, FILE *out);

#endif
