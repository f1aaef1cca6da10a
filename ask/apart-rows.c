/* SPDX-License-Identifier: MIT */
/* Where the time of a kind's requests went, in one group and in the others; see apart.h. */
#include "apart.h"

#include "ask.h"
#include "beneath.h"
#include "blame.h"
#include "read/index.h"
#include "read/util.h"
#include "record/story-build.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NONES = 3 }; /* queued behind no function: by enum blame_none */

struct apart_rows {
  struct story *story;
  const struct view *const *view;
  size_t views;
  struct known {        /* of each view */
    uint32_t *path;     /* of its paths: that of the story */
    uint32_t *function; /* of its functions: one that stands for it, as a culprit */
    size_t *root;       /* see ask_path_roots */
  } * known;
  uint32_t *row_of; /* by what and path, then those of no path */
  struct tail *tail;
  size_t room;
};

static uint64_t number(uint64_t n) {
  return n == UNKNOWN ? 0 : n;
}

/* -- paths of all views as those of one story --------------------------------------------- */

struct names {
  struct apart_rows *all;
  struct index x;
  bool lines; /* the same place in all of them */
};

/* Builds differ in lines, and little else. */
static bool one_build(const struct apart_rows *all) {
  const char *build = all->views ? all->view[0]->process.build_id : NULL;
  for (size_t i = 1; i < all->views; i++) {
    const char *other = all->view[i]->process.build_id;
    if ((build != NULL) != (other != NULL) || (build && strcmp(build, other) != 0))
      return false;
  }
  return true;
}

static uint32_t add_path(struct names *n, uint32_t parent, enum story_path_kind kind,
                         const char *name, const char *file, uint64_t line) {
  struct story *s = n->all->story;
  const char *base = file ? base_name(file) : "";
  char *key = print_string("%" PRIu32 " %d %s\n%s:%" PRIu64, parent, (int)kind, name, base,
                           n->lines ? line : 0);
  const uint32_t *there = index_get(&n->x, print_string("%s", key));
  if (there) {
    free(key);
    return *there;
  }
  uint32_t *made = arena_get(&s->arena, 1, sizeof *made);
  *made = story_add_path(s, parent, kind, name, file, (uint32_t)line);
  index_put(&n->x, key, made);
  return *made;
}

static uint32_t add_placed(struct names *n, uint32_t parent, enum story_path_kind kind,
                           const char *name, const char *place) {
  const char *colon = place ? strrchr(place, ':') : NULL;
  uint64_t line = 0;
  bool split = colon && parse_number(colon + 1, &line) && line <= UINT32_MAX;
  const char *file = split   ? turn_text("%.*s", (int)(colon - place), place)
                     : place ? turn_text("%s", place)
                             : NULL;
  return add_path(n, parent, kind, name, file, split ? line : 0);
}

static void add_view(struct names *n, size_t which) {
  const struct view *v = n->all->view[which];
  struct known *k = &n->all->known[which];
  k->root = ask_path_roots(v);
  k->path = allocate(v->paths + 1, sizeof *k->path);
  k->function = allocate(v->functions + 1, sizeof *k->function);
  for (size_t i = 0; i < v->functions; i++)
    k->function[i] = add_path(n, STORY_NONE, STORY_FUNCTION, v->function[i].name,
                              v->function[i].file, v->function[i].line);
  for (size_t i = 0; i < v->paths; i++) {
    const struct view_path *p = &v->path[i];
    uint32_t parent = p->parent == SIZE_MAX ? STORY_NONE : k->path[p->parent];
    const struct view_function *f = p->function < v->functions ? &v->function[p->function] : NULL;
    const char *name = p->name && *p->name ? p->name : p->is_await ? "its return" : "(unknown)";
    k->path[i] = p->is_await       ? add_placed(n, parent, STORY_AWAIT, name, p->place)
                 : view_is_span(p) ? add_placed(n, parent, STORY_SPAN, name, p->place)
                                   : add_path(n, parent, STORY_FUNCTION, name, f ? f->file : NULL,
                                              f ? f->line : 0);
  }
}

struct apart_rows *apart_rows_new(struct story *s, const struct view *const *view, size_t views) {
  struct apart_rows *all = allocate(1, sizeof *all);
  *all = (struct apart_rows){.story = s, .view = view, .views = views};
  struct names n = {.all = all, .lines = one_build(all)};
  size_t room = 0;
  for (size_t i = 0; i < views; i++)
    room += view[i]->paths + view[i]->functions;
  index_new(&n.x, room);
  all->known = allocate(views + 1, sizeof *all->known);
  for (size_t i = 0; i < views; i++)
    add_view(&n, i);
  index_free(&n.x);
  story_finish(s);
  all->row_of = allocate(CRITICAL_WHATS * (size_t)s->paths_count + NONES + 1, sizeof *all->row_of);
  return all;
}

void apart_rows_free(struct apart_rows *all) {
  for (size_t i = 0; i < all->views; i++) {
    free(all->known[i].path);
    free(all->known[i].function);
    free(all->known[i].root);
  }
  free(all->known);
  free(all->row_of);
  free(all);
}

