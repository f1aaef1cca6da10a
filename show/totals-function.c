/* Totals: functions; see totals.h. */
#include "totals.h"

#include "read/clock.h"
#include "read/governed.h"
#include "read/histogram.h"
#include "read/json.h"
#include "read/util.h"

#include <aprof/abi.h>
#include <stdlib.h>
#include <string.h>

/* Sums of one function over its paths. */
struct sums {
  uint64_t done, failed, cancelled, detached, live, born_done, slices;
  uint64_t exec, pool_exec, queued, waiting, children_exec, exec_max, wall_max, slice_max;
  uint32_t slice_from, slice_to;
  uint32_t mostly; /* path; MODEL_NONE: none */
};

static void greater(uint64_t *value, uint64_t other) {
  if (other > *value)
    *value = other;
}

static struct sums sum_up(const struct model *m, const struct model_function *f) {
  struct sums s = {.mostly = MODEL_NONE};
  for (uint32_t i = f->list[APROF_NODE_FUNCTION]; i != MODEL_NONE; i = m->node[i].next) {
    const struct model_node *n = &m->node[i];
    s.done += n->done;
    s.failed += n->failed;
    s.cancelled += n->cancelled;
    s.detached += n->detached;
    s.live += n->live;
    s.born_done += n->born_done;
    s.slices += n->slices;
    s.exec += n->exec;
    s.pool_exec += n->pool_exec;
    s.queued += n->queued;
    s.waiting += n->waiting;
    s.children_exec += n->children_exec;
    greater(&s.exec_max, n->exec_max);
    greater(&s.wall_max, n->wall_max);
    if (n->slice_max > s.slice_max) {
      s.slice_max = n->slice_max;
      s.slice_from = n->slice_from;
      s.slice_to = n->slice_to;
      s.mostly = n->mostly;
    }
  }
  return s;
}

/* -- which functions, in which order --------------------------------------- */

