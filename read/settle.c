/* SPDX-License-Identifier: MIT */
/* Computes what follows from a view's members: which belong together, and who holds which loop; see
   view.h. */
#include "settle.h"

#include "index.h"
#include "util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct view *view_new(const char *what) {
  struct view *v = allocate(1, sizeof *v);
  v->what = arena_text(&v->arena, what);
  return v;
}

void view_free(struct view *v) {
  if (v)
    arena_free(&v->arena);
  free(v);
}

/* -- functions without events ------------------------------------------------------------ */

bool view_is(const struct view_live *live, const char *state) {
  return live->state && !strcmp(live->state, state);
}

/* A number that was not measured is none: a ready future may have run, or run now. */
static void forget_unseen(struct view *v) {
  for (size_t i = 0; i < v->functions; i++) {
    struct view_function *f = &v->function[i];
    if (f->instrumented || f->slices || f->exec)
      continue;
    f->wall = f->queued = f->exec = f->exec_max = UNKNOWN;
    f->exec_of = f->queued_of = (struct distribution){0};
    f->wakers = 0;
    f->lateness = (struct view_lateness){0};
  }
  for (size_t i = 0; i < v->paths; i++) {
    struct view_path *path = &v->path[i];
    if (!path->is_await && path->function < v->functions &&
        view_unseen(&v->function[path->function]))
      path->wall = path->queued = path->exec = UNKNOWN;
  }
  for (size_t i = 0; i < v->lives; i++) {
    struct view_live *live = &v->live[i];
    if (view_is(live, "queued") && live->function < v->functions &&
        view_unseen(&v->function[live->function]))
      live->state = NULL;
  }
}

/* -- paths ---------------------------------------------------------------------------- */

