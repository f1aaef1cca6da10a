/* SPDX-License-Identifier: MIT */
/* Requests through loops once more; see replay-loops.h. */
#include "replay-loops.h"

#include "blame.h"
#include "read/util.h"

#include <stdlib.h>

struct step {
  uint64_t time[2]; /* as it was; changed */
  uint64_t begin, before;
  uint32_t thread; /* NONE: elsewhere */
};

/* What a loop ran; comes when it came: `ready`. */
struct run {
  uint64_t ready, begin, time;
  uint32_t thread;
};

struct runs {
  struct run *run;
  size_t count, room;
};

/* A request that comes to its next step, which began so when it was recorded. */
struct pending {
  uint64_t at, begin;
  uint32_t request;
};

struct loops {
  const struct story *story;
  struct step *step;
  struct {
    uint64_t begin;
    size_t first; /* of its steps; they end where those of the next begin */
  } * request;
  size_t steps, requests, step_room, request_room;
  struct runs taken, beside; /* of the steps; what is left of the slices, and loops' own time */
  bool is_cut;               /* the slices are */

  /* A run. */
  struct pending *arrival; /* requests as they come, the earliest first */
  struct pending *heap;    /* those that are on their way, likewise */
  size_t pendings, heap_room;
  size_t *next;      /* step, by request */
  uint64_t *free_at; /* by thread */
};

struct loops *loops_new(const struct story *s) {
  struct loops *r = allocate(1, sizeof *r);
  r->story = s;
  return r;
}

void loops_free(struct loops *r) {
  if (!r)
    return;
  free(r->heap);
  free(r->step);
  free(r->request);
  free(r->taken.run);
  free(r->beside.run);
  free(r);
}

/* -- what is replayed ------------------------------------------------------------------ */

#define GROW(list, count, room)                                                                    \
  ((count) == (room) ? (void)((room) = (room) ? (room)*2 : 256,                                    \
                              (list) = reallocate((list), (room), sizeof *(list)))                 \
                     : (void)0)

static void add_to_runs(struct runs *list, struct run run) {
  GROW(list->run, list->count, list->room);
  list->run[list->count++] = run;
}

void loops_add_request(struct loops *r, uint64_t begin) {
  GROW(r->request, r->requests, r->request_room);
  r->request[r->requests].begin = begin;
  r->request[r->requests++].first = r->steps;
}

static uint64_t scaled(uint64_t time, double factor) {
  return factor == 1 ? time : rounded((double)time * factor);
}

void loops_add_wait(struct loops *r, uint64_t time, double factor) {
  GROW(r->step, r->steps, r->step_room);
  r->step[r->steps++] = (struct step){.time = {time, scaled(time, factor)}, .thread = STORY_NONE};
}

void loops_add_run(struct loops *r, const struct loops_turn *turn) {
  struct step *last = r->steps > r->request[r->requests - 1].first ? &r->step[r->steps - 1] : NULL;
  uint64_t changed = scaled(turn->time, turn->factor);
  add_to_runs(&r->taken, (struct run){0, turn->begin, turn->time, turn->thread});
  if (last && last->thread == turn->thread && last->begin + last->time[0] == turn->begin) {
    last->time[0] += turn->time;
    last->time[1] += changed;
    return;
  }
  if (turn->after)
    add_to_runs(&r->beside,
                (struct run){turn->ready, turn->begin - turn->after, turn->after, turn->thread});
  GROW(r->step, r->steps, r->step_room);
  r->step[r->steps++] = (struct step){.time = {turn->time, changed},
                                      .begin = turn->begin,
                                      .before = turn->before,
                                      .thread = turn->thread};
}

/* -- what else the loops ran ----------------------------------------------------------- */

static int by_thread(const void *a, const void *b) {
  const struct run *x = a, *y = b;
  return x->thread != y->thread ? (x->thread > y->thread) - (x->thread < y->thread)
                                : (x->begin > y->begin) - (x->begin < y->begin);
}

