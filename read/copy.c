/* SPDX-License-Identifier: MIT */
/* A view with the numbers of another, and the interval made of such a one; see view.h. */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

static void copy_parts(struct arena *, const struct layout *, void *object);

static void copy_list(struct arena *arena, const struct field *field, void *object) {
  size_t count = field_count(object, field), size = field->of->size;
  char *copy = arena_get(arena, count, size);
  if (count)
    memcpy(copy, field_element(object, field, 0), count * size);
  *(void **)field_of(object, field) = copy;
  for (size_t i = 0; i < count; i++)
    copy_parts(arena, layout_of(field->of, copy + i * size), copy + i * size);
}

/* What lies elsewhere and holds numbers; texts are lent. */
static void copy_parts(struct arena *arena, const struct layout *layout, void *object) {
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    struct distribution *d = field_of(object, field);
    if (field->type == FIELD_LIST)
      copy_list(arena, field, object);
    else if (field->type == FIELD_OBJECT)
      copy_parts(arena, field->of, d);
    else if (field->type == FIELD_STEPS)
      for (size_t j = 0; j < APROF_STEPS; j++)
        copy_parts(arena, field->of, field_element(object, field, j));
    else if (field->type == FIELD_HISTOGRAM && d->count) {
      struct bucket *copy = arena_get(arena, d->count, sizeof *copy);
      d->bucket = memcpy(copy, d->bucket, d->count * sizeof *copy);
    }
  }
}

static const struct view_await *same_await(struct view *to, const struct view *from,
                                           uint64_t function, const struct view_await *a) {
  return a ? to->function[function].await + (a - from->function[function].await) : NULL;
}

struct view *view_copy(const struct view *from) {
  struct view *v = view_new(from->what);
  struct arena arena = v->arena;
  *v = *from;
  v->arena = arena;
  copy_parts(&v->arena, &layout_totals, v);
  for (size_t i = 0; i < v->kinds; i++)
    v->kind[i].loggeds = 0; /* of no interval */
  for (size_t i = 0; i < v->loops; i++)
    if (v->loop[i].thread)
      v->loop[i].thread = v->thread + (v->loop[i].thread - from->thread);
  for (size_t i = 0; i < v->paths; i++)
    v->path[i].await = same_await(v, from, v->path[i].function, v->path[i].await);
  for (size_t i = 0; i < v->lives; i++)
    v->live[i].await = same_await(v, from, v->live[i].function, v->live[i].await);
  return v;
}

struct view *view_between(const struct view *later, const struct view *earlier) {
  struct view *v = view_copy(later);
  if (view_subtract(v, earlier))
    return v;
  view_free(v);
  return NULL;
}
