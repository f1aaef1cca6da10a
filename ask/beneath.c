/* SPDX-License-Identifier: MIT */
/* Functions by requests; see beneath.h. */
#include "beneath.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && !strcmp(a, b));
}

bool ask_begins_in(const struct view_kind *k, const struct view_function *f) {
  return f->line == k->line && ask_is_active(k) && !strcmp(f->name, k->function) &&
         same_text(f->file, k->file);
}

const struct view_function *ask_root_of(const struct view *v, const struct view_kind *k) {
  for (size_t i = 0; i < v->functions; i++)
    if (ask_begins_in(k, &v->function[i]))
      return &v->function[i];
  return NULL;
}

size_t ask_kinds_of_root(const struct view *v, const struct view_function *root) {
  size_t count = 0;
  for (size_t i = 0; i < v->kinds; i++)
    count += ask_begins_in(&v->kind[i], root);
  return count;
}

/* -- which path is of which root ---------------------------------------------------------- */

struct place {
  size_t root, function; /* indexes of functions; root SIZE_MAX: none */
  const struct view_path *path;
};

/* Of several processes that are told apart a function may be there more than once: each begins
   them. Most functions stand in lines that no kind names. */
static bool *roots_of(const struct view *v) {
  enum { LINES = 4096 };
  bool *is = allocate(v->functions + 1, sizeof *is), of_line[LINES] = {false};
  for (size_t i = 0; i < v->kinds; i++)
    of_line[v->kind[i].line % LINES] = true;
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; !is[i] && of_line[v->function[i].line % LINES] && j < v->kinds; j++)
      is[i] = ask_begins_in(&v->kind[j], &v->function[i]);
  return is;
}

size_t *ask_path_roots(const struct view *v) {
  bool *is_root = roots_of(v);
  size_t *root = allocate(v->paths + 1, sizeof *root);
  for (size_t i = 0; i < v->paths; i++) {
    const struct view_path *path = &v->path[i];
    bool begins = path->function < v->functions && !path->is_await && is_root[path->function];
    root[i] = begins ? path->function : path->parent < i ? root[path->parent] : SIZE_MAX;
  }
  free(is_root);
  return root;
}

/* Paths of functions and of their spans; parents come before their children. */
static struct place *places_of(const struct view *v, size_t *count) {
  size_t *root = ask_path_roots(v);
  struct place *place = allocate(v->paths + 1, sizeof *place);
  *count = 0;
  for (size_t i = 0; i < v->paths; i++)
    if (v->path[i].function < v->functions && !v->path[i].is_await)
      place[(*count)++] = (struct place){root[i], v->path[i].function, &v->path[i]};
  free(root);
  return place;
}

static int by_root(const void *a, const void *b) {
  const struct place *x = a, *y = b;
  if (x->root != y->root)
    return x->root < y->root ? -1 : 1;
  return x->function < y->function ? -1 : x->function > y->function;
}

/* -- sums ------------------------------------------------------------------------------------ */

static void add_known(uint64_t *to, uint64_t what) {
  if (*to != UNKNOWN)
    *to = what == UNKNOWN ? UNKNOWN : plus(*to, what);
}

/* What it ran and waited in spans is its own; they are no futures. */
static void add_path(struct view_function *to, const struct view_path *path) {
  add_known(&to->exec, path->exec);
  add_known(&to->waiting, path->waiting);
  if (view_is_span(path))
    return;
  add_known(&to->queued, path->queued);
  add_known(&to->children_exec, path->children_exec);
  add_to(&to->created, path->created);
  add_to(&to->done, path->done);
  add_to(&to->failed, path->failed);
  add_to(&to->cancelled, path->cancelled);
  add_to(&to->detached, path->detached);
  add_to(&to->live, path->live);
  add_to(&to->born_done, path->born_done);
  add_to(&to->slices, path->slices);
}

/* What follows from its sums. Where it ran on loops and in pools both, at least so much was on
   loops. */
static void settle(struct view_function *f) {
  uint64_t over = f->done + f->failed + f->cancelled + f->detached + f->live, exec = f->exec;
  f->live_before = over > f->created ? over - f->created : 0;
  f->loop_exec = exec != UNKNOWN && exec > f->pool_exec ? exec - f->pool_exec : 0;
  f->wall = exec == UNKNOWN || f->queued == UNKNOWN || f->waiting == UNKNOWN
                ? UNKNOWN
                : plus(plus(exec, f->queued), f->waiting);
}

