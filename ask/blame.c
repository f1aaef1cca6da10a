/* SPDX-License-Identifier: MIT */
/* Who made it late; see blame.h. */
#include "blame.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* -- a stretch ------------------------------------------------------------------------- */

struct stretch {
  const struct story *story;
  const struct blame_sums *sums;
  uint64_t begin, end, left; /* of it nobody is to blame for `left`, yet */
  unsigned among;            /* so many threads are to blame for an equal share */
  blame_visit *visit;
  void *context;
};

/* The first slice of the thread that ends behind `at`. */
static const struct story_slice *slice_after(const struct story *s, const struct story_thread *t,
                                             uint64_t at) {
  const struct story_slice *list = &s->slices[t->first_slice];
  size_t from = 0, to = t->slices;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    if (list[middle].end > at)
      to = middle;
    else
      from = middle + 1;
  }
  return &list[from];
}

/* What runs behind this segment, at once, on a loop; NULL: nothing. */
static const struct story_segment *runs_behind(const struct story *s,
                                               const struct story_segment *x) {
  const struct story_segment *next = x->next != STORY_NONE ? &s->segments[x->next] : NULL;
  return x->what == STORY_WAITING && x->waker == STORY_NONE && next && next->what == STORY_EXEC &&
                 next->thread != STORY_NONE && !s->threads[next->thread].is_pool
             ? next
             : NULL;
}

/* When the poller had returned last before this ran; 0: nobody saw it. */
static uint64_t turn_before(const struct story *s, const struct story_segment *runs) {
  const struct story_thread *t = &s->threads[runs->thread];
  const struct story_slice *slice = slice_after(s, t, runs->begin);
  bool there = slice < &s->slices[t->first_slice] + t->slices && slice->begin <= runs->begin;
  return there && slice->turn != UINT64_MAX ? slice->turn : 0;
}

uint64_t blame_ready(const struct story *s, const struct story_segment *x) {
  const struct story_segment *runs = runs_behind(s, x);
  uint64_t turn = runs ? turn_before(s, runs) : 0;
  return turn > x->begin && turn < x->end ? turn : x->end;
}

static void visit_slices(struct stretch *x, const struct story_slice *slice,
                         const struct story_slice *behind) {
  for (uint64_t at = x->begin; slice < behind && slice->begin < x->end; slice++) {
    uint64_t begin = slice->begin > at ? slice->begin : at;
    uint64_t end = slice->end < x->end ? slice->end : x->end;
    uint64_t time = end > begin ? (end - begin) / x->among : 0;
    if (!time)
      continue;
    x->visit(
        &(struct blame_part){
            .slice = slice, .slices = 1, .count = 1, .time = time, .begin = begin, .end = end},
        x->context);
    x->left -= time;
    at = end;
  }
}

static void visit_blocks(struct stretch *x, const struct story_slice *list,
                         const struct blame_blocks *of, size_t from, size_t to) {
  const struct blame_sum *had = &of->sum[from * of->columns], *has = &of->sum[to * of->columns];
  for (uint32_t i = 0; i < of->columns; i++) {
    struct blame_part part = {.slice = &list[from * of->block],
                              .slices = (uint32_t)((to - from) * of->block),
                              .function = of->function[i],
                              .count = has[i].count - had[i].count,
                              .time = has[i].time - had[i].time,
                              .begin = list[from * of->block].begin,
                              .end = of->end[to]};
    if (!part.count)
      continue;
    if (of->held) {
      const struct on_cpu *was = &of->held[from * of->columns + i];
      const struct on_cpu *is = &of->held[to * of->columns + i];
      part.held = (struct on_cpu){is->on - was->on, is->preempted - was->preempted,
                                  is->blocked - was->blocked, is->unknown - was->unknown};
    }
    x->visit(&part, x->context);
    x->left -= part.time;
  }
}

