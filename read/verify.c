/* SPDX-License-Identifier: MIT */
/* A view tested: its numbers and the equations; see verify.h. */
#include "verify.h"

#include "fields.h"
#include "util.h"

#include <inttypes.h>
#include <stdlib.h>

/* Sums of numbers below 2^63 may pass 2^64. */
typedef unsigned __int128 sum_t;

/* "functions[3].wall_ns is 7, but REST is 9"; NULL where the two are equal. */
static char *compare(const char *list, size_t index, const char *name, uint64_t value,
                     const char *rest, sum_t sum) {
  if (sum == value)
    return NULL;
  if (sum > INT64_MAX)
    return print_string("%s[%zu].%s is %" PRIu64 ", but %s is beyond 2^63", list, index, name,
                        value, rest);
  return print_string("%s[%zu].%s is %" PRIu64 ", but %s is %" PRIu64, list, index, name, value,
                      rest, (uint64_t)sum);
}

/* -- numbers ------------------------------------------------------------------------ */

static char *beyond(const struct layout *, const void *object, const char *where);

static char *list_beyond(const struct field *field, const void *object, const char *where) {
  char *fault = NULL;
  for (size_t i = 0; i < field_count(object, field) && !fault; i++) {
    const void *element = field_element(object, field, i);
    fault = beyond(layout_of(field->of, element), element, field->name);
  }
  (void)where;
  return fault;
}

/* As the reader of totals wants them: nothing falls, and all can be counted. */
static bool is_histogram(const struct distribution *d) {
  const uint64_t *point = &d->p50;
  uint64_t total = 0;
  for (int i = 0; i < DISTRIBUTION_POINTS; i++)
    if (point[i] >= BEYOND || (i && point[i] < point[i - 1]))
      return false;
  for (size_t i = 0; i < d->count; i++) {
    add_to(&total, d->bucket[i].count);
    if (d->bucket[i].lower >= BEYOND || (i && d->bucket[i].lower <= d->bucket[i - 1].lower))
      return false;
  }
  return total < BEYOND;
}

static char *value_beyond(const struct field *field, const void *at, const char *where) {
  uint64_t value;
  switch (field->type) {
  case FIELD_MAYBE:
  case FIELD_INDEX:
    if (*(const uint64_t *)at == UNKNOWN)
      return NULL;
    __attribute__((fallthrough));
  case FIELD_COUNT:
  case FIELD_NONZERO:
    value = *(const uint64_t *)at;
    return value < BEYOND
               ? NULL
               : print_string("%s of %s is %" PRIu64 ", not a count", field->name, where, value);
  case FIELD_SHARE:
    return *(const double *)at < 1e18
               ? NULL
               : print_string("%s of %s is no share of anything", field->name, where);
  case FIELD_HISTOGRAM:
    return is_histogram(at)
               ? NULL
               : print_string("%s of %s has more than can be counted", field->name, where);
  default:
    return NULL;
  }
}

/* Of a damaged profile numbers may be beyond all that totals hold. */
static char *beyond(const struct layout *layout, const void *object, const char *where) {
  char *fault = NULL;
  for (size_t i = 0; i < layout->fields && !fault; i++) {
    const struct field *field = &layout->field[i];
    if (field->type == FIELD_LIST || field->type == FIELD_STEPS)
      fault = list_beyond(field, object, where);
    else if (field->type == FIELD_OBJECT)
      fault = beyond(field->of, field_of(object, field), field->name);
    else if (field->name)
      fault = value_beyond(field, field_of(object, field), where);
  }
  return fault;
}

char *view_beyond(const struct view *v) {
  return beyond(&layout_totals, v, "totals");
}

/* What is not known counts as 0. */
static uint64_t known(uint64_t value) {
  return value == UNKNOWN ? 0 : value;
}

/* -- functions and paths ------------------------------------------------------------------ */

/* The ledger of a function's futures, and of a path's. */
#define LEDGER(list, index, it, fault)                                                             \
  do {                                                                                             \
    fault = compare(                                                                               \
        list, index, "created", (it)->created, "done + failed + cancelled + detached + live",      \
        (sum_t)(it)->done + (it)->failed + (it)->cancelled + (it)->detached + (it)->live);         \
    if (!fault && (it)->wall != UNKNOWN)                                                           \
      fault = compare(list, index, "wall_ns", (it)->wall, "queued_ns + exec_ns + waiting_ns",      \
                      (sum_t)known((it)->queued) + known((it)->exec) + (it)->waiting);             \
  } while (0)

/* What the paths of a function have to add up to. */
struct sums {
  sum_t created, live, slices, exec, queued, waiting;
};

struct paths {
  struct sums *of;        /* by function */
  sum_t *beneath, *waits; /* by path */
};

/* Ids rise, parents come first and are functions, functions are there. */
static char *check_path(const struct view *v, struct paths *p, size_t i) {
  const struct view_path *path = &v->path[i];
  if (!path->id || (i && path->id <= v->path[i - 1].id))
    return print_string("tree[%zu].id is %" PRIu64 ", not above that of the path before", i,
                        path->id);
  if (path->parent_id && (path->parent == SIZE_MAX || v->path[path->parent].is_await))
    return print_string("tree[%zu].parent is %" PRIu64 ", which is no function's path before it", i,
                        path->parent_id);
  if (path->is_await && !path->parent_id)
    return print_string("tree[%zu].parent is null, but it is an await's path", i);
  if (path->function >= v->functions)
    return print_string("tree[%zu].function_index is %" PRIu64 ", but there are %zu functions", i,
                        path->function, v->functions);
  if (path->is_await) {
    p->waits[path->parent] += path->waiting;
    return NULL;
  }
  struct sums *sums = &p->of[path->function];
  sums->created += path->created;
  sums->live += path->live;
  sums->slices += path->slices;
  sums->exec += known(path->exec);
  sums->queued += known(path->queued);
  sums->waiting += path->waiting;
  return NULL;
}