/* -- rows ---------------------------------------------------------------------------------- */

struct side {
  struct apart_rows *rows;
  enum tail_side of;
  uint64_t requests; /* of the view */
};

static struct tail_row *row_at(struct apart_rows *all, size_t place, struct tail_row row) {
  struct tail *t = all->tail;
  if (all->row_of[place] == STORY_NONE) {
    if (t->rows == all->room) {
      all->room = all->room ? all->room * 2 : 32;
      t->row = reallocate(t->row, all->room, sizeof *t->row);
    }
    t->row[t->rows] = row;
    all->row_of[place] = (uint32_t)t->rows++;
  }
  return &t->row[all->row_of[place]];
}

/* Who did it at all is not known: each request did, where any did. */
static void add(const struct side *s, enum critical_what what, uint32_t path, int none,
                uint64_t time, uint64_t times) {
  struct apart_rows *all = s->rows;
  size_t paths = all->story->paths_count;
  size_t place = path != STORY_NONE ? what * paths + path : CRITICAL_WHATS * paths + (size_t)-none;
  if (!time && !times)
    return;
  struct tail_row *row =
      row_at(all, place, (struct tail_row){.what = what, .path = path, .none = none});
  add_to(&row->time[s->of], time);
  add_to(&row->times[s->of], times ? times : 1);
  add_to(&row->requests[s->of], s->requests);
  add_to(&all->tail->wall[s->of], time);
}

/* Behind those that the totals name, each with its share of what this path was queued. */
static void add_queued(const struct side *s, size_t which, const struct view_path *p) {
  const struct view *v = s->rows->view[which];
  const struct view_function *own = p->function < v->functions ? &v->function[p->function] : NULL;
  uint64_t left = number(p->queued), all = own ? number(own->queued) : 0;
  double share = all ? (double)left / (double)all : 0;
  for (size_t i = 0; own && left && i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].delays; j++) {
      const struct view_delayed *d = &v->function[i].delayed[j];
      if (strcmp(d->name, own->name) != 0 || d->line != own->line)
        continue;
      uint64_t time = rounded(share * (double)d->delayed);
      time = time < left ? time : left;
      add(s, CRITICAL_QUEUED, s->rows->known[which].function[i], 0, time, d->count);
      left -= time;
    }
  add(s, CRITICAL_QUEUED, STORY_NONE, BLAME_SHORT, left, left ? number(p->slices) : 0);
}

static void add_one(const struct side *s, size_t which, size_t at) {
  const struct view_path *p = &s->rows->view[which]->path[at];
  uint32_t path = s->rows->known[which].path[at];
  if (p->is_await) {
    if (ask_waits_outside(p) && !p->background)
      add(s, CRITICAL_WAITING, path, 0, number(p->waiting), number(p->count));
    return;
  }
  bool span = view_is_span(p);
  add(s, CRITICAL_EXEC, path, 0, number(p->exec), span ? p->calls : number(p->slices));
  if (!span)
    add_queued(s, which, p);
}

/* The function that the kind begins in, as that view has it. */
static const struct view_function *root_in(const struct view *v, const char *kind,
                                           const char *function) {
  for (size_t i = 0; i < v->kinds; i++)
    if (!strcmp(v->kind[i].kind, kind) && !strcmp(v->kind[i].function, function))
      return ask_root_of(v, &v->kind[i]);
  return NULL;
}

static void add_all(struct side *s, size_t which, const struct view_function *root,
                    const char **together) {
  const struct view *v = s->rows->view[which];
  size_t begin = (size_t)(root - v->function), kinds = 0;
  s->requests = 0;
  for (size_t i = 0; i < v->kinds; i++)
    if (v->kind[i].count && ask_begins_in(&v->kind[i], root)) {
      add_to(&s->requests, v->kind[i].count);
      kinds++;
    }
  if (kinds > 1)
    *together = root->name;
  add_to(&s->rows->tail->count[s->of], s->requests);
  for (size_t i = 0; i < v->paths; i++)
    if (s->rows->known[which].root[i] == begin)
      add_one(s, which, i);
}

struct tail *apart_rows_of(struct apart_rows *all, const char *kind, const char *function,
                           const enum tail_side *side, const char **together) {
  size_t places = CRITICAL_WHATS * (size_t)all->story->paths_count + NONES + 1;
  all->tail = allocate(1, sizeof *all->tail);
  all->room = 0;
  *together = NULL;
  memset(all->row_of, 0xff, places * sizeof *all->row_of);
  for (size_t i = 0; i < all->views; i++) {
    const struct view_function *root =
        side[i] == TAIL_SIDES ? NULL : root_in(all->view[i], kind, function);
    struct side s = {.rows = all, .of = side[i]};
    if (root)
      add_all(&s, i, root, together);
  }
  struct tail *t = all->tail;
  tail_settle(all->story, t);
  return t;
}
