/* SPDX-License-Identifier: MIT */
/* Windows over readings of a process; see history.h. */
#include "history.h"

#include "util.h"

#include <stdlib.h>
#include <string.h>

#define SECOND ((uint64_t)1000000000)

/* Of that age at most readings are so far apart. */
static const struct {
  uint64_t age, step;
} steps[] = {{12 * SECOND, SECOND},
             {65 * SECOND, 5 * SECOND},
             {660 * SECOND, 30 * SECOND},
             {1900 * SECOND, 120 * SECOND},
             {UINT64_MAX, 600 * SECOND}};

struct history {
  uint64_t longest;
  size_t memory;
  struct view **view;       /* oldest first */
  struct moment_most *most; /* of each, since the one before it */
  size_t views, room;
  struct moment_sums last; /* of the last one */
};

struct history *history_new(uint64_t longest, size_t memory) {
  struct history *h = allocate(1, sizeof *h);
  h->longest = longest;
  h->memory = memory;
  return h;
}

/* Whoever stands behind it takes what it has. */
static void drop(struct history *h, size_t at) {
  struct moment_most *mine = &h->most[at], *next = mine + 1;
  view_free(h->view[at]);
  h->views--;
  if (at && at < h->views) {
    next->hold = mine->hold > next->hold ? mine->hold : next->hold;
    next->late = mine->late > next->late ? mine->late : next->late;
  }
  memmove(&h->view[at], &h->view[at + 1], (h->views - at) * sizeof *h->view);
  memmove(mine, next, (h->views - at) * sizeof *mine);
}

void history_free(struct history *h) {
  while (h && h->views)
    drop(h, h->views - 1);
  if (h) {
    free(h->view);
    free(h->most);
  }
  free(h);
}

static bool same_text(const char *a, const char *b) {
  return !strcmp(a ? a : "", b ? b : "");
}

/* Once detail was shed so far that times come in the kernel's ticks, they are not compared with
   those of before. */
static bool is_coarse(const struct view *v) {
  return v->shed >> APROF_STEP_COARSE;
}

static bool goes_on(const struct view *before, const struct view *after) {
  const struct view_process *a = &before->process, *b = &after->process;
  return a->pid == b->pid && same_text(a->started_at, b->started_at) &&
         same_text(a->host, b->host) && a->reset_epoch == b->reset_epoch &&
         a->elapsed <= b->elapsed && is_coarse(before) == is_coarse(after);
}

static uint64_t step_of(uint64_t age) {
  size_t i = 0;
  while (age > steps[i].age)
    i++;
  return steps[i].step;
}

static uint64_t time_of(const struct history *h, size_t at) {
  return h->view[at]->process.elapsed;
}

/* Whoever stands between two that are near enough, with steps so many times as wide; the first
   and the last stay. */
static void thin(struct history *h, uint64_t wider) {
  uint64_t now = time_of(h, h->views - 1);
  for (size_t i = 1; i + 1 < h->views;)
    if (time_of(h, i + 1) - time_of(h, i - 1) <= wider * step_of(now - time_of(h, i + 1)))
      drop(h, i);
    else
      i++;
}

size_t history_memory(const struct history *h) {
  size_t sum = 0;
  for (size_t i = 0; i < h->views; i++)
    sum += arena_size(&h->view[i]->arena);
  return sum;
}

/* Of those older than the longest window one is kept: its beginning. Where two have no room, the
   last one stays. */
static void forget(struct history *h) {
  uint64_t now = time_of(h, h->views - 1);
  while (h->views > 2 && now - time_of(h, 1) >= h->longest)
    drop(h, 0);
  thin(h, 1);
  for (uint64_t wider = 2; h->views > 3 && history_memory(h) > h->memory; wider *= 2)
    thin(h, wider);
  while (h->views > 1 && history_memory(h) > h->memory)
    drop(h, 0);
}

void history_limit(struct history *h, size_t memory) {
  h->memory = memory;
  if (h->views && history_memory(h) > memory)
    forget(h);
}

void history_add(struct history *h, struct view *v) {
  while (h->views && !goes_on(h->view[h->views - 1], v))
    drop(h, h->views - 1);
  if (h->views == h->room) {
    h->room = h->room ? h->room * 2 : 32;
    h->view = reallocate(h->view, h->room, sizeof(struct view *));
    h->most = reallocate(h->most, h->room, sizeof *h->most);
  }
  struct moment_sums sums;
  moments_sum(&sums, v);
  h->most[h->views] = h->views ? moments_most(&h->last, &sums) : (struct moment_most){0};
  h->last = sums;
  h->view[h->views++] = v;
  forget(h);
}

struct view *history_now(const struct history *h) {
  return h->views ? h->view[h->views - 1] : NULL;
}

/* Since its start, or what counts as such. */
static uint64_t whole_of(const struct view *v) {
  uint64_t reset = v->process.reset;
  return v->process.elapsed - (reset == UNKNOWN || reset > v->process.elapsed ? 0 : reset);
}

bool history_is_whole(const struct view *now, uint64_t ns) {
  return whole_of(now) <= ns;
}

uint64_t history_off(const struct view *now, const struct view *earlier, uint64_t ns) {
  if (!goes_on(earlier, now) || earlier->process.elapsed == now->process.elapsed)
    return UNKNOWN;
  uint64_t age = now->process.elapsed - earlier->process.elapsed;
  return age > ns ? age - ns : ns - age;
}

bool history_is_older(const struct view *now, const struct view *earlier, uint64_t ns) {
  return now->process.elapsed - earlier->process.elapsed >= ns;
}

bool history_is_near(uint64_t off, uint64_t ns) {
  return off <= ns / 2;
}

struct view *history_window(const struct history *h, uint64_t ns) {
  const struct view *now = history_now(h), *begin = NULL;
  uint64_t least = UNKNOWN;
  if (h->views < 2 || history_is_whole(now, ns))
    return NULL;
  for (size_t i = 0; i + 1 < h->views; i++) {
    uint64_t off = history_off(now, h->view[i], ns);
    if (off != UNKNOWN && off <= least) {
      begin = h->view[i];
      least = off;
    }
  }
  return begin ? view_between(now, begin) : NULL;
}

struct view *history_over(const struct history *h, uint64_t ns) {
  const struct view *now = history_now(h);
  struct view *window = now && ns ? history_window(h, ns) : NULL;
  return window || !now ? window : view_copy(now);
}

void history_moments(const struct history *h, struct moments *m, const char *kind) {
  struct moments own = {.range = m->range, .step = m->step};
  for (size_t i = 1; i < h->views; i++)
    moments_add(&own, h->view[i - 1], h->view[i], h->view[h->views - 1], h->most[i], kind);
  moments_merge(m, &own);
}
