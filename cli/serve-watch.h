/* SPDX-License-Identifier: MIT */
/*
 * Processes that somebody looks at, and what they did lately.
 *
 * Purpose: a window needs readings of before: each look leaves one. Nobody is looked at while
 * nobody asks, so a window that begins in such a time begins at the reading before or after it.
 * Of processes that nobody has asked about for longest those beyond a few are forgotten.
 * Cost: that of follow.h for each look; memory as history.h is given it. Locking: none.
 */
#ifndef APROF_CLI_SERVE_WATCH_H
#define APROF_CLI_SERVE_WATCH_H

#include "read/view.h"

struct watched;

struct watch {
  const char *target; /* only what this is the PID or NAME of; NULL: all */
  struct watched *first;
};

struct looked {
  bool ended; /* that is how it did */
  bool own;   /* it is of the user who runs us, who would read the sources that it names, too */
};

/* What that process did in about the last `range` ns (0: since its start), the caller's to change
   and to free before the next look. NULL: there is no such process that may be looked at. */
struct view *watch_look(struct watch *, int64_t pid, uint64_t range, struct looked *);
void watch_close(struct watch *);

#endif