/* Slice by slice only to the first whole block, and from behind the last one. */
static void visit_thread(struct stretch *x, const struct story_thread *t) {
  const struct story_slice *list = &x->story->slices[t->first_slice], *behind = list + t->slices;
  const struct story_slice *slice = slice_after(x->story, t, x->begin);
  const struct blame_blocks *of = x->sums ? &x->sums->of[t - x->story->threads] : NULL;
  uint32_t block = of ? of->block : 0;
  if (block && behind - slice > (ptrdiff_t)block && slice[block].begin < x->end) {
    size_t from = ((size_t)(slice - list) + block) / block;
    size_t to = (size_t)(slice_after(x->story, t, x->end) - list) / block;
    if (from < to) {
      visit_slices(x, slice, list + from * block);
      visit_blocks(x, list, of, from, to);
      slice = list + to * block;
    }
  }
  visit_slices(x, slice, behind);
}

uint32_t blame_function(const struct story *s, const struct blame_sums *b,
                        const struct blame_part *part) {
  return part->slices > 1 ? part->function : b->of_slice[part->slice - s->slices];
}

void blame_stretch(const struct story *s, const struct blame_sums *sums, uint32_t thread,
                   uint64_t begin, uint64_t end, blame_visit *visit, void *context) {
  struct stretch x = {s, sums, begin, end, end - begin, 1, visit, context};
  enum blame_none none = thread == STORY_NONE ? BLAME_NEVER : BLAME_LOOP;
  if (end <= begin)
    return;
  if (thread != STORY_NONE && s->threads[thread].is_pool) {
    x.among = blame_among(s, &s->threads[thread]);
    for (uint32_t i = 0; i < s->threads_count; i++)
      if (s->threads[i].is_pool)
        visit_thread(&x, &s->threads[i]);
  } else if (thread != STORY_NONE)
    visit_thread(&x, &s->threads[thread]);
  if (x.left)
    visit(&(struct blame_part){.none = none, .time = x.left}, context);
}

/* -- all of it ------------------------------------------------------------------------- */

/* A culprit and a victim; in a table by both. */
struct pair {
  uint32_t culprit, victim; /* row; path of the victim's function */
  uint64_t time, count, last;
};

struct sums {
  const struct story *story;
  struct blamed *blamed;
  struct blame_sums *sums;
  const uint32_t *function; /* by path */
  uint32_t *row_of;         /* by path */
  int64_t *covers;          /* by slice: how many more stretches its block lies in than before */
  struct blame_own *own;    /* NULL: not asked for yet */
  uint64_t *last;           /* by row: the stretch that counted last */
  size_t rows_room;
  uint32_t none_row[2];
  struct pair *pair; /* count 0: free */
  size_t pairs, slots;
  const struct story_segment *segment; /* that is looked at, */
  uint64_t number;                     /* the so-manieth, */
  bool polled;                         /* behind the poller */
};

static uint32_t add_row(struct sums *s, uint32_t function, enum blame_none none) {
  struct blamed *b = s->blamed;
  if (b->rows == s->rows_room) {
    s->rows_room = s->rows_room ? s->rows_room * 2 : 16;
    b->row = reallocate(b->row, s->rows_room, sizeof *b->row);
    s->last = reallocate(s->last, s->rows_room, sizeof *s->last);
  }
  b->row[b->rows] = (struct blame_row){.function = function, .none = none};
  s->last[b->rows] = 0;
  return (uint32_t)b->rows++;
}

static uint32_t row_of(struct sums *s, const struct blame_part *part) {
  uint32_t *row = &s->none_row[part->none == BLAME_NEVER], function = STORY_NONE;
  if (part->slice) {
    function = blame_function(s->story, s->sums, part);
    row = &s->row_of[function];
  }
  if (*row == STORY_NONE)
    *row = add_row(s, function, part->none);
  return *row;
}

