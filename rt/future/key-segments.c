/* SPDX-License-Identifier: MIT */
/* Segments of the table of keys; see key-segments.h. */
#include "key-segments.h"

#include "grace.h"
#include "rt/file/arena.h"

struct segments {
  struct key_segment *first, *last;
};

/* Segments that were replaced, oldest first; rt.lock. They are used again once all threads have
   left the event that they may have been found in. A thread that stands still in an event (without
   a processor, stopped, or it ended there) can only be in one that was there before: these are kept
   for it, others go round meanwhile (as in interval-based reclamation: Wen and others, 2018). */
static struct segments retired, kept, again;
static struct marks marks; /* the last ones */
#define RETIRED_SHARE 16u  /* of the profile's memory */
#define AT_ONCE 8u

static struct key_segment *fresh; /* never used yet, so many; rt.lock */
static uint32_t fresh_left, chunk_segments;

void key_segments_reset(void) {
  retired = kept = again = (struct segments){0};
  marks = (struct marks){0};
  fresh = NULL;
  fresh_left = chunk_segments = 0;
}

/* Marks, one for each that is retired: after so many, a thread is taken to stand still. */
static uint32_t patience(void) {
  return (uint32_t)(rt.capacity / RETIRED_SHARE / sizeof(struct key_segment));
}

static void segments_add(struct segments *list, struct key_segment *segment) {
  segment->next = NULL;
  if (list->first == NULL)
    list->first = segment;
  else
    list->last->next = segment;
  list->last = segment;
}

static struct key_segment *segments_take(struct segments *list) {
  struct key_segment *segment = list->first;
  list->first = segment->next;
  return segment;
}

/* Only late threads can be in it. It has waited for as long as makes a thread late, since a late
   one may have gone on, found it, and stopped again. */
static bool only_late_ones(const struct key_segment *segment) {
  return !mark_before(marks.others, segment->retired) && marks.now - segment->retired >= patience();
}

static bool nobody_in(const struct key_segment *segment) {
  if (!mark_before(marks.all, segment->retired))
    return true;
  if (!only_late_ones(segment))
    return false;
  for (uint32_t i = 0; i < marks.late_count; i++)
    if (mark_before(marks.late[i].first, segment->retired) &&
        !mark_before(marks.late[i].last, segment->born))
      return false;
  return true;
}

/* Of those that wait, what need not any more. A few at a time: no event pays for many. */
static void sort_retired(void) {
  for (unsigned i = 0; i < AT_ONCE && kept.first != NULL; i++) {
    struct key_segment *segment = segments_take(&kept);
    segments_add(nobody_in(segment) ? &again : &kept, segment);
  }
  for (unsigned i = 0; i < AT_ONCE && retired.first != NULL; i++) {
    bool left = nobody_in(retired.first);
    if (!left && !only_late_ones(retired.first))
      break;
    segments_add(left ? &again : &kept, segments_take(&retired));
  }
}

/* Without memory: rather may a thread that stands still lose its key than all others theirs. */
static struct key_segment *segment_at_all(void) {
  struct segments *from = kept.first != NULL ? &kept : &retired;
  return from->first != NULL ? segments_take(from) : NULL;
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
  struct key_segment *segment = again.first != NULL ? segments_take(&again) : segment_fresh();
  if (segment == NULL)
    segment = segment_at_all();
  if (segment == NULL)
    return NULL;
  memset(segment, 0, sizeof *segment);
  segment->depth = depth;
  segment->born = marks.now;
  return segment;
}

void key_segment_retire(struct key_segment *segment) {
  marks = threads_mark(patience());
  segment->retired = marks.now;
  segments_add(&retired, segment);
  sort_retired();
}
