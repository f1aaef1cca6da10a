/* SPDX-License-Identifier: MIT */
/*
 * Loops with one queue each, first in first out, and requests that go through them.
 *
 * In: requests as steps: so long on this loop, so long elsewhere; what else the loops ran is what
 * their slices have beside these steps, and what they did themselves while somebody was queued.
 * Out: when each request is done. Of what is ready at once that goes first which went first. Cost:
 * logarithmic in the requests under way, for each step; 48 bytes a step. Locking: none.
 */
#ifndef APROF_ASK_REPLAY_LOOPS_H
#define APROF_ASK_REPLAY_LOOPS_H

#include "record/story.h"

struct loops;
struct loops *loops_new(const struct story *);
void loops_free(struct loops *);

/* The next request; then its steps, in order. */
void loops_add_request(struct loops *, uint64_t begin);
/* `factor`: of its time, in a changed run. */
void loops_add_wait(struct loops *, uint64_t time, double factor);
struct loops_turn {
  uint32_t thread;
  uint64_t ready, begin, time; /* as it ran; ready: of one that was queued */
  double factor;
  /* Of its queue, what no future is to blame for: `after` is what the loop did just before it,
     which it does then in each run, whoever waits; `before` all else, which stays its own. */
  uint64_t before, after;
};
/* One that begins when the one before it ends is a part of that. */
void loops_add_run(struct loops *, const struct loops_turn *);

struct loops_ran {
  uint64_t wall, busy, queued; /* the other two are on loops */
};
/* By request; free() it. */
struct loops_ran *loops_run(struct loops *, bool changed);

#endif
