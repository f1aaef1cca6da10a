/* SPDX-License-Identifier: MIT */
/*
 * What if this await took half as long: requests once more, along their critical paths.
 *
 * In: a story, its requests by kind, and what takes how much of its time. Out: how long each would
 * have taken. Requests arrive when they did. What runs on a loop runs as long as it did, or its
 * share, and waits in the loop's one queue, first in first out, behind all that the loop ran
 * (also what is on no critical path, which comes when it came). A wait takes as long as it did, or
 * its share; so do queues of pools, and what of a queue no future is to blame for.
 * The same with all as it was tells how near this comes to the truth.
 *
 * Cost: that of the critical paths of all requests, in memory too, and a heap. Locking: none.
 */
#ifndef APROF_ASK_WHAT_IF_H
#define APROF_ASK_WHAT_IF_H

#include "slowest.h"

enum { WHAT_IFS = 8 };

struct what_if {
  struct what_if_factor {
    const char *name; /* of an await or a function, its place, or the end of its path: borrowed */
    size_t length;
    double factor;
  } of[WHAT_IFS];
  size_t count;
};

/* "NAME=0.5", "NAME=50%": one more. NULL, or what is wrong, to be freed. */
char *what_if_take(struct what_if *, const char *text);

struct what_if_numbers {
  uint64_t p50, p95, p99;
  double mean, busy, queued; /* ns of a request: of it all, on loops, in queues */
};
enum what_if_run { WHAT_IF_RECORDED, WHAT_IF_REPLAYED, WHAT_IF_CHANGED, WHAT_IF_RUNS };
struct what_if_kind {
  const struct slowest_kind *kind;
  struct what_if_numbers run[WHAT_IF_RUNS];
};

/* By kind, as they stand in `all`; of all of their requests. NULL after a message: nothing has such
   a name. free() it. */
struct what_if_kind *what_if_replay(const struct story *, const struct slowest *all,
                                    const struct what_if *);

#endif