static bool is_empty(const struct model_node *n) {
  return !(n->done | n->failed | n->cancelled | n->detached | n->live | n->slices | n->exec |
           n->queued | n->waiting | n->count | n->exec_max);
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

void totals_order(const struct model *m, struct totals_order *order) {
  *order = (struct totals_order){0};
  order->shown = allocate(m->functions, sizeof *order->shown);
  order->number = allocate(m->functions, sizeof *order->number);
  order->path_shown = allocate(m->nodes, sizeof *order->path_shown);
  bool *used = allocate(m->functions, sizeof *used);
  for (uint32_t i = m->nodes; i-- > 0;) {
    const struct model_node *n = &m->node[i];
    order->path_shown[i] |= !is_empty(n);
    if (!order->path_shown[i])
      continue;
    used[n->function] = true;
    if (n->parent != MODEL_NONE)
      order->path_shown[n->parent] = true;
    /* Wakers and blocking calls are no part of a path: their function lists them. */
    order->path_shown[i] = n->kind <= APROF_NODE_AWAIT;
  }
  struct ranked *ranked = allocate(m->functions, sizeof *ranked);
  for (uint32_t i = 0; i < m->functions; i++) {
    order->number[i] = MODEL_NONE;
    if (!used[i])
      continue;
    struct sums s = sum_up(m, &m->function[i]);
    ranked[order->count++] = (struct ranked){.function = i, .exec = s.exec, .waiting = s.waiting};
  }
  if (order->count)
    qsort(ranked, order->count, sizeof *ranked, by_exec);
  for (uint32_t i = 0; i < order->count; i++) {
    order->shown[i] = ranked[i].function;
    order->number[ranked[i].function] = i;
  }
  free(ranked);
  free(used);
}

void totals_order_release(struct totals_order *order) {
  free(order->shown);
  free(order->number);
  free(order->path_shown);
}

/* -- one of them ----------------------------------------------------------- */

enum which { EXEC, SLICE, WALL, QUEUED, WAITING };

static uint32_t histogram_of(const struct aprof_counters *c, enum which which) {
  switch (which) {
  case EXEC:
    return c->function.exec_histogram;
  case SLICE:
    return c->function.slice_histogram;
  case WALL:
    return c->function.wall_histogram;
  case QUEUED:
    return c->function.queued_histogram;
  default:
    return c->await.histogram;
  }
}

/* The paths of one function share a histogram: each counts once. */
struct offsets {
  uint32_t *offset;
  size_t count, room;
};

static void collect(const struct model *m, const struct model_node *n, enum which which,
                    struct offsets *list) {
  for (uint32_t i = n->leaves; i != MODEL_NONE; i = m->leaf[i].next) {
    uint32_t offset = histogram_of(m->leaf[i].counters, which);
    if (!profile_histogram(m->profile, offset))
      continue;
    if (list->count == list->room) {
      list->room = list->room ? list->room * 2 : 16;
      list->offset = reallocate(list->offset, list->room, sizeof *list->offset);
    }
    list->offset[list->count++] = offset;
  }
}

static int by_offset(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* Frees the list. */
static cJSON *collected(const struct model *m, struct offsets *list, uint64_t max) {
  struct histogram h;
  histogram_clear(&h);
  if (list->count)
    qsort(list->offset, list->count, sizeof *list->offset, by_offset);
  for (size_t i = 0; i < list->count; i++)
    if (i == 0 || list->offset[i] != list->offset[i - 1])
      histogram_add(&h, profile_histogram(m->profile, list->offset[i]));
  free(list->offset);
  return histogram_json(&h, m->rate, max);
}

static cJSON *function_histogram(const struct model *m, const struct model_function *f,
                                 enum which which, uint64_t max) {
  struct offsets list = {0};
  for (uint32_t i = f->list[APROF_NODE_FUNCTION]; i != MODEL_NONE; i = m->node[i].next)
    collect(m, &m->node[i], which, &list);
  return collected(m, &list, max);
}

/* Places of one name beneath a function, over their paths: list[0 .. count - 1]. */
struct place {
  const struct name *name;
  uint64_t count, immediate, time, open, max;
  struct offsets offsets;
};

static struct place add_place(const struct model *m, const uint32_t *list, size_t count) {
  struct place place = {.name = &m->names->name[m->node[list[0]].name]};
  for (size_t i = 0; i < count; i++) {
    const struct model_node *n = &m->node[list[i]];
    place.count += n->count;
    place.immediate += n->immediate;
    place.time += n->waiting;
    place.open += n->open;
    greater(&place.max, n->max);
    collect(m, n, WAITING, &place.offsets);
  }
  return place;
}

static cJSON *await_object(const struct model *m, struct place *place) {
  cJSON *object = cJSON_CreateObject();
  totals_site(object, "callee", place->name);
  json_text(object, "kind", totals_kind(place->name));
  json_number(object, "count", place->count);
  json_number(object, "immediate", place->immediate);
  json_number(object, "waiting_ns", place->time);
  json_number(object, "open_ns", place->open);
  json_maybe(object, "max_ns", place->max, place->count != 0);
  cJSON_AddBoolToObject(object, "background", (place->name->flags & APROF_BACKGROUND) != 0);
  cJSON_AddItemToObject(object, "waiting", collected(m, &place->offsets, place->max));
  return object;
}

/* A waker whose site is a create is the clock: what was due then ran later. */
static cJSON *waker_object(const struct model *m, struct place *place) {
  cJSON *object = cJSON_CreateObject();
  totals_site(object, "name", place->name);
  json_text(object, "function", place->name->function);
  cJSON_AddBoolToObject(object, "clock", place->name->kind == APROF_SITE_CREATE);
  json_number(object, "count", place->count);
  json_number(object, "queued_ns", place->time);
  json_maybe(object, "max_ns", place->max, place->count != 0);
  cJSON_AddItemToObject(object, "queued", collected(m, &place->offsets, place->max));
  return object;
}

static cJSON *blocking_object(const struct model *m, struct place *place) {
  cJSON *object = cJSON_CreateObject();
  totals_site(object, "callee", place->name);
  json_number(object, "count", place->count);
  json_number(object, "held_ns", place->time);
  json_maybe(object, "max_ns", place->max, place->count != 0);
  cJSON_AddItemToObject(object, "held", collected(m, &place->offsets, place->max));
  return object;
}

/* All that were due at a time, over the places that said so; null where none was. */
static cJSON *lateness_object(const struct model *m, const struct model_function *f) {
  struct place all = {0};
  for (uint32_t i = f->list[APROF_NODE_WAKER]; i != MODEL_NONE; i = m->node[i].next) {
    const struct model_node *n = &m->node[i];
    if (m->names->name[n->name].kind != APROF_SITE_CREATE || !n->count)
      continue;
    all.count += n->count;
    all.time += n->waiting;
    greater(&all.max, n->max);
    collect(m, n, WAITING, &all.offsets);
  }
  if (!all.count)
    return cJSON_CreateNull();
  cJSON *object = cJSON_CreateObject();
  json_number(object, "count", all.count);
  json_number(object, "total_ns", all.time);
  json_number(object, "max_ns", all.max);
  cJSON_AddItemToObject(object, "late", collected(m, &all.offsets, all.max));
  return object;
}

static int by_name(const void *a, const void *b, void *context) {
  const struct model *m = context;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  uint32_t left = m->node[x].name, right = m->node[y].name;
  return left != right ? (left < right ? -1 : 1) : x < y ? -1 : x > y;
}

static void add_places(const struct model *m, const struct model_function *f,
                       enum aprof_node_kind kind, cJSON *array,
                       cJSON *(*make)(const struct model *, struct place *)) {
  size_t count = 0;
  for (uint32_t i = f->list[kind]; i != MODEL_NONE; i = m->node[i].next)
    count += !is_empty(&m->node[i]);
  if (!count)
    return;
  uint32_t *list = allocate(count, sizeof *list);
  count = 0;
  for (uint32_t i = f->list[kind]; i != MODEL_NONE; i = m->node[i].next)
    if (!is_empty(&m->node[i]))
      list[count++] = i;
  qsort_r(list, count, sizeof *list, by_name, (void *)m);
  for (size_t from = 0, to; from < count; from = to) {
    for (to = from + 1; to < count && m->node[list[to]].name == m->node[list[from]].name;)
      to++;
    struct place place = add_place(m, list + from, to - from);
    cJSON_AddItemToArray(array, make(m, &place));
  }
  free(list);
}

static const char *model_text(uint8_t model) {
  switch (model) {
  case APROF_MODEL_STACK:
    return "stack";
  case APROF_MODEL_FRAME:
    return "frame";
  case APROF_MODEL_CALLBACK:
    return "callback";
  default:
    return NULL;
  }
}

static void add_slice(const struct model *m, const struct sums *s, uint32_t function,
                      cJSON *object) {
  json_maybe(object, "slice_max_ns", s->slice_max, s->slices != 0);
  totals_slice(m, object, "slice_max", s->slice_max, s->slice_from, s->slice_to);
  /* A run begins at its function's start, and was waited for where somebody else created it. */
  const struct name *from = &m->names->name[s->slice_from], *own = &m->names->name[function];
  bool at_start = from->kind == APROF_SITE_CREATE &&
                  (from->function == NULL || strcmp(from->function, own->name) != 0);
  json_flag(object, "slice_max_at_start", at_start, s->slice_max != 0);
  const struct model_node *mostly = s->mostly != MODEL_NONE ? &m->node[s->mostly] : NULL;
  json_text(object, "slice_max_mostly", mostly ? m->names->name[mostly->name].name : NULL);
  json_maybe(object, "slice_max_mostly_ns", mostly ? mostly->exec_max : 0, mostly != NULL);
  json_flag(object, "slice_max_mostly_at_once", mostly && !mostly->waiting, mostly != NULL);
}

cJSON *totals_function(const struct model *m, const struct model_function *f) {
  const struct name *name = &m->names->name[f->name];
  struct sums s = sum_up(m, f);
  uint64_t ended = s.done + s.failed + s.cancelled;
  cJSON *object = cJSON_CreateObject();
  totals_site(object, "name", name);
  json_maybe(object, "column", name->column, name->column != 0);
  json_text(object, "model", model_text(name->model));
  cJSON_AddBoolToObject(object, "instrumented", !name->by_address);
  json_number(object, "created", ended + s.detached + s.live);
  json_number(object, "done", s.done);
  json_number(object, "failed", s.failed);
  json_number(object, "cancelled", s.cancelled);
  json_number(object, "detached", s.detached);
  json_number(object, "live", s.live);
  json_number(object, "born_done", s.born_done);
  json_number(object, "slices", s.slices);
  json_number(object, "wall_ns", s.queued + s.exec + s.waiting);
  json_number(object, "queued_ns", s.queued);
  json_number(object, "exec_ns", s.exec);
  json_number(object, "pool_exec_ns", s.pool_exec);
  json_number(object, "waiting_ns", s.waiting);
  json_number(object, "children_exec_ns", s.children_exec);
  /* While the clock is shed there are no maxima. */
  unsigned shed = governed_concern(m, f);
  bool coarse = shed >> APROF_STEP_COARSE;
  governed_add(object, shed);
  json_maybe(object, "exec_max_ns", s.exec_max, ended != 0 && (s.exec_max || !coarse));
  json_maybe(object, "wall_max_ns", s.wall_max, ended != 0 && (s.wall_max || !coarse));
  add_slice(m, &s, f->name, object);
  cJSON_AddItemToObject(object, "exec", function_histogram(m, f, EXEC, s.exec_max));
  cJSON_AddItemToObject(object, "slice", function_histogram(m, f, SLICE, s.slice_max));
  cJSON_AddItemToObject(object, "wall", function_histogram(m, f, WALL, s.wall_max));
  cJSON_AddItemToObject(object, "queued", function_histogram(m, f, QUEUED, HISTOGRAM_NO_MAX));
  add_places(m, f, APROF_NODE_AWAIT, cJSON_AddArrayToObject(object, "awaits"), await_object);
  add_places(m, f, APROF_NODE_WAKER, cJSON_AddArrayToObject(object, "wakers"), waker_object);
  cJSON_AddItemToObject(object, "lateness", lateness_object(m, f));
  add_places(m, f, APROF_NODE_BLOCKING, cJSON_AddArrayToObject(object, "blocking"),
             blocking_object);
  return object;
}

/* -- paths -------------------------------------------------- */

static void add_await_path(const struct model *m, const struct model_node *n, cJSON *object) {
  const struct name *name = &m->names->name[n->name];
  cJSON_AddItemToObject(object, "await", totals_place(name));
  json_text(object, "callee", name->name);
  json_text(object, "kind", totals_kind(name));
  cJSON_AddBoolToObject(object, "background", (name->flags & APROF_BACKGROUND) != 0);
  json_number(object, "count", n->count);
  json_number(object, "immediate", n->immediate);
  json_number(object, "waiting_ns", n->waiting);
  json_number(object, "open_ns", n->open);
  json_maybe(object, "max_ns", n->max, n->count != 0);
}

cJSON *totals_node(const struct model *m, const struct totals_order *order, uint32_t index) {
  const struct model_node *n = &m->node[index];
  cJSON *object = cJSON_CreateObject();
  json_number(object, "id", (uint64_t)index + 1);
  json_maybe(object, "parent", (uint64_t)n->parent + 1, n->parent != MODEL_NONE);
  if (n->kind == APROF_NODE_AWAIT) {
    json_number(object, "function_index", order->number[n->function]);
    add_await_path(m, n, object);
    return object;
  }
  json_text(object, "function", m->names->name[n->name].name);
  json_number(object, "function_index", order->number[n->function]);
  json_number(object, "created", n->done + n->failed + n->cancelled + n->detached + n->live);
  json_number(object, "done", n->done);
  json_number(object, "failed", n->failed);
  json_number(object, "cancelled", n->cancelled);
  json_number(object, "detached", n->detached);
  json_number(object, "live", n->live);
  json_number(object, "born_done", n->born_done);
  json_number(object, "slices", n->slices);
  json_number(object, "exec_ns", n->exec);
  json_number(object, "queued_ns", n->queued);
  json_number(object, "waiting_ns", n->waiting);
  json_number(object, "wall_ns", n->queued + n->exec + n->waiting);
  json_number(object, "children_exec_ns", n->children_exec);
  return object;
}
