/* SPDX-License-Identifier: MIT */
/* What follows from a story's arrays: order, texts, sums; see story-build.h. */
#include "story-build.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* A path's parent comes before it, so its text is there. */
static void make_texts(struct story *s) {
  for (uint32_t i = 0; i < s->paths_count; i++) {
    struct story_path *p = &s->paths[i];
    if (p->parent == STORY_NONE) {
      p->text = p->name;
      continue;
    }
    const char *above = s->paths[p->parent].text;
    size_t length = strlen(above), size = strlen(p->name) + 1;
    char *text = arena_get(&s->arena, length + 3 + size, 1);
    memcpy(text, above, length);
    memcpy(text + length, " > ", 3);
    memcpy(text + length + 3, p->name, size);
    p->text = text;
  }
}

static void find_end(struct story *s) {
  for (uint32_t i = 0; i < s->segments_count; i++)
    if (s->end_ns < s->segments[i].end)
      s->end_ns = s->segments[i].end;
  for (uint32_t i = 0; i < s->slices_count; i++)
    if (s->end_ns < s->slices[i].end)
      s->end_ns = s->slices[i].end;
  for (uint32_t i = 0; i < s->requests_count; i++)
    if (s->end_ns < s->requests[i].end)
      s->end_ns = s->requests[i].end;
  for (uint32_t i = 0; i < s->futures_count; i++)
    if (s->futures[i].over == UINT64_MAX)
      s->futures[i].over = s->end_ns;
}

static int by_time(const void *a, const void *b) {
  const struct story_slice *x = a, *y = b;
  return x->begin != y->begin    ? (x->begin < y->begin ? -1 : 1)
         : x->end != y->end      ? (x->end < y->end ? -1 : 1)
         : x->future < y->future ? -1
                                 : x->future > y->future;
}

/* Each thread's were added in order, but where events contradict themselves. */
static void order_thread(struct story_slice *slice, uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    if (slice[i - 1].begin > slice[i].begin) {
      qsort(slice, count, sizeof *slice, by_time);
      return;
    }
}

static void order_slices(struct story *s) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < s->threads_count; i++)
    s->threads[i].slices = 0;
  for (uint32_t i = 0; i < s->slices_count; i++)
    s->threads[s->slices[i].thread].slices++;
  for (uint32_t i = 0; i < s->threads_count; i++) {
    s->threads[i].first_slice = at;
    at += s->threads[i].slices;
    s->threads[i].slices = 0;
  }
  struct story_slice *ordered = allocate(s->slices_count + 1u, sizeof *ordered);
  for (uint32_t i = 0; i < s->slices_count; i++) {
    struct story_thread *t = &s->threads[s->slices[i].thread];
    ordered[t->first_slice + t->slices++] = s->slices[i];
  }
  for (uint32_t i = 0; i < s->threads_count; i++)
    order_thread(ordered + s->threads[i].first_slice, s->threads[i].slices);
  free(s->slices);
  s->slices = ordered;
  s->room.slices = s->slices_count + 1;
}

static const struct story_request *compared;

static int by_begin(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  uint64_t of_x = compared[x].begin, of_y = compared[y].begin;
  return of_x != of_y ? (of_x < of_y ? -1 : 1) : x < y ? -1 : x > y;
}

static bool is_ordered(const struct story *s) {
  for (uint32_t i = 1; i < s->requests_count; i++)
    if (s->requests[i - 1].begin > s->requests[i].begin)
      return false;
  return true;
}

static void order_requests(struct story *s) {
  if (is_ordered(s))
    return;
  uint32_t *from = allocate(s->requests_count, sizeof *from),
           *to = allocate(s->requests_count, sizeof *to);
  struct story_request *ordered = allocate(s->requests_count, sizeof *ordered);
  for (uint32_t i = 0; i < s->requests_count; i++)
    from[i] = i;
  compared = s->requests;
  qsort(from, s->requests_count, sizeof *from, by_begin);
  for (uint32_t i = 0; i < s->requests_count; i++) {
    ordered[i] = s->requests[from[i]];
    to[from[i]] = i;
  }
  for (uint32_t i = 0; i < s->futures_count; i++)
    if (s->futures[i].request != STORY_NONE)
      s->futures[i].request = to[s->futures[i].request];
  free(s->requests);
  s->requests = ordered;
  s->room.requests = s->requests_count;
  free(from);
  free(to);
}

/* Adds what the future had of its request until that was over. */
static void sum_future(const struct story *s, const struct story_future *f,
                       struct story_request *r) {
  for (uint32_t i = f->first; i != STORY_NONE; i = s->segments[i].next) {
    const struct story_segment *g = &s->segments[i];
    uint64_t end = g->end < r->end ? g->end : r->end;
    uint64_t time = end > g->begin ? end - g->begin : 0;
    if (g->what == STORY_EXEC)
      r->exec += time;
    else if (g->what == STORY_QUEUED)
      r->queued += time;
    else if (g->what == STORY_WAITING)
      r->waiting += time;
  }
}

static void gather_requests(struct story *s) {
  uint32_t members = 0;
  s->partial = 0;
  for (uint32_t i = 0; i < s->requests_count; i++) {
    struct story_request *r = &s->requests[i];
    r->futures_count = 0;
    r->exec = r->queued = r->waiting = 0;
    s->partial += !r->whole;
  }
  for (uint32_t i = 0; i < s->futures_count; i++)
    if (s->futures[i].request != STORY_NONE) {
      s->requests[s->futures[i].request].futures_count++;
      members++;
    }
  uint32_t *list = arena_get(&s->arena, members, sizeof *list);
  for (uint32_t i = 0; i < s->requests_count; i++) {
    s->requests[i].futures = list;
    list += s->requests[i].futures_count;
    s->requests[i].futures_count = 0;
  }
  for (uint32_t i = 0; i < s->futures_count; i++)
    if (s->futures[i].request != STORY_NONE) {
      struct story_request *r = &s->requests[s->futures[i].request];
      r->futures[r->futures_count++] = i;
      sum_future(s, &s->futures[i], r);
    }
}

void story_finish(struct story *s) {
  find_end(s);
  make_texts(s);
  order_slices(s);
  order_requests(s);
  gather_requests(s);
  story_join_hits(s);
}
