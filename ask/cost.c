/* SPDX-License-Identifier: MIT */
/* What a finding costs, and of which whole; see findings.h. */
#include "findings.h"
#include "read/util.h"

#include <string.h>

/* Adds up the slices longer than the threshold, each as the middle of its bucket. The sum is at
   least the longest one. */
static uint64_t held_in_all(const struct view_function *f, uint64_t threshold, uint64_t longest) {
  uint64_t sum = 0;
  for (size_t i = 0; i < f->slice_of.count; i++) {
    const struct bucket *b = &f->slice_of.bucket[i];
    if (b->lower >= threshold)
      sum += b->count * buckets_percentile(b, 1, 1000, longest);
  }
  return sum > longest ? sum : longest;
}

/* The whole is the time of the loop whose longest hold this was; where none is known, of all
   loops. */
static void of_loop(const struct view *v, const struct finding *f, struct cost *cost) {
  size_t loops = 0;
  for (size_t i = 0; i < v->loops; i++) {
    const struct view_loop *loop = &v->loop[i];
    if (!loop->thread || loop->thread->is_pool)
      continue;
    loops += loop->thread->exec || loop->thread->idle;
    if (finding_rows[f->kind]->cost != COST_HOLDS || loop->hold_max != f->severity ||
        !loop->function || strcmp(loop->function, f->function->name) != 0 ||
        cost->time > loop->thread->elapsed)
      continue;
    cost->whole = loop->thread->elapsed;
    return;
  }
  cost->of = loops > 1 ? "the time of all loops" : cost->of;
}

struct cost findings_cost(const struct view *v, const struct finding *f,
                          const struct ask_limits *limits) {
  static const struct cost none = {UNKNOWN, 0, NULL};
  enum finding_cost kind = finding_rows[f->kind]->cost;
  struct cost cost = {f->severity, ask_loop(v).elapsed, "the loop's time"};
  if (kind == COST_NOTHING || !f->function || f->severity == UNKNOWN)
    return none;
  if (kind == COST_LIVES) {
    cost.whole = f->function->wall;
    cost.of = "the lives of its futures";
  } else {
    if (kind == COST_HOLDS && !f->alive)
      cost.time = held_in_all(f->function, limits->of[f->kind], f->severity);
    of_loop(v, f, &cost);
  }
  return cost.whole && cost.whole != UNKNOWN && cost.time <= cost.whole ? cost : none;
}