static struct pair *slot_of(struct pair *table, size_t slots, uint32_t culprit, uint32_t victim) {
  uint64_t hash = ((uint64_t)culprit << 32 | victim) * 0x9e3779b97f4a7c15u;
  size_t at = (size_t)(hash >> 32) & (slots - 1);
  while (table[at].count && (table[at].culprit != culprit || table[at].victim != victim))
    at = (at + 1) & (slots - 1);
  return &table[at];
}

static struct pair *pair_of(struct sums *s, uint32_t culprit, uint32_t victim) {
  if (2 * (s->pairs + 1) > s->slots) {
    size_t slots = s->slots ? s->slots * 2 : 64;
    struct pair *wider = allocate(slots, sizeof *wider);
    for (size_t i = 0; i < s->slots; i++)
      if (s->pair[i].count)
        *slot_of(wider, slots, s->pair[i].culprit, s->pair[i].victim) = s->pair[i];
    free(s->pair);
    s->pair = wider;
    s->slots = slots;
  }
  struct pair *pair = slot_of(s->pair, s->slots, culprit, victim);
  s->pairs += !pair->count;
  pair->culprit = culprit;
  pair->victim = victim;
  return pair;
}

/* -- of blocks -- */

static void add_blocks(struct sums *s, const struct blame_part *part, struct blame_row *r,
                       uint32_t request) {
  uint32_t first = (uint32_t)(part->slice - s->story->slices), behind = first + part->slices;
  if (!s->own)
    s->own = blame_own_new(s->story, s->sums);
  if (!s->covers)
    s->covers = allocate((size_t)s->story->slices_count + 1, sizeof *s->covers);
  s->covers[first]++;
  s->covers[behind]--;
  if (request != STORY_NONE)
    r->own += blame_own_time(s->own, request, part->function, first, behind);
  r->held.on += part->held.on;
  r->held.preempted += part->held.preempted;
  r->held.blocked += part->held.blocked;
  r->held.unknown += part->held.unknown;
}

/* The longest slices of all blocks that stretches lie over. */
static void find_longest(struct sums *s) {
  const struct story *story = s->story;
  int64_t over = 0;
  for (uint32_t i = 0; s->covers && i < story->slices_count; i++) {
    const struct story_slice *slice = &story->slices[i];
    over += s->covers[i];
    uint64_t length = slice->end - slice->begin;
    if (!over || !blame_share(s->sums, slice))
      continue;
    struct blame_row *r = &s->blamed->row[s->row_of[s->sums->of_slice[i]]];
    r->longest = length > r->longest ? length : r->longest;
  }
}

static void add_part(const struct blame_part *part, void *context) {
  struct sums *s = context;
  const struct story_future *queued = &s->story->futures[s->segment->future];
  uint32_t row = row_of(s, part);
  struct blame_row *r = &s->blamed->row[row];
  struct pair *pair = pair_of(s, row, s->function[queued->path]);
  *(s->polled ? &r->polled : &r->time) += part->time;
  pair->time += part->time;
  if (part->slices > 1) {
    add_blocks(s, part, r, queued->request);
  } else if (part->slice) {
    const struct story_future *by = &s->story->futures[part->slice->future];
    uint64_t length = part->slice->end - part->slice->begin;
    r->own += by->request != STORY_NONE && by->request == queued->request ? part->time : 0;
    r->longest = length > r->longest ? length : r->longest;
    if (s->story->kernel.has_switches)
      blame_add_held(s->story, part->slice->thread, part->begin, part->end, part->time, &r->held);
  }
  r->count += s->last[row] != s->number;
  pair->count += pair->last != s->number;
  s->last[row] = pair->last = s->number;
}

static void add_stretch(struct sums *s, uint32_t thread, uint64_t begin, uint64_t end) {
  struct blamed *b = s->blamed;
  *(s->polled ? &b->polled : &b->time) += end - begin;
  *(s->polled ? &b->polled_count : &b->count) += 1;
  s->number++;
  blame_stretch(s->story, s->sums, thread, begin, end, add_part, s);
}

