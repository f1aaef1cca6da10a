/* SPDX-License-Identifier: MIT */
/* Functions, with their places and histograms, in a view; see filling.h. */
#include "filling.h"
#include "governed.h"

#include <aprof/abi.h>
#include <stdlib.h>
#include <string.h>

/* -- histograms --------------------------------------------------------------------- */

enum which { EXEC, SLICE, WALL, QUEUED, WAITING };

static uint32_t histogram_of(const struct profile *p, const struct aprof_counters *c,
                             enum which which) {
  switch (which) {
  case EXEC:
    return profile_buckets(p, c->function.ended_buckets, true, false);
  case WALL:
    return profile_buckets(p, c->function.ended_buckets, true, true);
  case SLICE:
    return profile_buckets(p, c->function.slice_buckets, false, false);
  case QUEUED:
    return profile_buckets(p, c->function.queued_buckets, false, false);
  default:
    return profile_buckets(p, c->await.buckets, false, false);
  }
}

void fill_collect(struct filling *f, uint32_t offset) {
  bool again = f->offsets && f->offset[f->offsets - 1] == offset;
  if (!f->histograms || offset <= 1 || again)
    return;
  if (f->offsets == f->offset_room) {
    f->offset_room = f->offset_room ? f->offset_room * 2 : 64;
    f->offset = reallocate(f->offset, f->offset_room, sizeof *f->offset);
  }
  f->offset[f->offsets++] = offset;
  profile_counts_soon(f->m->profile, offset);
}

static void collect(struct filling *f, const struct model_node *n, enum which which) {
  const struct model *m = f->m;
  for (uint32_t i = f->histograms ? n->leaves : MODEL_NONE; i != MODEL_NONE; i = m->leaf[i].next)
    fill_collect(f, histogram_of(m->profile, m->leaf[i].counters, which));
}

