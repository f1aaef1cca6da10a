/* SPDX-License-Identifier: MIT */
/*
 * Requests that several processes had a part in, as text in 80 columns and as JSON
 * (aprof.traces/1).
 *
 * Cost: that of ask/traces.h. Locking: none.
 */
#ifndef APROF_SHOW_TRACES_H
#define APROF_SHOW_TRACES_H

#include "read/view.h"

#include <stdio.h>

/* So many of them; 0: all. */
void traces_print(const struct view *, uint64_t rows, FILE *out);
void traces_json(const struct view *, uint64_t rows, FILE *out);

#endif
