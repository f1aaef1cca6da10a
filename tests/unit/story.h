/* SPDX-License-Identifier: MIT */
/*
 * Stories made by hand, for tests of what is asked of them.
 * Purpose: one line a segment, its thread and its waker with it. Errors: none; data.
 */
#ifndef APROF_TESTS_STORY_H
#define APROF_TESTS_STORY_H

#include "record/story-build.h"

#define NONE STORY_NONE

static inline uint32_t add_ran(struct story *s, uint32_t future, uint32_t path, uint64_t begin,
                               uint64_t end, uint32_t thread) {
  uint32_t n = story_add_segment(s, future, STORY_EXEC, path, begin, end);
  s->segments[n].thread = thread;
  return n;
}

/* ... and held the loop for it. */
static inline void add_held(struct story *s, uint32_t future, uint32_t path, uint64_t begin,
                            uint64_t end, uint32_t thread) {
  add_ran(s, future, path, begin, end, thread);
  story_add_slice(s, thread, future, begin, end);
}

static inline uint32_t add_queued(struct story *s, uint32_t future, uint32_t path, uint64_t begin,
                                  uint64_t end, uint32_t thread) {
  uint32_t n = story_add_segment(s, future, STORY_QUEUED, path, begin, end);
  s->segments[n].thread = thread;
  return n;
}

static inline uint32_t add_waited(struct story *s, uint32_t future, uint32_t path, uint64_t begin,
                                  uint64_t end, uint32_t waker) {
  uint32_t n = story_add_segment(s, future, STORY_WAITING, path, begin, end);
  s->segments[n].waker = waker;
  return n;
}

#endif
