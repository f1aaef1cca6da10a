/* SPDX-License-Identifier: MIT */
/*
 * Processes that somebody looks at, and what they did lately.
 *
 * Purpose: a window needs readings of before: each look leaves one. Nobody is looked at while
 * nobody asks, so a window that begins in such a time begins at the reading before or after it.
 * Of processes that nobody has asked about for longest those beyond some number are forgotten.
 * Cost: that of follow.h for each look; memory is shared by their histories. Locking: none.
 */
#ifndef APROF_CLI_SERVE_WATCH_H
#define APROF_CLI_SERVE_WATCH_H

#include "read/view.h"
#include "serve-process.h"

struct watched;

/* So many are kept; during a look more, if it needs them. */
enum { WATCHED = 64 };

struct watch {
  const char *target; /* only what this is the PID or NAME of; NULL: all */
  struct watched *first;
  size_t count;
  int64_t began; /* monotonic ns: the look that goes on; what it has asked for is kept */
};

/* A look at one or several of them begins, and with it all views of the one before are over. */
void watch_begin(struct watch *);

/* The live ones that are profiled, each once. */
void watch_names(const struct watch *, struct process_names *);
/* What that process did in about the last `range` ns (0: since its start), the caller's to change
   and to free before the next look. NULL: there is no such process that may be looked at. */
struct view *watch_look(struct watch *, const struct process_name *, uint64_t range,
                        struct looked *);
void watch_close(struct watch *);

#endif
