/* SPDX-License-Identifier: MIT */
/* Callers of what runs at a hit, by the program's unwind tables. Cost: a look-up a frame. */
#ifndef APROF_PROBE_UNWIND_H
#define APROF_PROBE_UNWIND_H

#include "location.h"

/* Once, before the first text. False after a message: there is no such table. */
bool unwind_start(struct debug *);
/* The frame that called what runs at the hit, as if it were one: registers that are not kept over
   the call are lacking. False: it is not known. */
bool unwind_caller(const struct hit *, struct hit *caller);
/* "main < serve < read_one", the innermost last; free() it. */
char *unwind_text(const struct hit *);
/* Where it is, then where each caller goes on; how many. */
size_t unwind_addresses(const struct hit *, uint64_t *to, size_t most);

#endif
