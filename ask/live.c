/* SPDX-License-Identifier: MIT */
/* What lives, as a tree of groups; see live.h. */
#include "live.h"

#include "read/index.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool ask_ended(const struct view *v) {
  return !strcmp(v->process.reason, "exit") || !strcmp(v->process.reason, "recovered");
}

static bool is_on_pool(const struct view *v, const struct view_live *live) {
  for (size_t i = 0; i < v->loops; i++) {
    const struct view_loop *loop = &v->loop[i];
    if (loop->process == live->process && loop->tid == live->tid && loop->thread)
      return loop->thread->is_pool;
  }
  return false;
}

/* Who began to run with the last event of its process has held its loop for 0 then, and for who
   knows how long after. */
static bool is_holder(const struct view *v, const struct view_live *live) {
  return live->holds || (view_is(live, "running") && !live->since && !is_on_pool(v, live));
}

static bool is_listener(const struct view_live *live) {
  return live->background && view_is(live, "waiting");
}

/* -- who created whom ------------------------------------------------------ */

static int by_identity(const void *a, const void *b) {
  const struct view_live *x = *(const struct view_live *const *)a;
  const struct view_live *y = *(const struct view_live *const *)b;
  if (x->process != y->process)
    return x->process < y->process ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* Of each the index of its creator, if that is listed and no listener; or SIZE_MAX. */
static size_t *creators(const struct view *v) {
  size_t *parent = allocate(v->lives, sizeof *parent);
  const struct view_live **ids = allocate(v->lives, sizeof *ids);
  for (size_t i = 0; i < v->lives; i++)
    ids[i] = &v->live[i];
  qsort(ids, v->lives, sizeof *ids, by_identity);
  for (size_t i = 0; i < v->lives; i++) {
    const struct view_live key = {.process = v->live[i].process, .id = v->live[i].parent};
    const struct view_live *wanted = &key, **found = NULL;
    if (key.id)
      found = bsearch(&wanted, ids, v->lives, sizeof *ids, by_identity);
    parent[i] = found && !is_listener(*found) ? (size_t)(*found - v->live) : SIZE_MAX;
  }
  free(ids);
  return parent;
}

/* -- groups ---------------------------------------------------------------- */

struct grouping {
  const struct view *v;
  struct live_group *group; /* parents before children */
  size_t groups;
  struct index like;
};

static const char *known(const char *text) {
  return text ? text : "";
}

/* All that is shown of a future but its times; who runs has a line of its own, as has who did not
   come as one future. */
static char *key_of(const struct view_live *live, size_t parent) {
  bool runs = view_is(live, "running");
  return print_string("%zu %" PRIu64 " %" PRIu64 " %" PRId64 " %d%d%d%d\n%s\n%s\n%s\n%s", parent,
                      live->process, live->function, runs ? live->tid : 0, live->background,
                      live->aside, live->started || is_listener(live), live->due != 0,
                      known(live->state), known(live->place), known(live->callee),
                      live->place ? "" : known(live->created_at));
}

static void add(struct live_group *g, const struct view_live *live) {
  g->like = live->since > g->like->since ? live : g->like;
  g->count += live->count;
  g->age = live->age > g->age ? live->age : g->age;
  g->since = live->since > g->since ? live->since : g->since;
  g->since_min = live->since_min < g->since_min ? live->since_min : g->since_min;
  if (live->due && (!g->due || live->due < g->due))
    g->due = live->due;
  if (live->holds > g->held_beneath)
    g->held_beneath = live->holds;
  g->shed |= live->shed;
  g->lacks |= live->lacks;
}

/* The group of a future; `parent`: that of its creator. */
static size_t join(struct grouping *s, const struct view_live *live, size_t parent) {
  const struct live_group *found = index_get(&s->like, key_of(live, parent));
  if (found) {
    add(&s->group[found - s->group], live);
    return (size_t)(found - s->group);
  }
  struct live_group *g = &s->group[s->groups++];
  *g = (struct live_group){.like = live,
                           .parent = parent,
                           .depth = parent == SIZE_MAX ? 0 : s->group[parent].depth + 1,
                           .since_min = UNKNOWN,
                           .holds = is_holder(s->v, live)};
  add(g, live);
  if (g->holds && !g->held_beneath)
    g->held_beneath = 1;
  index_put(&s->like, key_of(live, parent), g);
  return (size_t)(g - s->group);
}

enum { UNSEEN = 0, ON_THE_WAY = 1, JOINED = 2 };

/* Creators join before what they created, however deep; where totals that were edited make a ring
   of them it is cut open. */
static void join_all(struct grouping *s, size_t *parent) {
  const struct view *v = s->v;
  unsigned char *state = allocate(v->lives, 1);
  size_t *of = allocate(v->lives, sizeof *of), *way = allocate(v->lives, sizeof *way);
  for (size_t i = 0; i < v->lives; i++) {
    size_t length = 0, at = i;
    for (; at != SIZE_MAX && state[at] == UNSEEN; at = parent[at]) {
      state[at] = ON_THE_WAY;
      way[length++] = at;
    }
    size_t above = at != SIZE_MAX && state[at] == JOINED ? of[at] : SIZE_MAX;
    while (length) {
      at = way[--length];
      above = of[at] = join(s, &v->live[at], above);
      state[at] = JOINED;
    }
  }
  free(state);
  free(of);
  free(way);
}

/* -- the order ------------------------------------------------------------- */

static int by_rank(const void *a, const void *b) {
  const struct live_group *x = *(const struct live_group *const *)a;
  const struct live_group *y = *(const struct live_group *const *)b;
  if (x->held_beneath != y->held_beneath)
    return x->held_beneath > y->held_beneath ? -1 : 1;
  if (x->age != y->age)
    return x->age > y->age ? -1 : 1;
  return x < y ? -1 : x > y;
}

static int by_count(const void *a, const void *b) {
  const struct live_group *x = a, *y = b;
  return x->count != y->count ? (x->count > y->count ? -1 : 1) : by_rank(&a, &b);
}

/* A depth-first walk over groups that are sorted: each is put in front of its elder brothers, last
   first, so lists of children begin with the first. */
static void walk(struct live_tree *tree, const struct grouping *s, const struct live_group **sorted,
                 size_t count) {
  size_t *first = allocate(s->groups + 1, sizeof *first);
  size_t *next = allocate(s->groups + 1, sizeof *next);
  size_t *place = allocate(s->groups, sizeof *place);
  for (size_t i = count; i--;) { /* list 0: roots; numbers are one more than indices */
    size_t at = (size_t)(sorted[i] - s->group), list = sorted[i]->parent + 1;
    next[at + 1] = first[list];
    first[list] = at + 1;
  }
  for (size_t at = first[0]; at;) {
    struct live_group *g = &tree->group[tree->groups];
    *g = s->group[at - 1];
    g->parent = g->parent == SIZE_MAX ? SIZE_MAX : place[g->parent];
    place[at - 1] = tree->groups++;
    if (first[at]) {
      at = first[at];
      continue;
    }
    while (at && !next[at])
      at = s->group[at - 1].parent + 1;
    at = at ? next[at] : 0;
  }
  free(first);
  free(next);
  free(place);
}

static void count_states(struct live_tree *tree, const struct view *v) {
  for (size_t i = 0; i < v->lives; i++) {
    const struct view_live *live = &v->live[i];
    uint64_t *of = is_listener(live)          ? &tree->listening
                   : view_is(live, "running") ? &tree->running
                   : view_is(live, "queued")  ? &tree->queued
                   : view_is(live, "waiting") ? &tree->waiting
                                              : &tree->unknown;
    *of += live->count;
    tree->apart += live->id ? 0 : live->count;
  }
}

struct live_tree ask_live(const struct view *v) {
  struct live_tree tree = {0};
  struct grouping s = {.v = v, .group = allocate(v->lives, sizeof *s.group)};
  size_t *parent = creators(v), count = 0;
  index_new(&s.like, v->lives);
  join_all(&s, parent);
  free(parent);
  index_free(&s.like);
  for (size_t i = s.groups; i--;) { /* children come behind */
    struct live_group *up = s.group[i].parent != SIZE_MAX ? &s.group[s.group[i].parent] : NULL;
    if (up && s.group[i].held_beneath > up->held_beneath)
      up->held_beneath = s.group[i].held_beneath;
  }
  const struct live_group **sorted = allocate(s.groups, sizeof *sorted);
  tree.group = allocate(s.groups, sizeof *tree.group);
  tree.listener = allocate(s.groups, sizeof *tree.listener);
  for (size_t i = 0; i < s.groups; i++)
    if (is_listener(s.group[i].like))
      tree.listener[tree.listeners++] = s.group[i];
    else
      sorted[count++] = &s.group[i];
  qsort(sorted, count, sizeof *sorted, by_rank);
  qsort(tree.listener, tree.listeners, sizeof *tree.listener, by_count);
  walk(&tree, &s, sorted, count);
  count_states(&tree, v);
  free(sorted);
  free(s.group);
  return tree;
}

void ask_live_free(struct live_tree *tree) {
  free(tree->group);
  free(tree->listener);
}
