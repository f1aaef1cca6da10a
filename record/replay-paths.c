/* SPDX-License-Identifier: MIT */
/* Paths of the story, from the nodes of the image; see replay-state.h. */
#include "replay-state.h"

#include "read/util.h"

#include <aprof/abi.h>
#include <stdlib.h>
#include <string.h>

/* Equal paths are one: a table of them by what is above, name and kind. */
struct folding {
  struct replay_state *s;
  uint32_t *slot, slots; /* path + 1; 0: free */
  uint32_t *name;        /* of each path */
};

static enum story_path_kind kind_of(const struct aprof_node *n) {
  return n->is_await == APROF_NODE_AWAIT  ? STORY_AWAIT
         : n->is_await == APROF_NODE_SPAN ? STORY_SPAN
                                          : STORY_FUNCTION;
}

static uint32_t new_path(struct folding *f, uint32_t parent, enum story_path_kind kind,
                         uint32_t name) {
  const struct name *n = &f->s->names->name[name];
  uint32_t path = story_add_path(f->s->story, parent, kind, n->name, n->file, n->line);
  uint32_t function = f->s->story->paths[path].function;
  const struct name *of =
      function == STORY_NONE || function == path ? NULL : &f->s->names->name[f->name[function]];
  bool its_own = of && (of->model == APROF_MODEL_STACK || n->kind == APROF_SITE_CREATE || n == of);
  f->s->story->paths[path].background =
      kind == STORY_AWAIT &&
      ((n->flags & APROF_BACKGROUND) || (its_own && (of->flags & APROF_BACKGROUND)));
  f->name[path] = name;
  return path;
}

static uint32_t fold(struct folding *f, uint32_t parent, enum story_path_kind kind, uint32_t name) {
  uint32_t at = (parent * 2654435761u ^ name * 40503u ^ (uint32_t)kind * 97u) & (f->slots - 1);
  for (; f->slot[at]; at = (at + 1) & (f->slots - 1)) {
    uint32_t path = f->slot[at] - 1;
    const struct story_path *p = &f->s->story->paths[path];
    if (p->parent == parent && p->kind == kind && f->name[path] == name)
      return path;
  }
  uint32_t path = new_path(f, parent, kind, name);
  f->slot[at] = path + 1;
  return path;
}

/* A node's parent has a lower number, so its path is there; who says otherwise is (other). What is
   no function, span or await is part of what it lies beneath. */
static uint32_t path_of(struct folding *f, uint32_t number) {
  const struct replay *r = f->s->r;
  const struct aprof_node *n = profile_node(r->latest, number);
  if (!n || number <= 2 || n->parent >= number)
    return 0;
  uint32_t above = n->parent ? r->path_of[n->parent] : STORY_NONE;
  if (n->is_await != APROF_NODE_FUNCTION && n->is_await != APROF_NODE_AWAIT &&
      n->is_await != APROF_NODE_SPAN)
    return above == STORY_NONE ? 0 : above;
  if (above == STORY_NONE && n->is_await == APROF_NODE_AWAIT)
    return 0;
  return fold(f, above, kind_of(n), names_of(f->s->names, n->site));
}

void replay_make_paths(struct replay_state *s) {
  struct replay *r = s->r;
  struct folding f = {.s = s};
  r->nodes = profile_node_end(r->latest);
  r->path_of = allocate(r->nodes + 1u, sizeof *r->path_of);
  for (f.slots = 64; f.slots < 4 * (r->nodes + 1u);)
    f.slots *= 2;
  f.slot = allocate(f.slots, sizeof *f.slot);
  f.name = allocate(r->nodes + 4u, sizeof *f.name);
  fold(&f, STORY_NONE, STORY_FUNCTION, NAME_OTHER);
  uint32_t await = fold(&f, 0, STORY_AWAIT, NAME_OTHER);
  for (uint32_t i = 0; i < r->nodes; i++)
    r->path_of[i] = i == 2 ? await : path_of(&f, i);
  free(f.slot);
  free(f.name);
}

const char *replay_site_name(struct replay_state *s, uint32_t site) {
  return story_text(s->story, s->names->name[site ? names_of(s->names, site) : NAME_OTHER].name);
}

uint32_t replay_function_node(const struct replay_state *s, uint32_t node) {
  for (uint32_t at = node;;) {
    const struct aprof_node *n = profile_node(s->r->latest, at);
    if (!n)
      return node;
    if (n->is_await == APROF_NODE_FUNCTION)
      return at;
    if (!n->parent || n->parent >= at)
      return node;
    at = n->parent;
  }
}