static bool is_before(uint64_t ready, uint64_t begin, uint64_t other_ready, uint64_t other_begin) {
  return ready != other_ready ? ready < other_ready : begin < other_begin;
}

static int by_ready(const void *a, const void *b) {
  const struct run *x = a, *y = b;
  return is_before(y->ready, y->begin, x->ready, x->begin) -
         is_before(x->ready, x->begin, y->ready, y->begin);
}

/* They come in order, mostly. */
static void sort(struct runs *list, int (*compare)(const void *, const void *)) {
  size_t rising = 1;
  while (rising < list->count && compare(&list->run[rising - 1], &list->run[rising]) <= 0)
    rising++;
  if (rising < list->count)
    qsort(list->run, list->count, sizeof *list->run, compare);
}

/* Whatever began to run on a loop and had been ready before, with when. */
static struct runs find_ready(const struct story *s) {
  struct runs list = {0};
  for (uint32_t i = 0; i < s->segments_count; i++) {
    const struct story_segment *x = &s->segments[i];
    uint64_t ready = x->what == STORY_QUEUED ? x->begin : blame_ready(s, x);
    if (x->next != STORY_NONE && s->segments[x->next].what == STORY_EXEC && ready < x->end &&
        s->segments[x->next].thread != STORY_NONE)
      add_to_runs(&list, (struct run){ready, x->end, 0, s->segments[x->next].thread});
  }
  sort(&list, by_thread);
  return list;
}

static bool lies_before(const struct runs *list, size_t at, const struct story_slice *slice,
                        uint64_t until) {
  return at < list->count &&
         (list->run[at].thread < slice->thread ||
          (list->run[at].thread == slice->thread && list->run[at].begin < until));
}

static void add_beside(struct loops *r, uint32_t thread, uint64_t ready, uint64_t begin,
                       uint64_t end) {
  if (end > begin)
    add_to_runs(&r->beside,
                (struct run){ready < begin ? ready : begin, begin, end - begin, thread});
}

/* A slice without what steps took of it. `at`: the first of those that may lie in it. */
static size_t cut_slice(struct loops *r, const struct story_slice *slice, uint64_t ready,
                        size_t at) {
  uint64_t begin = slice->begin;
  while (lies_before(&r->taken, at, slice, slice->begin))
    at++;
  for (; lies_before(&r->taken, at, slice, slice->end); at++) {
    const struct run *taken = &r->taken.run[at];
    uint64_t end = taken->begin + taken->time;
    add_beside(r, slice->thread, begin == slice->begin ? ready : begin, begin, taken->begin);
    begin = end > begin ? end : begin;
  }
  add_beside(r, slice->thread, begin == slice->begin ? ready : begin, begin, slice->end);
  return at;
}

static void find_beside(struct loops *r) {
  const struct story *s = r->story;
  struct runs ready = find_ready(s);
  size_t at = 0, ready_at = 0;
  sort(&r->taken, by_thread);
  for (uint32_t i = 0; i < s->threads_count; i++)
    for (uint32_t j = 0; !s->threads[i].is_pool && j < s->threads[i].slices; j++) {
      const struct story_slice *slice = &s->slices[s->threads[i].first_slice + j];
      while (lies_before(&ready, ready_at, slice, slice->begin))
        ready_at++;
      bool waited = lies_before(&ready, ready_at, slice, slice->begin + 1);
      at = cut_slice(r, slice, waited ? ready.run[ready_at].ready : slice->begin, at);
    }
  sort(&r->beside, by_ready);
  r->is_cut = true;
  free(ready.run);
}

/* -- a run ----------------------------------------------------------------------------- */

static bool is_earlier(const struct pending *a, const struct pending *b) {
  return a->at != b->at || a->begin != b->begin ? is_before(a->at, a->begin, b->at, b->begin)
                                                : a->request < b->request;
}

static void push(struct loops *r, struct pending p) {
  GROW(r->heap, r->pendings, r->heap_room);
  size_t at = r->pendings++;
  for (; at && is_earlier(&p, &r->heap[(at - 1) / 2]); at = (at - 1) / 2)
    r->heap[at] = r->heap[(at - 1) / 2];
  r->heap[at] = p;
}

