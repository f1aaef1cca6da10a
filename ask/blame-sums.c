/* SPDX-License-Identifier: MIT */
/* Slices, summed up by block; see blame-sums.h. */
#include "blame-sums.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 32 }; /* slices of a block */

/* -- functions ------------------------------------------------------------------------- */

static int compare_texts(const char *a, const char *b) {
  return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int by_function(const void *a, const void *b, void *of) {
  const struct story *s = of;
  uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
  const struct story_path *x = &s->paths[one], *y = &s->paths[other];
  int order = compare_texts(x->name, y->name);
  order = order ? order : compare_texts(x->file, y->file);
  order = order ? order : (x->line > y->line) - (x->line < y->line);
  return order ? order : (one > other) - (one < other);
}

static bool is_same_function(const struct story_path *x, const struct story_path *y) {
  return x->line == y->line && !compare_texts(x->name, y->name) && !compare_texts(x->file, y->file);
}

uint32_t *blame_functions(const struct story *s) {
  uint32_t *of = allocate((size_t)s->paths_count + 1, sizeof *of);
  uint32_t *order = allocate((size_t)s->paths_count + 1, sizeof *order), count = 0, first = 0;
  for (uint32_t i = 0; i < s->paths_count; i++)
    if (s->paths[i].function == i)
      order[count++] = i;
  qsort_r(order, count, sizeof *order, by_function, (void *)s);
  for (uint32_t i = 0; i < count; i++) {
    if (!i || !is_same_function(&s->paths[order[i]], &s->paths[first]))
      first = order[i];
    of[order[i]] = first;
  }
  for (uint32_t i = 0; i < s->paths_count; i++)
    if (s->paths[i].function != i)
      of[i] = s->paths[i].function < s->paths_count ? of[s->paths[i].function] : i;
  free(order);
  return of;
}

/* -- blocks ----------------------------------------------------------------------------- */

unsigned blame_among(const struct story *s, const struct story_thread *t) {
  unsigned size = 0;
  for (uint32_t i = 0; t->is_pool && i < s->threads_count; i++)
    size += s->threads[i].is_pool;
  return t->is_pool ? size : 1;
}

void blame_add_held(const struct story *s, uint32_t thread, uint64_t begin, uint64_t end,
                    uint64_t time, struct on_cpu *sum) {
  struct on_cpu had = {0};
  uint64_t whole = end - begin, among = time ? whole / time : 1;
  on_cpu_add(&had, s, thread, begin, end);
  among = among ? among : 1;
  sum->preempted += had.preempted / among;
  sum->blocked += had.blocked / among;
  sum->unknown += had.unknown / among;
  sum->on += time - had.preempted / among - had.blocked / among - had.unknown / among;
}

uint64_t blame_share(const struct blame_sums *b, const struct story_slice *slice) {
  return (slice->end - slice->begin) / b->of[slice->thread].among;
}

/* Each slice ends before the next one begins. */
static bool is_in_order(const struct story_slice *slice, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (slice[i].end < slice[i].begin || (i && slice[i].begin < slice[i - 1].end))
      return false;
  return true;
}

static uint32_t *functions_of_slices(const struct story *s, const uint32_t *function) {
  uint32_t *of = allocate((size_t)s->slices_count + 1, sizeof *of);
  for (uint32_t i = 0; i < s->slices_count; i++)
    of[i] = function[s->futures[s->slices[i].future].path];
  return of;
}

/* Numbers the thread's functions. */
static void add_columns(const struct blame_sums *b, const struct story_thread *t,
                        struct blame_blocks *of, uint32_t *column) {
  uint32_t room = 0;
  for (uint32_t i = 0; i < t->slices; i++) {
    uint32_t function = b->of_slice[t->first_slice + i];
    if (column[function] != STORY_NONE)
      continue;
    if (of->columns == room) {
      room = room ? room * 2 : 16;
      of->function = reallocate(of->function, room, sizeof *of->function);
    }
    of->function[of->columns] = function;
    column[function] = of->columns++;
  }
}

static void add_sums(const struct blame_sums *b, const struct story *s,
                     const struct story_thread *t, struct blame_blocks *of,
                     const uint32_t *column) {
  size_t columns = of->columns, rows = (size_t)t->slices / of->block + 1, row = 0;
  struct blame_sum *sum = allocate(columns, sizeof *sum);
  struct on_cpu *held = allocate(columns, sizeof *held);
  uint64_t end = 0;
  of->sum = allocate(rows * columns, sizeof *of->sum);
  of->held = b->with_held ? allocate(rows * columns, sizeof *of->held) : NULL;
  of->end = allocate(rows, sizeof *of->end);
  for (uint32_t i = 0; i <= t->slices; i++) {
    if (i % of->block == 0) {
      memcpy(&of->sum[row * columns], sum, columns * sizeof *sum);
      if (of->held)
        memcpy(&of->held[row * columns], held, columns * sizeof *held);
      of->end[row++] = end;
    }
    const struct story_slice *slice = &s->slices[t->first_slice + i];
    uint64_t time = i < t->slices ? blame_share(b, slice) : 0;
    if (!time)
      continue;
    uint32_t at = column[b->of_slice[t->first_slice + i]];
    sum[at].time += time;
    sum[at].count++;
    end = slice->end;
    if (of->held)
      blame_add_held(s, slice->thread, slice->begin, slice->end, time, &held[at]);
  }
  free(sum);
  free(held);
}

struct blame_sums *blame_sums_new(const struct story *s, bool with_held) {
  struct blame_sums *b = allocate(1, sizeof *b);
  uint32_t *column = allocate((size_t)s->paths_count + 1, sizeof *column);
  memset(column, 0xff, ((size_t)s->paths_count + 1) * sizeof *column);
  b->function = blame_functions(s);
  b->of_slice = functions_of_slices(s, b->function);
  b->with_held = with_held && s->kernel.has_switches;
  b->threads = s->threads_count;
  b->of = allocate((size_t)s->threads_count + 1, sizeof *b->of);
  for (uint32_t i = 0; i < s->threads_count; i++) {
    const struct story_thread *t = &s->threads[i];
    struct blame_blocks *of = &b->of[i];
    of->among = blame_among(s, t);
    if (t->slices <= LEAST || !is_in_order(&s->slices[t->first_slice], t->slices))
      continue;
    add_columns(b, t, of, column);
    of->block = of->columns > LEAST / 2 ? 2 * of->columns : LEAST;
    add_sums(b, s, t, of, column);
    for (uint32_t j = 0; j < of->columns; j++)
      column[of->function[j]] = STORY_NONE;
  }
  free(column);
  return b;
}

void blame_sums_free(struct blame_sums *b) {
  if (!b)
    return;
  for (uint32_t i = 0; i < b->threads; i++) {
    free(b->of[i].function);
    free(b->of[i].sum);
    free(b->of[i].held);
    free(b->of[i].end);
  }
  free(b->of);
  free(b->function);
  free(b->of_slice);
  free(b);
}

/* -- of the same request --------------------------------------------------------------- */

struct blame_own {
  const struct story *story;
  const struct blame_sums *sums;
  uint32_t *first; /* by request: its slices in */
  uint32_t *slice; /* those of a function after each other, in order; */
  uint64_t *time;  /* the sum of the shares before each */
};

/* By request, and by function in each; by two sorts that keep what is equal in order. */
struct blame_own *blame_own_new(const struct story *s, const struct blame_sums *b) {
  struct blame_own *own = allocate(1, sizeof *own);
  size_t count = s->slices_count, requests = s->requests_count, paths = s->paths_count;
  uint32_t *at = allocate(paths + 2, sizeof *at), *order = allocate(count + 1, sizeof *order);
  *own = (struct blame_own){s, b, allocate(requests + 2, sizeof *own->first),
                            allocate(count + 1, sizeof *own->slice),
                            allocate(count + 1, sizeof *own->time)};
  for (uint32_t i = 0; i < count; i++)
    at[b->of_slice[i] + 1]++;
  for (size_t i = 0; i < paths; i++)
    at[i + 1] += at[i];
  for (uint32_t i = 0; i < count; i++)
    order[at[b->of_slice[i]]++] = i;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t request = s->futures[s->slices[i].future].request;
    if (request != STORY_NONE)
      own->first[request + 2]++;
  }
  for (size_t i = 1; i <= requests; i++)
    own->first[i + 1] += own->first[i];
  for (uint32_t i = 0; i < count; i++) {
    uint32_t request = s->futures[s->slices[order[i]].future].request;
    if (request != STORY_NONE)
      own->slice[own->first[request + 1]++] = order[i];
  }
  for (uint32_t i = 0; i < own->first[requests]; i++)
    own->time[i + 1] = own->time[i] + blame_share(b, &s->slices[own->slice[i]]);
  free(at);
  free(order);
  return own;
}

void blame_own_free(struct blame_own *own) {
  if (!own)
    return;
  free(own->first);
  free(own->slice);
  free(own->time);
  free(own);
}

/* The first of the request's that is not before this slice of the function. */
static uint32_t own_at(const struct blame_own *own, uint32_t request, uint32_t function,
                       uint32_t slice) {
  uint32_t from = own->first[request], to = own->first[request + 1];
  while (from < to) {
    uint32_t middle = from + (to - from) / 2, x = own->slice[middle];
    uint32_t of = own->sums->of_slice[x];
    if (of < function || (of == function && x < slice))
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

uint64_t blame_own_time(const struct blame_own *own, uint32_t request, uint32_t function,
                        uint32_t first, uint32_t behind) {
  return own->time[own_at(own, request, function, behind)] -
         own->time[own_at(own, request, function, first)];
}
