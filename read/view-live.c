/* SPDX-License-Identifier: MIT */
/* What lives, in a view; see filling.h. */
#include "filling.h"

#include <aprof/abi.h>
#include <stdlib.h>
#include <string.h>

static const char *state_text(uint8_t state) {
  return state == APROF_FUTURE_RUNNING  ? "running"
         : state == APROF_FUTURE_QUEUED ? "queued"
                                        : "waiting";
}

/* `count` 1: the future itself; more: of so many alike the oldest, with the time that is
   due first, and the least that `youngest` has. */
static void add_live(const struct filling *f, const struct model_live *live,
                     const struct model_live *youngest, uint64_t count) {
  const struct name *await = name_of(f, live->await), *create = name_of(f, live->create);
  const struct text *at = text_of(f, live->await), *by = text_of(f, live->create);
  bool alone = count == 1, waits = live->await != NAME_UNKNOWN;
  f->v->live[f->v->lives++] = (struct view_live){
      .id = alone ? live->id : 0,
      .parent = alone ? live->parent : 0,
      .name = text_of(f, f->m->function[live->function].name)->name,
      .function = f->number[live->function],
      .state = state_text(live->state),
      .age = live->age,
      .since = live->since,
      .age_min = youngest->age,
      .since_min = youngest->since,
      .due = live->due,
      .place = at->place,
      .callee = waits ? at->name : NULL,
      .kind = waits ? kind_of(await) : NULL,
      .background = model_background(f->m, live->function, await),
      .started = live->started,
      .aside = live->aside,
      .created_at = by->place,
      .created_by = create->kind == APROF_SITE_FUNCTION ? NULL : by->function,
      .tid = alone ? live->tid : 0,
      .request = alone ? live->request : 0,
      .count = count,
  };
}

/* Alike: all but their times and identities are the same. Who runs stays alone: it holds a loop. */
static int compare_group(const struct model_live *x, const struct model_live *y) {
  if (x->function != y->function)
    return x->function < y->function ? -1 : 1;
  if (x->await != y->await)
    return x->await < y->await ? -1 : 1;
  if (x->state != y->state)
    return x->state < y->state ? -1 : 1;
  if (x->create != y->create)
    return x->create < y->create ? -1 : 1;
  if (x->started != y->started)
    return x->started ? -1 : 1;
  if (x->aside != y->aside)
    return x->aside ? -1 : 1;
  if (x->state == APROF_FUTURE_RUNNING && x->tid != y->tid)
    return x->tid < y->tid ? -1 : 1;
  return !x->due != !y->due ? (x->due ? -1 : 1) : 0;
}

static int by_group(const void *a, const void *b) {
  const struct model_live *x = a, *y = b;
  int order = compare_group(x, y);
  return order ? order : x->age > y->age ? -1 : x->age < y->age;
}

static void fill_groups(const struct filling *f, uint32_t listed) {
  uint32_t rest = f->m->lives - listed;
  struct model_live *young = allocate(rest, sizeof *young);
  memcpy(young, f->m->live + listed, rest * sizeof *young);
  qsort(young, rest, sizeof *young, by_group);
  for (uint32_t from = 0, to; from < rest; from = to) {
    struct model_live oldest = young[from], youngest = oldest;
    for (to = from + 1; to < rest && !compare_group(&young[to], &young[from]); to++) {
      greater(&oldest.since, young[to].since);
      if (young[to].since < youngest.since)
        youngest.since = young[to].since;
      if (young[to].due < oldest.due)
        oldest.due = young[to].due;
      youngest.age = young[to].age; /* the last is the youngest */
    }
    add_live(f, &oldest, &youngest, to - from);
  }
  free(young);
}

void fill_live(const struct filling *f, uint32_t limit) {
  f->v->live = arena_get(&f->v->arena, f->m->lives, sizeof *f->v->live);
  for (uint32_t i = 0; i < f->m->lives && i < limit; i++)
    add_live(f, &f->m->live[i], &f->m->live[i], 1);
  if (f->m->lives > limit)
    fill_groups(f, limit);
}
