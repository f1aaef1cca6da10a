/* SPDX-License-Identifier: MIT */
/*
 * The critical path of a request: what its wall was spent on, each moment once.
 *
 * In: a story, a request. Out: pieces that follow each other without a gap from the request's
 * beginning to its end. The walk goes back from the end: time running and time queued belong to
 * their path. A wait that a member of the same request ended is replaced by what that member did
 * meanwhile (before it was born: by what its creator did); any other wait is its own.
 *
 * Cost: linear in the pieces and the members. Locking: none; one walk at a time.
 */
#ifndef APROF_ASK_CRITICAL_H
#define APROF_ASK_CRITICAL_H

#include "record/story.h"

struct blame_sums;

enum critical_what {
  CRITICAL_EXEC = STORY_EXEC,
  CRITICAL_QUEUED = STORY_QUEUED,
  CRITICAL_WAITING = STORY_WAITING,
  CRITICAL_UNSEEN = STORY_ASIDE, /* no member was seen to do anything */
  CRITICAL_WHATS
};

struct critical_piece {
  uint64_t begin, end;
  uint32_t path, future, thread; /* as the segment's; NONE where it was not seen */
  uint32_t segment;              /* that it is cut of; NONE */
  uint8_t what;                  /* enum critical_what */
  uint8_t tier;
};

struct critical;
struct critical *critical_new(const struct story *);
void critical_free(struct critical *);
/* For blame_stretch, of the pieces that are queued. */
const struct blame_sums *critical_blamed(struct critical *);

/* The pieces, which last until the next call. The request is `whole`. */
const struct critical_piece *critical_path(struct critical *, const struct story_request *,
                                           size_t *count);

#endif