static struct pending pop(struct loops *r) {
  struct pending first = r->heap[0], last = r->heap[--r->pendings];
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < r->pendings; at = child) {
    child += child + 1 < r->pendings && is_earlier(&r->heap[child + 1], &r->heap[child]);
    if (!is_earlier(&r->heap[child], &last))
      break;
    r->heap[at] = r->heap[child];
  }
  r->heap[at] = last;
  return first;
}

static size_t end_of(const struct loops *r, size_t request) {
  return request + 1 < r->requests ? r->request[request + 1].first : r->steps;
}

static struct pending next_of(const struct loops *r, uint32_t request, uint64_t at) {
  size_t next = r->next[request];
  uint64_t begin = next < end_of(r, request) ? r->step[next].begin : 0;
  return (struct pending){at, begin, request};
}

static int by_arrival(const void *a, const void *b) {
  return is_earlier(b, a) - is_earlier(a, b);
}

/* So that the heap has those alone that have begun. */
static void find_arrivals(struct loops *r) {
  bool in_order = true;
  r->arrival = allocate(r->requests + 1, sizeof *r->arrival);
  for (size_t i = 0; i < r->requests; i++) {
    r->next[i] = r->request[i].first;
    r->arrival[i] = next_of(r, (uint32_t)i, r->request[i].begin);
    in_order &= !i || !is_earlier(&r->arrival[i], &r->arrival[i - 1]);
  }
  if (!in_order)
    qsort(r->arrival, r->requests, sizeof *r->arrival, by_arrival);
}

/* Whichever comes next; `arrived`: of the arrivals. */
static struct pending take(struct loops *r, size_t *arrived) {
  bool comes =
      *arrived < r->requests && !(r->pendings && is_earlier(&r->heap[0], &r->arrival[*arrived]));
  return comes ? r->arrival[(*arrived)++] : pop(r);
}

/* Whatever the loops ran beside, and that comes before this. */
static size_t run_beside(struct loops *r, size_t at, const struct pending *p) {
  for (; at < r->beside.count; at++) {
    const struct run *run = &r->beside.run[at];
    uint64_t *free_at = &r->free_at[run->thread];
    if (is_before(p->at, p->begin, run->ready, run->begin))
      break;
    *free_at = (*free_at > run->ready ? *free_at : run->ready) + run->time;
  }
  return at;
}

static void run_step(struct loops *r, struct pending p, bool changed, struct loops_ran *of) {
  const struct step *step = &r->step[r->next[p.request]++];
  uint64_t time = step->time[changed], at = p.at;
  if (step->thread != STORY_NONE) {
    uint64_t *free_at = &r->free_at[step->thread], ready = at + step->before;
    uint64_t start = *free_at > ready ? *free_at : ready;
    of->queued += start - at;
    of->busy += time;
    *free_at = (*free_at > at ? *free_at : at) + time; /* nobody waits for `before` of another */
    at = start + time;
  } else
    at += time;
  push(r, next_of(r, p.request, at));
}

struct loops_ran *loops_run(struct loops *r, bool changed) {
  struct loops_ran *of = allocate(r->requests + 1, sizeof *of);
  size_t beside = 0, arrived = 0;
  if (!r->is_cut)
    find_beside(r);
  r->next = allocate(r->requests + 1, sizeof *r->next);
  r->free_at = allocate((size_t)r->story->threads_count + 1, sizeof *r->free_at);
  find_arrivals(r);
  while (r->pendings || arrived < r->requests) {
    struct pending p = take(r, &arrived);
    beside = run_beside(r, beside, &p);
    if (r->next[p.request] < end_of(r, p.request))
      run_step(r, p, changed, &of[p.request]);
    else
      of[p.request].wall = p.at - r->request[p.request].begin;
  }
  free(r->arrival);
  free(r->next);
  free(r->free_at);
  return of;
}
