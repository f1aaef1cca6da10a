/* SPDX-License-Identifier: MIT */
/* A view of some kinds of requests; see narrow.h. */
#include "narrow.h"

#include "beneath.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* Which functions requests that are meant begin in. */
static bool *roots_of(const struct view *v, const struct request_filter *f) {
  bool *is = allocate(v->functions + 1, sizeof *is);
  for (size_t i = 0; i < v->kinds; i++)
    if (ask_is_meant(f, &v->kind[i]))
      for (size_t j = 0; j < v->functions; j++)
        is[j] |= ask_begins_in(&v->kind[i], &v->function[j]);
  return is;
}

/* -- functions -------------------------------------------------------------------------------- */

static void clear_awaits(struct view *v, struct view_function *f) {
  struct view_await *own = arena_get(&v->arena, f->awaits, sizeof *own);
  for (size_t i = 0; i < f->awaits; i++) {
    own[i] = f->await[i];
    own[i].count = own[i].immediate = own[i].waiting = own[i].open = own[i].ended = 0;
    own[i].max = UNKNOWN;
    own[i].waits = (struct distribution){0};
  }
  f->await = own;
}

/* Its parts beneath the roots that are meant, added up. */
static void keep(struct view *v, const struct beneath *all, const bool *is_root) {
  struct view_function *part = allocate(v->functions + 1, sizeof *part);
  bool *any = allocate(v->functions + 1, sizeof *any),
       *whole = allocate(v->functions + 1, sizeof *whole);
  for (size_t i = 0; i < all->functions; i++) {
    const struct beneath_function *b = &all->function[i];
    size_t at = (size_t)(b->whole - v->function);
    if (!b->root || !is_root[b->root - v->function])
      continue;
    if (any[at])
      ask_add_part(&part[at], &b->part);
    else
      part[at] = b->part;
    any[at] = true;
    whole[at] = b->is_whole;
  }
  for (size_t i = 0; i < v->functions; i++) {
    struct view_function *f = &v->function[i];
    if (whole[i])
      continue;
    if (any[i])
      *f = part[i];
    else
      ask_clear_part(f);
    f->wakers = f->blockings = f->delays = 0;
    f->lateness.is = false;
    clear_awaits(v, f);
  }
  free(part);
  free(any);
  free(whole);
}

/* -- paths --------------------------------------------------------------------------------------
 */

/* What it waited beneath others is not of its functions' awaits any more. */
static void add_await(struct view *v, struct view_path *path, const struct view_await *before,
                      const struct view_function *old) {
  struct view_function *f = path->function < v->functions ? &v->function[path->function] : NULL;
  if (!f || !before || f->await == old->await)
    return;
  struct view_await *a = &f->await[before - old->await];
  add_to(&a->count, path->count);
  add_to(&a->immediate, path->immediate);
  add_to(&a->waiting, path->waiting);
  add_to(&a->open, path->open);
  add_to(&a->ended, path->ended);
  if (path->max != UNKNOWN && (a->max == UNKNOWN || path->max > a->max))
    a->max = path->max;
  path->await = a;
}

static void keep_paths(struct view *v, const size_t *root, const bool *is_root,
                       const struct view_function *old) {
  size_t *place = allocate(v->paths + 1, sizeof *place), kept = 0;
  for (size_t i = 0; i < v->paths; i++) {
    struct view_path path = v->path[i];
    place[i] = SIZE_MAX;
    if (root[i] == SIZE_MAX || !is_root[root[i]])
      continue;
    path.parent = path.parent < i ? place[path.parent] : SIZE_MAX;
    path.parent_id = path.parent == SIZE_MAX ? 0 : path.parent_id;
    if (path.is_await && path.function < v->functions)
      add_await(v, &path, path.await, &old[path.function]);
    place[i] = kept;
    v->path[kept++] = path;
  }
  v->paths = kept;
  free(place);
}

/* -- all ------------------------------------------------------------------------------------------
 */

bool ask_narrow(struct view *v, const struct request_filter *f) {
  if (!f->kind && !f->tier)
    return true;
  struct beneath all = ask_beneath(v);
  size_t *root = ask_path_roots(v);
  bool *is_root = roots_of(v, f);
  struct view_function *old = allocate(v->functions + 1, sizeof *old);
  if (v->functions)
    memcpy(old, v->function, v->functions * sizeof *old);
  keep(v, &all, is_root);
  keep_paths(v, root, is_root, old);
  ask_beneath_free(&all);
  free(root);
  free(is_root);
  free(old);
  return ask_keep_requests(v, f);
}
