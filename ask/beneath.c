/* SPDX-License-Identifier: MIT */
/* Functions by requests; see beneath.h. */
#include "beneath.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && !strcmp(a, b));
}

/* Requests of that kind, of which there are any, begin in it. */
static bool is_named(const struct view_function *f, const struct view_kind *k) {
  return f->line == k->line && ask_is_active(k) && !strcmp(f->name, k->function) &&
         same_text(f->file, k->file);
}

const struct view_function *ask_root_of(const struct view *v, const struct view_kind *k) {
  for (size_t i = 0; i < v->functions; i++)
    if (is_named(&v->function[i], k))
      return &v->function[i];
  return NULL;
}

size_t ask_kinds_of_root(const struct view *v, const struct view_function *root) {
  size_t count = 0;
  for (size_t i = 0; i < v->kinds; i++)
    count += is_named(root, &v->kind[i]);
  return count;
}

/* -- which path is of which root ---------------------------------------------------------- */

struct place {
  int64_t root, function; /* indexes of functions; root NONE */
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
      is[i] = is_named(&v->function[i], &v->kind[j]);
  return is;
}

/* Paths of functions and of their spans; parents come before their children. */
static struct place *places_of(const struct view *v, size_t *count) {
  bool *is_root = roots_of(v);
  int64_t *root = allocate(v->paths + 1, sizeof *root);
  struct place *place = allocate(v->paths + 1, sizeof *place);
  *count = 0;
  for (size_t i = 0; i < v->paths; i++) {
    const struct view_path *path = &v->path[i];
    bool known = path->function < v->functions;
    root[i] = known && !path->is_await && is_root[path->function] ? (int64_t)path->function
              : path->parent < i                                  ? root[path->parent]
                                                                  : NONE;
    if (known && !path->is_await)
      place[(*count)++] = (struct place){root[i], (int64_t)path->function, path};
  }
  free(is_root);
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
  add_to(&to->created, path->created);
  add_to(&to->done, path->done);
  add_to(&to->failed, path->failed);
  add_to(&to->cancelled, path->cancelled);
  add_to(&to->detached, path->detached);
  add_to(&to->live, path->live);
  add_to(&to->born_done, path->born_done);
  add_to(&to->slices, path->slices);
}

/* All of it, as it stands in the view, or so much of it as the places say. */
static void fill(struct beneath_function *to, const struct view *v, const struct place *place,
                 size_t count, bool all) {
  const struct view_function *whole = &v->function[place->function];
  to->whole = whole;
  to->root = place->root == NONE ? NULL : &v->function[place->root];
  to->is_whole = all;
  to->part = *whole;
  if (all)
    return;
  struct view_function *part = &to->part;
  const struct distribution none = {0};
  part->exec_of = part->slice_of = part->wall_of = part->queued_of = none;
  part->exec_max = part->slice_max = part->wall_max = UNKNOWN;
  part->awaits = part->wakers = part->blockings = part->delays = 0;
  part->created = part->done = part->failed = part->cancelled = part->detached = 0;
  part->live = part->born_done = part->slices = part->queued = part->waiting = 0;
  part->exec = whole->exec == UNKNOWN ? UNKNOWN : 0;
  for (size_t i = 0; i < count; i++)
    add_path(part, place[i].path);
  uint64_t over = part->done + part->failed + part->cancelled + part->detached + part->live;
  part->live_before = over > part->created ? over - part->created : 0;
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