static char *check_sums(const struct view *v, const struct paths *p, size_t i) {
  const struct view_path *path = &v->path[i];
  char *fault;
  if (path->is_await)
    return NULL;
  LEDGER("tree", i, path, fault);
  if (!fault)
    fault = compare("tree", i, "waiting_ns", path->waiting, "the sum over its awaits", p->waits[i]);
  return fault ? fault
               : compare("tree", i, "children_exec_ns", path->children_exec,
                         "the exec_ns beneath it", p->beneath[i]);
}

static char *check_tree(const struct view *v, struct paths *p) {
  char *fault = NULL;
  for (size_t i = 0; i < v->paths; i++)
    if ((fault = check_path(v, p, i)))
      return fault;
  for (size_t i = v->paths; i-- > 0;) {
    const struct view_path *path = &v->path[i];
    if (!path->is_await && path->parent != SIZE_MAX)
      p->beneath[path->parent] += p->beneath[i] + known(path->exec);
  }
  for (size_t i = 0; i < v->paths && !fault; i++)
    fault = check_sums(v, p, i);
  return fault;
}

static char *check_function(const struct view *v, size_t i, const struct sums *sums) {
  const struct view_function *f = &v->function[i];
  static const char over[] = "the sum over its paths in the tree";
  const struct {
    const char *name;
    uint64_t value;
    sum_t sum;
  } of[] = {
      {"created", f->created, sums->created},        {"live", f->live, sums->live},
      {"slices", f->slices, sums->slices},           {"exec_ns", known(f->exec), sums->exec},
      {"queued_ns", known(f->queued), sums->queued}, {"waiting_ns", f->waiting, sums->waiting}};
  sum_t waiting = 0;
  char *fault;
  for (size_t j = 0; j < f->awaits; j++)
    waiting += f->await[j].waiting;
  LEDGER("functions", i, f, fault);
  if (!fault)
    fault = compare("functions", i, "waiting_ns", f->waiting, "the sum over its awaits", waiting);
  for (size_t j = 0; j < sizeof of / sizeof *of && !fault; j++)
    fault = compare("functions", i, of[j].name, of[j].value, over, of[j].sum);
  return fault;
}

/* -- threads, loops, what lives ------------------------------------------------------ */

static char *check_threads(const struct view *v) {
  char *fault = NULL;
  for (size_t i = 0; i < v->threads && !fault; i++) {
    const struct view_thread *t = &v->thread[i];
    fault = compare("threads", i, "elapsed_ns", t->elapsed, "exec_ns + idle_ns + other_ns",
                    (sum_t)t->exec + t->idle + t->other);
  }
  for (size_t i = 0; i < v->loops && !fault; i++)
    if (v->loop[i].busy != UNKNOWN && v->loop[i].busy > v->loop[i].elapsed)
      fault = print_string("loop[%zu].busy_ns is %" PRIu64 ", more than its elapsed_ns", i,
                           v->loop[i].busy);
  return fault;
}

static char *check_live(const struct view *v) {
  sum_t listed = 0, counted = 0;
  for (size_t i = 0; i < v->lives; i++) {
    if (v->live[i].function >= v->functions)
      return print_string("live[%zu].function_index is %" PRIu64 ", but there are %zu functions", i,
                          v->live[i].function, v->functions);
    listed += v->live[i].count;
  }
  for (size_t i = 0; i < v->functions; i++)
    counted += v->function[i].live;
  if (listed != counted)
    return print_string("the functions have %" PRIu64 " live futures, but live[] lists %" PRIu64,
                        (uint64_t)counted, (uint64_t)listed);
  return NULL;
}

/* -- requests ------------------------------------------------------------------------- */

static char *check_kind(const struct view *v, size_t i) {
  const struct view_kind *k = &v->kind[i];
  sum_t exec = 0, waiting = 0;
  for (size_t j = 0; j < k->tiers; j++) {
    exec += k->tier[j].exec.sum;
    waiting += k->tier[j].waiting.sum;
  }
  /* What is of no tier is what is left, so that it is these that may be wrong. */
  if (exec > k->exec.sum)
    return print_string("requests[%zu].exec_ns is %" PRIu64 ", but its tiers have more", i,
                        k->exec.sum);
  if (waiting > k->waiting.sum)
    return print_string("requests[%zu].waiting_ns is %" PRIu64 ", but its tiers have more", i,
                        k->waiting.sum);
  return NULL;
}

/* -- the whole ------------------------------------------------------------------------ */

bool view_is_sound(const struct view *v) {
  char *fault = view_fault(v);
  if (fault)
    complain("%s is damaged, and no totals can be made of it: %s; `aprof reset' starts those of a "
             "live process again, a file is of no more use",
             v->what, fault);
  free(fault);
  return !fault;
}

char *view_fault(const struct view *v) {
  struct paths p = {.of = allocate(v->functions, sizeof *p.of),
                    .beneath = allocate(v->paths, sizeof *p.beneath),
                    .waits = allocate(v->paths, sizeof *p.waits)};
  char *fault = view_beyond(v);
  if (!fault)
    fault = check_threads(v);
  if (!fault)
    fault = check_tree(v, &p);
  for (size_t i = 0; i < v->functions && !fault; i++)
    fault = check_function(v, i, &p.of[i]);
  for (size_t i = 0; i < v->kinds && !fault; i++)
    fault = check_kind(v, i);
  if (!fault)
    fault = check_live(v);
  free(p.of);
  free(p.beneath);
  free(p.waits);
  return fault;
}
