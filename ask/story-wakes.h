/* SPDX-License-Identifier: MIT */
/*
 * Who woke whom, and where that ran: the arrows between the rows of a time line.
 *
 * In: a story. Out: for each run that something let go on, what that was, when, and on which thread
 * it ran then. Cost: a search in the segments of who woke, for each run; eight bytes a segment
 * while it is made. Locking: none.
 */
#ifndef APROF_ASK_STORY_WAKES_H
#define APROF_ASK_STORY_WAKES_H

#include "record/story.h"

struct story_wake {
  uint64_t at;
  uint32_t from; /* segment that woke the other, or made it: it runs then, or ends */
  uint32_t run;  /* segment that the woken one began to run with */
};

struct story_wakes {
  struct story_wake *wake; /* in order of `run` */
  uint32_t wakes;
};

/* Without those that nothing woke that ran: the clock, a poller, another process. */
struct story_wakes ask_story_wakes(const struct story *);
void ask_story_wakes_free(struct story_wakes *);

#endif
