/* SPDX-License-Identifier: MIT */
/* What follows from the numbers of requests; see settle.h. */
#include "fold.h"
#include "index.h"
#include "settle.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

static uint64_t without(uint64_t all, uint64_t part) {
  return all > part ? all - part : 0;
}

static void tier_sums(const struct view_kind *k, uint64_t *exec, uint64_t *waiting) {
  *exec = *waiting = 0;
  for (size_t i = 0; i < k->tiers; i++) {
    add_to(exec, k->tier[i].exec.sum);
    add_to(waiting, k->tier[i].waiting.sum);
  }
}

void settle_tiers(struct view *v) {
  for (size_t i = 0; i < v->kinds; i++) {
    struct view_kind *k = &v->kind[i];
    uint64_t exec, waiting;
    tier_sums(k, &exec, &waiting);
    k->exec.sum = k->exec.sum > exec ? k->exec.sum : exec;
    k->waiting.sum = k->waiting.sum > waiting ? k->waiting.sum : waiting;
  }
}

/* -- order ---------------------------------------------------------------------------- */

static int falling(uint64_t a, uint64_t b) {
  return a > b ? -1 : a < b;
}

static int by_member(const void *a, const void *b) {
  const struct view_kind *x = a, *y = b;
  int order = falling(x->member, y->member);
  order = order ? order : falling(x->count, y->count);
  order = order ? order : strcmp(x->kind, y->kind);
  return order ? order : strcmp(x->function, y->function);
}

static int by_time(const void *a, const void *b) {
  const struct view_tier *x = a, *y = b;
  int order = falling(plus(x->exec.sum, x->waiting.sum), plus(y->exec.sum, y->waiting.sum));
  return order ? order : strcmp(x->name, y->name);
}

static int by_wall(const void *a, const void *b) {
  const struct view_slow *x = a, *y = b;
  int order = falling(x->wall, y->wall);
  return order ? order : x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void settle_slow(struct view_slow *slow, size_t count) {
  for (size_t i = 0; i < count; i++)
    slow[i].member = plus(plus(slow[i].exec, slow[i].queued), slow[i].waiting);
}

static void settle_kind(struct view_kind *k) {
  uint64_t exec, waiting;
  tier_sums(k, &exec, &waiting);
  k->other_exec = without(k->exec.sum, exec);
  k->other_waiting = without(k->waiting.sum, waiting);
  k->member = plus(plus(k->exec.sum, k->queued.sum), k->waiting.sum);
  settle_slow(k->slow, k->slows);
  settle_slow(k->logged, k->loggeds);
  if (k->tiers)
    qsort(k->tier, k->tiers, sizeof *k->tier, by_time);
  if (k->slows)
    qsort(k->slow, k->slows, sizeof *k->slow, by_wall);
  if (k->slows > APROF_SLOWEST)
    k->slows = APROF_SLOWEST;
}

void settle_requests(struct view *v) {
  for (size_t i = 0; i < v->kinds; i++)
    settle_kind(&v->kind[i]);
  if (v->kinds)
    qsort(v->kind, v->kinds, sizeof *v->kind, by_member);
}

/* -- what was there before ------------------------------------------------------------ */

static bool has_slow(const struct view_kind *k, const struct view_slow *s) {
  for (size_t i = 0; i < k->slows; i++)
    if (k->slow[i].begin == s->begin && k->slow[i].wall == s->wall)
      return true;
  return false;
}

void settle_forget_slow(struct view *later, const struct view *earlier) {
  struct index x;
  index_new(&x, earlier->kinds);
  for (size_t i = 0; i < earlier->kinds; i++)
    index_put(&x, fold_key(&layout_kind, &earlier->kind[i]), &earlier->kind[i]);
  for (size_t i = 0; i < later->kinds; i++) {
    struct view_kind *k = &later->kind[i];
    const struct view_kind *before = index_get(&x, fold_key(&layout_kind, k));
    size_t kept = 0;
    for (size_t j = 0; before && j < k->slows; j++)
      if (!has_slow(before, &k->slow[j]))
        k->slow[kept++] = k->slow[j];
    k->slows = before ? kept : k->slows;
  }
  index_free(&x);
}