static int by_offset(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

enum { FEW = 32 };

/* Few are put in their place one by one. */
static void sort(uint32_t *offset, size_t offsets) {
  if (offsets > FEW)
    qsort(offset, offsets, sizeof *offset, by_offset);
  for (size_t i = 1, at; i < offsets && offsets <= FEW; i++) {
    uint32_t one = offset[i];
    for (at = i; at && offset[at - 1] > one; at--)
      offset[at] = offset[at - 1];
    offset[at] = one;
  }
}

/* In rising order; how many are left. */
static size_t each_once(uint32_t *offset, size_t offsets) {
  size_t kept = 0, rising = 1;
  while (rising < offsets && offset[rising - 1] <= offset[rising])
    rising++;
  if (rising < offsets)
    sort(offset, offsets);
  for (size_t i = 0; i < offsets; i++)
    if (!kept || offset[i] != offset[kept - 1])
      offset[kept++] = offset[i];
  return kept;
}

struct distribution fill_collected(struct filling *f, uint64_t rate, uint64_t max) {
  struct distribution of = {0};
  size_t count = each_once(f->offset, f->offsets);
  f->offsets = 0;
  if (!count ||
      (f->kept && kept_get(f->kept, &f->v->arena, f->m->profile, f->offset, count, max, &of)))
    return of;
  for (size_t i = 0; i < count; i++)
    histogram_add(&f->sum, f->m->profile, f->offset[i]);
  of = histogram_convert(&f->v->arena, &f->sum, rate, max);
  histogram_clear(&f->sum);
  if (f->kept)
    kept_put(f->kept, f->offset, count, max, &of);
  return of;
}

static struct distribution collected(struct filling *f, uint64_t max) {
  return fill_collected(f, f->m->rate, max);
}

static struct distribution distribution_of(struct filling *f, const struct model_function *function,
                                           enum which which, uint64_t max) {
  const struct model *m = f->m;
  for (uint32_t i = function->list[APROF_NODE_FUNCTION]; i != MODEL_NONE; i = m->node[i].next)
    collect(f, &m->node[i], which);
  return collected(f, max);
}

/* -- functions -------------------------------------------------------------------------- */

static bool is_empty(const struct model_node *n) {
  return !(n->done | n->failed | n->cancelled | n->detached | n->live | n->slices | n->exec |
           n->queued | n->waiting | n->count | n->exec_max);
}

/* Places of one name beneath a function, over their paths: list[0 .. count - 1]. */
struct place {
  const struct text *text;
  const struct name *name;
  bool background;
  uint64_t count, immediate, time, open, max;
  struct distribution of;
};

static struct place add_up_place(struct filling *f, const uint32_t *list, size_t count) {
  uint32_t name = f->m->node[list[0]].name;
  struct place place = {.text = text_of(f, name), .name = name_of(f, name)};
  place.background = model_background(f->m, f->m->node[list[0]].function, place.name);
  for (size_t i = 0; i < count; i++) {
    const struct model_node *n = &f->m->node[list[i]];
    add_to(&place.count, n->count);
    add_to(&place.immediate, n->immediate);
    add_to(&place.time, n->waiting);
    add_to(&place.open, n->open);
    greater(&place.max, n->max);
    collect(f, n, WAITING);
  }
  place.of = collected(f, place.max);
  return place;
}

static void add_await(struct view_function *v, const struct place *p) {
  v->await[v->awaits++] = (struct view_await){.callee = p->text->name,
                                              .file = p->text->file,
                                              .line = p->name->line,
                                              .kind = kind_of(p->name),
                                              .count = p->count,
                                              .immediate = p->immediate,
                                              .waiting = p->time,
                                              .open = p->open,
                                              .max = known_if(p->count, p->max),
                                              .background = p->background,
                                              .waits = p->of};
}

/* A waker whose site is a create is the clock: what was due then ran later. */
static void add_waker(struct view_function *v, const struct place *p) {
  v->waker[v->wakers++] = (struct view_waker){.name = p->text->name,
                                              .file = p->text->file,
                                              .line = p->name->line,
                                              .in = p->text->function,
                                              .clock = p->name->kind == APROF_SITE_CREATE,
                                              .count = p->count,
                                              .queued = p->time,
                                              .max = known_if(p->count, p->max),
                                              .queued_of = p->of};
}

static void add_blocking(struct view_function *v, const struct place *p) {
  v->blocking[v->blockings++] = (struct view_blocking){.callee = p->text->name,
                                                       .file = p->text->file,
                                                       .line = p->name->line,
                                                       .count = p->count,
                                                       .held = p->time,
                                                       .max = known_if(p->count, p->max),
                                                       .held_of = p->of};
}

static void add_delayed(struct view_function *v, const struct place *p) {
  v->delayed[v->delays++] = (struct view_delayed){.name = p->text->name,
                                                  .file = p->text->file,
                                                  .line = p->name->line,
                                                  .count = p->count,
                                                  .delayed = p->time,
                                                  .max = known_if(p->count, p->max)};
}

static int by_name(const void *a, const void *b, void *context) {
  const struct model *m = context;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  uint32_t left = m->node[x].name, right = m->node[y].name;
  return left != right ? (left < right ? -1 : 1) : x < y ? -1 : x > y;
}

/* Each place of a kind beneath a function, to `add`; `*at` is where that puts it. */
static void fill_places(struct filling *f, const struct model_function *function,
                        enum aprof_node_kind kind, struct view_function *v, void *at, size_t size,
                        void (*add)(struct view_function *, const struct place *)) {
  const struct model *m = f->m;
  size_t count = 0, places = 0;
  for (uint32_t i = function->list[kind]; i != MODEL_NONE; i = m->node[i].next)
    count += !is_empty(&m->node[i]);
  if (!count)
    return;
  uint32_t *list = allocate(count, sizeof *list);
  count = 0;
  for (uint32_t i = function->list[kind]; i != MODEL_NONE; i = m->node[i].next)
    if (!is_empty(&m->node[i]))
      list[count++] = i;
  if (count > 1)
    qsort_r(list, count, sizeof *list, by_name, (void *)m);
  for (size_t i = 0; i < count; i++)
    places += i == 0 || m->node[list[i]].name != m->node[list[i - 1]].name;
  *(void **)at = arena_get(&f->v->arena, places, size);
  for (size_t from = 0, to; from < count; from = to) {
    for (to = from + 1; to < count && m->node[list[to]].name == m->node[list[from]].name;)
      to++;
    struct place place = add_up_place(f, list + from, to - from);
    add(v, &place);
  }
  free(list);
}

/* All that were due at a time, over the places that said so. */
static void fill_lateness(struct filling *f, const struct model_function *function,
                          struct view_lateness *late) {
  const struct model *m = f->m;
  for (uint32_t i = function->list[APROF_NODE_WAKER]; i != MODEL_NONE; i = m->node[i].next) {
    const struct model_node *n = &m->node[i];
    if (name_of(f, n->name)->kind != APROF_SITE_CREATE || !n->count)
      continue;
    late->is = true;
    add_to(&late->count, n->count);
    add_to(&late->total, n->waiting);
    greater(&late->max, n->max);
    collect(f, n, WAITING);
  }
  late->late = collected(f, late->max);
}

static void fill_longest(const struct filling *f, struct view_function *v, uint32_t function,
                         const struct model_node *longest) {
  v->slice_max = known_if(v->slices, longest ? longest->slice_max : 0);
  v->mostly_max = v->on_cpu_least = v->on_cpu_most = UNKNOWN;
  v->mostly_at_once = v->slice_at_start = FLAG_UNKNOWN;
  if (!longest)
    return;
  fill_slice(f, v->slice_between, v->slice_names, longest->slice_from, longest->slice_to);
  v->on_cpu_least = known_if(longest->on_cpu_most, longest->on_cpu_least);
  v->on_cpu_most = known_if(longest->on_cpu_most, longest->on_cpu_most);
  /* A run begins at its function's start, and was waited for where somebody else created it. */
  const struct name *from = name_of(f, longest->slice_from), *own = name_of(f, function);
  v->slice_at_start = from->kind == APROF_SITE_CREATE &&
                      (from->function == NULL || strcmp(from->function, own->name) != 0);
  if (longest->mostly == MODEL_NONE)
    return;
  const struct model_node *mostly = &f->m->node[longest->mostly];
  v->mostly = text_of(f, mostly->name)->name;
  v->mostly_max = mostly->exec_max;
  v->mostly_at_once = !mostly->waiting;
}

/* What its futures ran and waited in spans, which are no children. */
static void add_up_spans(const struct model *m, const struct model_function *from,
                         struct view_function *v) {
  for (uint32_t i = from->list[APROF_NODE_SPAN]; i != MODEL_NONE; i = m->node[i].next) {
    const struct model_node *n = &m->node[i];
    add_to(&v->exec, n->exec);
    add_to(&v->pool_exec, n->pool_exec);
    add_to(&v->waiting, n->waiting);
    v->children_exec -= n->exec < v->children_exec ? n->exec : v->children_exec;
  }
}

/* Sums over its paths; returns the one with the longest slice, or NULL. */
static const struct model_node *add_up(const struct model *m, const struct model_function *from,
                                       struct view_function *v) {
  const struct model_node *longest = NULL;
  for (uint32_t i = from->list[APROF_NODE_FUNCTION]; i != MODEL_NONE; i = m->node[i].next) {
    const struct model_node *n = &m->node[i];
    add_to(&v->done, n->done);
    add_to(&v->failed, n->failed);
    add_to(&v->cancelled, n->cancelled);
    add_to(&v->detached, n->detached);
    add_to(&v->live, n->live);
    add_to(&v->born_done, n->born_done);
    add_to(&v->slices, n->slices);
    add_to(&v->exec, n->exec);
    add_to(&v->pool_exec, n->pool_exec);
    add_to(&v->queued, n->queued);
    add_to(&v->waiting, n->waiting);
    add_to(&v->children_exec, n->children_exec);
    v->shared |= n->shared;
    greater(&v->exec_max, n->exec_max);
    greater(&v->wall_max, n->wall_max);
    if (n->slice_max > (longest ? longest->slice_max : 0))
      longest = n;
  }
  add_up_spans(m, from, v);
  return longest;
}

static void fill_function(struct filling *f, const struct model_function *from,
                          struct view_function *v) {
  static const char *const models[] = {[APROF_MODEL_STACK] = "stack",
                                       [APROF_MODEL_FRAME] = "frame",
                                       [APROF_MODEL_CALLBACK] = "callback"};
  const struct name *name = name_of(f, from->name);
  const struct text *text = text_of(f, from->name);
  const struct model_node *longest = add_up(f->m, from, v);
  uint64_t ended = v->done + v->failed + v->cancelled;
  v->process = UNKNOWN;
  v->name = text->name;
  v->file = text->file;
  v->line = name->line;
  v->column = name->column;
  v->model = name->model < sizeof models / sizeof *models ? models[name->model] : NULL;
  v->instrumented = !name->by_address || name->noted;
  v->created = ended + v->detached + v->live;
  v->wall = v->queued + v->exec + v->waiting;
  v->shed = governed_concern(f->m, from);
  fill_longest(f, v, from->name, longest);
  v->exec_of = distribution_of(f, from, EXEC, v->exec_max);
  v->slice_of = distribution_of(f, from, SLICE, longest ? longest->slice_max : 0);
  v->wall_of = distribution_of(f, from, WALL, v->wall_max);
  v->queued_of = distribution_of(f, from, QUEUED, HISTOGRAM_NO_MAX);
  /* While the clock is shed there are no maxima. */
  bool coarse = v->shed >> APROF_STEP_COARSE;
  v->exec_max = known_if(ended && (v->exec_max || !coarse), v->exec_max);
  v->wall_max = known_if(ended && (v->wall_max || !coarse), v->wall_max);
  fill_places(f, from, APROF_NODE_AWAIT, v, &v->await, sizeof *v->await, add_await);
  fill_places(f, from, APROF_NODE_WAKER, v, &v->waker, sizeof *v->waker, add_waker);
  fill_places(f, from, APROF_NODE_BLOCKING, v, &v->blocking, sizeof *v->blocking, add_blocking);
  fill_places(f, from, APROF_NODE_DELAYED, v, &v->delayed, sizeof *v->delayed, add_delayed);
  fill_lateness(f, from, &v->lateness);
}

struct ranked {
  uint32_t function;
  uint64_t exec, waiting;
};

static int by_exec(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->exec != y->exec)
    return x->exec > y->exec ? -1 : 1;
  if (x->waiting != y->waiting)
    return x->waiting > y->waiting ? -1 : 1;
  return x->function < y->function ? -1 : x->function > y->function;
}

