/* SPDX-License-Identifier: MIT */
/* Who woke whom; see story-wakes.h. */
#include "story-wakes.h"

#include "read/util.h"

#include <stdlib.h>

/* The runs of each future in order of time, one future behind the other. */
struct runs {
  uint32_t *segment;
  uint32_t *first; /* by future; that behind the last is the end */
};

static struct runs runs_of(const struct story *s) {
  struct runs r = {.segment = allocate(s->segments_count + 1u, sizeof *r.segment),
                   .first = allocate(s->futures_count + 1u, sizeof *r.first)};
  uint32_t count = 0;
  for (uint32_t f = 0; f < s->futures_count; f++) {
    r.first[f] = count;
    for (uint32_t i = s->futures[f].first; i != STORY_NONE; i = s->segments[i].next)
      if (s->segments[i].what == STORY_EXEC)
        r.segment[count++] = i;
  }
  r.first[s->futures_count] = count;
  return r;
}

/* What of the future ran at that time, its end included; NONE: it did not. */
static uint32_t run_at(const struct story *s, const struct runs *r, uint32_t future, uint64_t at) {
  uint32_t low = r->first[future], high = r->first[future + 1], begin = low;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->segments[r->segment[middle]].begin <= at)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == begin)
    return STORY_NONE;
  uint32_t run = r->segment[low - 1];
  return s->segments[run].end >= at ? run : STORY_NONE;
}

/* What it did right before it ran says who let it; being put aside for a call is no wait. */
static void add(struct story_wakes *w, const struct story *s, const struct runs *r, uint32_t run,
                uint32_t before, uint32_t earlier) {
  const struct story_segment *queued = before == STORY_NONE ? NULL : &s->segments[before];
  const struct story_segment *waited = queued;
  if (!queued || queued->what == STORY_EXEC || queued->what == STORY_ASIDE)
    return;
  if (queued->what == STORY_QUEUED)
    waited = earlier == STORY_NONE ? NULL : &s->segments[earlier];
  uint32_t by = queued->waker;
  if (by == STORY_NONE && waited && waited->what == STORY_WAITING)
    by = waited->waker;
  uint64_t at = queued->what == STORY_QUEUED ? queued->begin : s->segments[run].begin;
  uint32_t from = by < s->futures_count ? run_at(s, r, by, at) : STORY_NONE;
  if (from != STORY_NONE)
    w->wake[w->wakes++] = (struct story_wake){at, from, run};
}

static int by_run(const void *a, const void *b) {
  uint32_t x = ((const struct story_wake *)a)->run, y = ((const struct story_wake *)b)->run;
  return x < y ? -1 : x > y;
}

struct story_wakes ask_story_wakes(const struct story *s) {
  struct runs r = runs_of(s);
  struct story_wakes w = {allocate(r.first[s->futures_count] + 1u, sizeof *w.wake), 0};
  for (uint32_t f = 0; f < s->futures_count; f++) {
    uint32_t before = STORY_NONE, earlier = STORY_NONE;
    for (uint32_t i = s->futures[f].first; i != STORY_NONE; i = s->segments[i].next) {
      if (s->segments[i].what == STORY_EXEC)
        add(&w, s, &r, i, before, earlier);
      earlier = before;
      before = i;
    }
  }
  qsort(w.wake, w.wakes, sizeof *w.wake, by_run);
  free(r.segment);
  free(r.first);
  return w;
}

void ask_story_wakes_free(struct story_wakes *w) {
  free(w->wake);
  *w = (struct story_wakes){0};
}
