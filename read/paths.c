/* SPDX-License-Identifier: MIT */
/* Paths of two views folded into one; see fold.h. */
#include "fold.h"

#include "index.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

/* A path by its parent, and its await or function: all as the view has them that they are
   folded into. */
static char *path_key(const struct view_path *path, size_t parent, size_t function) {
  char *own = path->is_await       ? fold_key(&layout_await_path, path)
              : view_is_span(path) ? fold_key(&layout_path, path)
                                   : NULL;
  size_t length = own ? strlen(own) : FOLD_DIGITS;
  char *key = allocate(FOLD_DIGITS + 1 + length + 1, 1), *to = fold_digits(key, parent);
  *to++ = path->is_await ? '1' : own ? '2' : '0';
  if (own)
    memcpy(to, own, length);
  else
    fold_digits(to, function);
  free(own);
  return key;
}

static size_t append(struct view *to, const struct view_path *path, size_t parent,
                     size_t function) {
  struct view_path *last = &to->path[to->paths];
  *last = *path;
  last->id = to->paths ? last[-1].id + 1 : 1;
  last->parent = parent;
  last->parent_id = parent == SIZE_MAX ? 0 : to->path[parent].id;
  last->function = function;
  return to->paths++;
}

/* Of views of one process paths mostly come in the same order: the one behind the last that was
   found is tried first, and the index is made once that is another. */
struct path_matching {
  const struct view *view;
  size_t count, next;
  bool indexed;
  struct index index;
};

static bool is_path(const struct view_path *mine, const struct view_path *path, size_t parent,
                    size_t function) {
  return mine->is_await == path->is_await && mine->parent == parent &&
         (path->is_await ? fold_same(&layout_await_path, mine, path) : mine->function == function);
}

static struct view_path *match(struct path_matching *m, const struct view_path *path, size_t parent,
                               size_t function) {
  struct view_path *all = m->view->path, *found = m->next < m->count ? &all[m->next] : NULL;
  if (!found || !is_path(found, path, parent, function)) {
    if (!m->indexed) {
      index_new(&m->index, m->count);
      for (size_t i = 0; i < m->count; i++)
        index_put(&m->index, path_key(&all[i], all[i].parent, all[i].function), &all[i]);
      m->indexed = true;
    }
    found = (struct view_path *)index_get(&m->index, path_key(path, parent, function));
  }
  if (found)
    m->next = (size_t)(found - all) + 1;
  return found;
}

void fold_paths(enum fold how, struct view *to, const struct view *from, const size_t *function) {
  size_t count = to->paths, *place = allocate(from->paths, sizeof *place);
  struct path_matching m = {.view = to, .count = count};
  if (how == FOLD_ADD) {
    struct view_path *all = arena_get(&to->arena, count + from->paths, sizeof *all);
    if (count)
      memcpy(all, to->path, count * sizeof *all);
    to->path = all;
  }
  for (size_t i = 0; i < from->paths; i++) {
    const struct view_path *path = &from->path[i];
    bool root = path->parent == SIZE_MAX;
    size_t parent = root ? SIZE_MAX : place[path->parent];
    size_t of = path->function < from->functions ? function[path->function] : SIZE_MAX;
    bool lost = !root && parent == SIZE_MAX; /* its parent is in no later view */
    struct view_path *mine = lost ? NULL : match(&m, path, parent, of);
    if (mine)
      fold_object(how, &to->arena, layout_of(&layout_path, path), mine, path);
    place[i] = mine              ? (size_t)(mine - to->path)
               : how == FOLD_ADD ? append(to, path, parent, of)
                                 : SIZE_MAX;
  }
  if (m.indexed)
    index_free(&m.index);
  free(place);
}