void ask_clear_part(struct view_function *f) {
  const struct distribution none = {0};
  f->exec_of = f->slice_of = f->wall_of = f->queued_of = none;
  f->exec_max = f->slice_max = f->wall_max = f->on_cpu_least = f->on_cpu_most = UNKNOWN;
  f->slice_between[0] = f->slice_between[1] = f->slice_names[0] = f->slice_names[1] = NULL;
  f->mostly = NULL;
  f->created = f->done = f->failed = f->cancelled = f->detached = f->live = f->born_done = 0;
  f->slices = f->waiting = f->children_exec = f->loop_exec = f->live_before = f->wall = 0;
  f->queued = f->queued == UNKNOWN ? UNKNOWN : 0;
  f->exec = f->exec == UNKNOWN ? UNKNOWN : 0;
}

void ask_add_part(struct view_function *to, const struct view_function *part) {
  const struct view_path path = {.exec = part->exec,
                                 .waiting = part->waiting,
                                 .queued = part->queued,
                                 .children_exec = part->children_exec,
                                 .created = part->created,
                                 .done = part->done,
                                 .failed = part->failed,
                                 .cancelled = part->cancelled,
                                 .detached = part->detached,
                                 .live = part->live,
                                 .born_done = part->born_done,
                                 .slices = part->slices};
  add_path(to, &path);
  settle(to);
}

/* All of it, as it stands in the view, or so much of it as the places say. */
static void fill(struct beneath_function *to, const struct view *v, const struct place *place,
                 size_t count, bool all) {
  to->whole = &v->function[place->function];
  to->root = place->root == SIZE_MAX ? NULL : &v->function[place->root];
  to->is_whole = all;
  to->part = *to->whole;
  if (all)
    return;
  ask_clear_part(&to->part);
  for (size_t i = 0; i < count; i++)
    add_path(&to->part, place[i].path);
  settle(&to->part);
}

struct beneath ask_beneath(const struct view *v) {
  size_t places;
  struct place *place = places_of(v, &places);
  size_t *roots = allocate(v->functions + 1, sizeof *roots); /* that a function is beneath */
  struct beneath all = {.function = allocate(places + 1, sizeof *all.function)};
  if (places)
    qsort(place, places, sizeof *place, by_root);
  for (size_t i = 0; i < places; i++)
    roots[place[i].function] += !i || by_root(&place[i - 1], &place[i]);
  for (size_t from = 0, to; from < places; from = to) {
    for (to = from + 1; to < places && !by_root(&place[from], &place[to]);)
      to++;
    fill(&all.function[all.functions++], v, &place[from], to - from,
         roots[place[from].function] == 1);
  }
  free(roots);
  free(place);
  return all;
}

void ask_beneath_free(struct beneath *all) {
  free(all->function);
  *all = (struct beneath){0};
}

static uint64_t time_of(const struct view_function *f) {
  const uint64_t sum[] = {f->exec, f->queued, f->waiting};
  uint64_t time = 0;
  for (size_t i = 0; i < sizeof sum / sizeof *sum; i++)
    add_to(&time, sum[i] == UNKNOWN ? 0 : sum[i]);
  return time;
}

/* Of those that begin there. */
static const struct view_kind *main_kind(const struct view *v, const struct view_function *root) {
  const struct view_kind *most = NULL;
  for (size_t i = 0; i < v->kinds; i++)
    if (ask_begins_in(&v->kind[i], root) && (!most || v->kind[i].member > most->member))
      most = &v->kind[i];
  return most;
}

const struct view_kind **ask_kinds_above(const struct view *v) {
  struct beneath all = ask_beneath(v);
  const struct view_kind **kind = allocate(v->functions + 1, sizeof(struct view_kind *));
  uint64_t *longest = allocate(v->functions + 1, sizeof *longest);
  for (size_t i = 0; i < all.functions; i++) {
    const struct beneath_function *b = &all.function[i];
    size_t at = (size_t)(b->whole - v->function);
    uint64_t time = time_of(&b->part);
    if (!b->root || (kind[at] && time <= longest[at]))
      continue;
    kind[at] = main_kind(v, b->root);
    longest[at] = time;
  }
  free(longest);
  ask_beneath_free(&all);
  return kind;
}