/* Paths come with rising ids, parents first. */
static size_t find_path(const struct view *v, size_t before, uint64_t id) {
  size_t low = 0, high = before;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (v->path[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < before && v->path[low].id == id ? low : SIZE_MAX;
}

/* Leaves out waits that go on. Older totals do not say which part those are. */
static uint64_t without(uint64_t all, uint64_t part) {
  return all > part ? all - part : 0;
}

static bool is_one_of(const char *text, const char *const *list) {
  while (*list && strcmp(text, *list) != 0)
    list++;
  return *list != NULL;
}

bool view_is_outside(const char *kind) {
  static const char *const inner[] = {"call", "run", "function", NULL};
  return !is_one_of(kind, inner);
}

bool view_may_be_right(const char *kind) {
  static const char *const perhaps[] = {"await", "end", "wake", "switch", "before", NULL};
  return is_one_of(kind, perhaps);
}

static const char *waits_for(const char *kind, bool background) {
  return background ? "new_work" : view_is_outside(kind) ? "outside" : "child";
}

static void settle_paths(struct view *v) {
  for (size_t i = 0; i < v->paths; i++) {
    struct view_path *path = &v->path[i];
    path->parent = path->parent_id ? find_path(v, i, path->parent_id) : SIZE_MAX;
    path->ended = without(path->waiting, path->open);
    path->waits_for = path->is_await ? waits_for(path->kind, path->background) : NULL;
  }
}

static char *place_key(uint64_t function, const char *place, const char *callee, bool background) {
  return print_string("%d%" PRIu64 "\n%s\n%s", background, function, place ? place : "", callee);
}

static char *await_key(size_t function, const struct view_await *a) {
  char line[32] = "";
  if (a->file && a->line)
    snprintf(line, sizeof line, ":%" PRIu64, a->line);
  return print_string("%d%zu\n%s%s\n%s", a->background, function, a->file ? a->file : "", line,
                      a->callee);
}

static bool is_place(const char *place, const struct view_await *a) {
  const char *file = a->file ? a->file : "", *rest = place ? place : "";
  size_t length = strlen(file);
  uint64_t line;
  if (strncmp(rest, file, length) != 0)
    return false;
  rest += length;
  return a->file && a->line ? *rest == ':' && parse_number(rest + 1, &line) && line == a->line
                            : !*rest;
}

/* Functions mostly have a few awaits: no index is needed for these. */
enum { FEW_AWAITS = 64 };

static const struct view_await *find_await(const struct view *v, const struct index *x,
                                           uint64_t function, const char *place, const char *callee,
                                           bool background) {
  const struct view_function *f = function < v->functions ? &v->function[function] : NULL;
  if (!f || f->awaits > FEW_AWAITS)
    return f ? index_get(x, place_key(function, place, callee, background)) : NULL;
  for (size_t i = 0; i < f->awaits; i++)
    if (f->await[i].background == background && !strcmp(f->await[i].callee, callee) &&
        is_place(place, &f->await[i]))
      return &f->await[i];
  return NULL;
}

static void find_awaits(struct view *v) {
  struct index x;
  size_t awaits = 0;
  for (size_t i = 0; i < v->functions; i++)
    awaits += v->function[i].awaits > FEW_AWAITS ? v->function[i].awaits : 0;
  index_new(&x, awaits);
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; v->function[i].awaits > FEW_AWAITS && j < v->function[i].awaits; j++)
      index_put(&x, await_key(i, &v->function[i].await[j]), &v->function[i].await[j]);
  for (size_t i = 0; i < v->paths; i++) {
    struct view_path *path = &v->path[i];
    if (path->is_await)
      path->await = find_await(v, &x, path->function, path->place, path->name, path->background);
  }
  for (size_t i = 0; i < v->lives; i++) {
    struct view_live *live = &v->live[i];
    bool background = live->background;
    if (!live->callee)
      continue;
    live->await = find_await(v, &x, live->function, live->place, live->callee, background);
    if (!live->await) /* one of the two says which */
      live->await = find_await(v, &x, live->function, live->place, live->callee, !background);
  }
  index_free(&x);
}

/* -- threads -------------------------------------------------------------------------- */

static char *thread_key(uint64_t process, int64_t number) {
  return print_string("%" PRIu64 " %" PRId64, process, number);
}

static int64_t pid_of(const struct view *v, uint64_t process) {
  return process < v->processes ? v->merged[process].pid : v->process.pid;
}

static void find_threads(struct view *v) {
  struct index x;
  index_new(&x, v->threads);
  for (size_t i = 0; i < v->threads; i++)
    index_put(&x, thread_key(v->thread[i].process, (int64_t)v->thread[i].block), &v->thread[i]);
  for (size_t i = 0; i < v->loops; i++) {
    struct view_loop *loop = &v->loop[i];
    struct view_thread *t =
        (struct view_thread *)index_get(&x, thread_key(loop->process, (int64_t)loop->block));
    loop->thread = t;
    if (t)
      t->is_pool = loop->slice_max == UNKNOWN && loop->open == UNKNOWN && t->exec &&
                   loop->tid != pid_of(v, loop->process) && !(t->shed >> APROF_STEP_COARSE);
  }
  index_free(&x);
}

/* Who runs holds the loop of the thread, unless that is a pool's; and a hold that goes on
   may be the longest of its loop. */
void settle_holds(struct view *v) {
  struct index x;
  index_new(&x, v->loops);
  for (size_t i = 0; i < v->loops; i++) {
    struct view_loop *loop = &v->loop[i];
    loop->hold_max = loop->slice_max;
    loop->from = loop->slice_between[0];
    loop->to = loop->slice_between[1];
    loop->function = loop->slice_function;
    index_put(&x, thread_key(loop->process, loop->tid), loop);
  }
  for (size_t i = 0; i < v->lives; i++) {
    struct view_live *live = &v->live[i];
    if (!view_is(live, "running"))
      continue;
    struct view_loop *loop =
        (struct view_loop *)index_get(&x, thread_key(live->process, live->tid));
    if (loop && loop->thread && loop->thread->is_pool)
      continue;
    live->holds = live->since_min;
    if (loop && loop->open != UNKNOWN && loop->open >= live->holds) {
      live->holds = loop->open;
      live->held_by = loop->open_function;
      live->held_from = loop->open_from;
    }
    if (!loop || (loop->hold_max != UNKNOWN && loop->hold_max >= live->holds))
      continue;
    loop->hold_max = live->holds;
    loop->from = loop->to = NULL;
    loop->function = live->held_by                   ? live->held_by
                     : live->function < v->functions ? v->function[live->function].name
                                                     : NULL;
  }
  index_free(&x);
}

/* Times of what lives are those of the thread that ran it last, if any is known. */
static void find_shed(struct view *v) {
  struct index x;
  if (!v->shed)
    return;
  index_new(&x, v->threads);
  for (size_t i = 0; i < v->threads; i++)
    index_put(&x, thread_key(v->thread[i].process, v->thread[i].tid), &v->thread[i]);
  for (size_t i = 0; i < v->lives; i++) {
    struct view_live *live = &v->live[i];
    const struct view_thread *t = index_get(&x, thread_key(live->process, live->tid));
    live->shed = t ? t->shed : v->shed;
    if (live->function < v->functions)
      live->shed |= v->function[live->function].shed;
    live->lacks = view_lacks(v, live->shed);
  }
  index_free(&x);
}

/* After a reset, and in older totals, what a thread's events cost is not known: then all cost the
   same, if nothing can be shed. Nor is a share where more was paid than is known to be work: of
   a thread without a poller that sleeps outside futures. */
void settle_overhead(struct view *v) {
  double worked = 0, all = 0;
  bool alike = v->is_interval && !v->governed.is && v->health.event_cost != UNKNOWN;
  for (size_t i = 0; i < v->threads; i++) {
    struct view_thread *t = &v->thread[i];
    double cost = t->cost != UNKNOWN ? (double)t->cost
                  : alike            ? (double)t->events * (double)v->health.event_cost
                                     : -1;
    t->overhead = -1;
    if (t->worked == UNKNOWN || cost < 0 || cost >= (double)t->worked)
      continue;
    t->overhead = 100 * cost / (double)t->worked;
    worked += (double)t->worked;
    all += cost;
  }
  v->health.overhead = worked > 0 ? 100 * all / worked : -1;
}

/* -- the whole ------------------------------------------------------------------------ */

void settle_functions(struct view *v) {
  for (size_t i = 0; i < v->functions; i++)
    v->function[i].loop_exec =
        view_unseen(&v->function[i]) ? 0 : without(v->function[i].exec, v->function[i].pool_exec);
  governed_settle(v);
}

void view_settle(struct view *v) {
  forget_unseen(v);
  for (size_t i = 0; i < v->functions; i++) {
    struct view_function *f = &v->function[i];
    f->live_before = UNKNOWN;
    for (size_t j = 0; j < f->awaits; j++) {
      struct view_await *a = &f->await[j];
      a->ended = without(a->waiting, a->open);
      a->waits_for = waits_for(a->kind, a->background);
    }
  }
  settle_paths(v);
  settle_functions(v);
  settle_requests(v);
  find_awaits(v);
  find_threads(v);
  settle_holds(v);
  find_shed(v);
}