/* As far as it lies before `until`. */
static void add_segment(struct sums *s, const struct story_segment *segment, uint64_t until) {
  const struct story_segment *runs = segment->end <= until ? runs_behind(s->story, segment) : NULL;
  uint64_t end = segment->end < until ? segment->end : until;
  s->segment = segment;
  s->polled = runs != NULL;
  if (segment->what == STORY_QUEUED && end > segment->begin)
    add_stretch(s, segment->thread, segment->begin, end);
  if (!runs)
    return;
  uint64_t ready = blame_ready(s->story, segment);
  if (ready < segment->end)
    add_stretch(s, runs->thread, ready, segment->end);
  s->blamed->unknown += !turn_before(s->story, runs);
}

static void add_request(struct sums *sums, const struct story_request *r) {
  const struct story *s = sums->story;
  for (uint32_t i = 0; i < r->futures_count; i++)
    for (uint32_t at = s->futures[r->futures[i]].first; at != STORY_NONE; at = s->segments[at].next)
      add_segment(sums, &s->segments[at], r->end);
}

static int by_time(const void *a, const void *b) {
  const struct blame_row *x = a, *y = b;
  uint64_t one = x->time + x->polled, other = y->time + y->polled;
  return one != other ? (one < other) - (one > other)
                      : (x->function > y->function) - (x->function < y->function);
}

static int by_victim_time(const void *a, const void *b) {
  const struct blame_victim *x = a, *y = b;
  return x->time != y->time ? (x->time < y->time) - (x->time > y->time)
                            : (x->function > y->function) - (x->function < y->function);
}

static void add_victims(struct sums *s) {
  struct blamed *b = s->blamed;
  for (size_t i = 0; i < s->slots; i++)
    b->row[s->pair[i].culprit].victims += s->pair[i].count != 0;
  for (size_t i = 0; i < b->rows; i++) {
    b->row[i].victim = arena_get(&b->arena, b->row[i].victims, sizeof *b->row[i].victim);
    b->row[i].victims = 0;
  }
  for (size_t i = 0; i < s->slots; i++) {
    const struct pair *p = &s->pair[i];
    struct blame_row *r = &b->row[p->culprit];
    if (p->count)
      r->victim[r->victims++] = (struct blame_victim){p->victim, p->time, p->count};
  }
  for (size_t i = 0; i < b->rows; i++)
    qsort(b->row[i].victim, b->row[i].victims, sizeof *b->row[i].victim, by_victim_time);
}

struct blamed *blame_all(const struct story *story, const struct slowest *of, bool only_slow) {
  struct sums s = {.story = story, .blamed = allocate(1, sizeof(struct blamed))};
  size_t paths = (size_t)story->paths_count + 1;
  s.sums = blame_sums_new(story, true);
  s.function = s.sums->function;
  s.row_of = allocate(paths, sizeof *s.row_of);
  memset(s.row_of, 0xff, paths * sizeof *s.row_of);
  memset(s.none_row, 0xff, sizeof s.none_row);
  for (size_t k = 0; of && k < of->kinds; k++)
    for (uint32_t i = 0; i < (only_slow ? of->kind[k].slow : of->kind[k].count); i++)
      add_request(&s, of->kind[k].request[i]);
  for (uint32_t i = 0; !of && i < story->segments_count; i++)
    add_segment(&s, &story->segments[i], UINT64_MAX);
  find_longest(&s);
  add_victims(&s);
  if (s.blamed->rows)
    qsort(s.blamed->row, s.blamed->rows, sizeof *s.blamed->row, by_time);
  blame_sums_free(s.sums);
  free(s.row_of);
  free(s.covers);
  blame_own_free(s.own);
  free(s.last);
  free(s.pair);
  return s.blamed;
}

void blame_free(struct blamed *b) {
  if (!b)
    return;
  free(b->row);
  arena_free(&b->arena);
  free(b);
}
