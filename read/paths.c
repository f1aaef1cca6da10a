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

void fold_paths(enum fold how, struct view *to, const struct view *from, const size_t *function) {
  size_t count = to->paths, *place = allocate(from->paths, sizeof *place);
  struct index x;
  index_new(&x, count);
  if (how == FOLD_ADD) {
    struct view_path *all = arena_get(&to->arena, count + from->paths, sizeof *all);
    if (count)
      memcpy(all, to->path, count * sizeof *all);
    to->path = all;
  }
  for (size_t i = 0; i < count; i++)
    index_put(&x, path_key(&to->path[i], to->path[i].parent, to->path[i].function), &to->path[i]);
  for (size_t i = 0; i < from->paths; i++) {
    const struct view_path *path = &from->path[i];
    bool root = path->parent == SIZE_MAX;
    size_t parent = root ? SIZE_MAX : place[path->parent];
    size_t of = path->function < from->functions ? function[path->function] : SIZE_MAX;
    bool lost = !root && parent == SIZE_MAX; /* its parent is in no later view */
    const struct view_path *mine = lost ? NULL : index_get(&x, path_key(path, parent, of));
    if (mine)
      fold_object(how, &to->arena, layout_of(&layout_path, path), (void *)mine, path);
    place[i] = mine              ? (size_t)(mine - to->path)
               : how == FOLD_ADD ? append(to, path, parent, of)
                                 : SIZE_MAX;
  }
  index_free(&x);
  free(place);
}
