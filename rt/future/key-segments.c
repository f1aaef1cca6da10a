/* SPDX-License-Identifier: MIT */
/* Segments of the table of keys; see key-segments.h. */
#include "key-segments.h"

#include "grace.h"
#include "rt/file/arena.h"

/* Segments that were replaced, oldest first; rt.lock. One is used again once each thread has left
   the event that it may have been found in. Where a thread stands still in one (without a
   processor, stopped, or it ended there) until they take up their share of the memory, the oldest
   is used again all the same: rather may one key be lost, if that thread goes on, than the memory
   for all. */
static struct key_segment *retired, *retired_last;
static uint32_t retired_count;
static uint32_t outside; /* a mark: since then, each thread has been in no event for a moment */
#define RETIRED_SHARE 4u /* of the profile's memory */

static struct key_segment *fresh; /* never used yet, so many; rt.lock */
static uint32_t fresh_left, chunk_segments;

void key_segments_reset(void) {
  retired = fresh = NULL;
  retired_count = outside = fresh_left = chunk_segments = 0;
}

/* The oldest, if it may be used again; `needed`: or not. */
static struct key_segment *segment_again(bool needed) {
  struct key_segment *segment = retired;
  if (segment == NULL || (!needed && mark_before(outside, segment->retired) &&
                          retired_count < rt.capacity / RETIRED_SHARE / sizeof *segment))
    return NULL;
  retired = segment->next;
  retired_count--;
  return segment;
}

static struct key_segment *segment_fresh(void) {
  if (fresh_left == 0) {
    chunk_segments = chunk_segments == 0 ? 1 : 3; /* a small program has one */
    fresh = arena_chunk(APROF_CHUNK_KEYS, 0, 0, chunk_segments, sizeof *fresh);
    fresh_left = fresh != NULL ? chunk_segments : 0;
  }
  if (fresh_left == 0)
    return NULL;
  fresh_left--;
  return fresh++;
}

struct key_segment *key_segment_new(uint32_t depth) {
  struct key_segment *segment = segment_again(false);
  if (segment == NULL && (segment = segment_fresh()) == NULL &&
      (segment = segment_again(true)) == NULL)
    return NULL;
  memset(segment, 0, sizeof *segment);
  segment->depth = depth;
  segment->used = segment->spared = key_spared(depth);
  return segment;
}

void key_segment_retire(struct key_segment *segment) {
  segment->retired = threads_mark(&outside);
  segment->next = NULL;
  if (retired == NULL)
    retired = segment;
  else
    retired_last->next = segment;
  retired_last = segment;
  retired_count++;
}