void fill_functions(struct filling *f) {
  const struct model *m = f->m;
  bool *used = allocate(m->functions, sizeof *used);
  struct ranked *ranked = allocate(m->functions, sizeof *ranked);
  size_t count = 0;
  for (uint32_t i = m->nodes; i-- > 0;) {
    const struct model_node *n = &m->node[i];
    f->path_shown[i] |= !is_empty(n);
    if (n->function == MODEL_NONE)
      f->path_shown[i] = false; /* the list of spans has it */
    if (!f->path_shown[i])
      continue;
    used[n->function] = true;
    if (n->parent != MODEL_NONE)
      f->path_shown[n->parent] = true;
    /* Wakers, blocking calls, the delayed are no part of a path: their function lists them. */
    f->path_shown[i] = n->kind == APROF_NODE_AWAIT || model_is_body(n);
  }
  for (uint32_t i = 0; i < m->functions; i++) {
    struct view_function sums = {0};
    f->number[i] = MODEL_NONE;
    if (!used[i])
      continue;
    add_up(m, &m->function[i], &sums);
    ranked[count++] = (struct ranked){.function = i, .exec = sums.exec, .waiting = sums.waiting};
  }
  if (count)
    qsort(ranked, count, sizeof *ranked, by_exec);
  f->v->function = arena_get(&f->v->arena, count, sizeof *f->v->function);
  f->v->functions = count;
  for (size_t i = 0; i < count; i++) {
    f->number[ranked[i].function] = (uint32_t)i;
    fill_function(f, &m->function[ranked[i].function], &f->v->function[i]);
  }
  free(ranked);
  free(used);
}
