/* SPDX-License-Identifier: MIT */
/*
 * Processes looked at again and again: which there are, whether they live, what they did lately.
 *
 * In: a TARGET, or all live processes of ours. Out: rows for show/top.h, made anew by each look.
 * Cost: that of reading each; a search for new ones now and then. Locking: none.
 */
#ifndef APROF_CLI_TOP_WATCH_H
#define APROF_CLI_TOP_WATCH_H

#include "show/top.h"

#include <stdbool.h>

struct top_watch;

/* `target` NULL: all there are, and those to come. NULL after a message. */
struct top_watch *top_watch_new(const char *target);
void top_watch_free(struct top_watch *);

/* Reads once more; others than `pid` (0: none) not each time. */
void top_watch_look(struct top_watch *, int64_t pid);
/* What is known, over the last `window` ns (0: since the start); until the next look, or the next
   call. */
const struct top_process *top_watch_rows(struct top_watch *, uint64_t window, size_t *count);

#endif
