/* SPDX-License-Identifier: MIT */
/* The functions that ran most, and the rest of them as one; see top.h. */
#include "top.h"

#include "read/fields.h"
#include "read/fold.h"

#include <stdlib.h>
#include <string.h>

static uint64_t known(uint64_t number) {
  return number == UNKNOWN ? 0 : number;
}

/* Ties in the order of names, so that nobody changes places for nothing. */
static int by_exec(const void *a, const void *b) {
  const struct view_function *x = *(const struct view_function *const *)a,
                             *y = *(const struct view_function *const *)b;
  uint64_t left = known(x->exec), right = known(y->exec);
  return left != right ? (left > right ? -1 : 1) : strcmp(x->name, y->name);
}

/* A copy whose sums are all known: what was not measured adds nothing. Lists are not added up: of
   thousands of functions they would be copied as often. */
static struct view_function addend(const struct view_function *f) {
  struct view_function copy = *f;
  for (size_t i = 0; i < layout_function.fields; i++) {
    const struct field *field = &layout_function.field[i];
    uint64_t *number = field_of(&copy, field);
    if (field->type == FIELD_MAYBE && field->fold == FOLD_SUM)
      *number = known(*number);
    if (field->type == FIELD_LIST)
      *(size_t *)((char *)field_of(&copy, field) + sizeof(void *)) = 0;
  }
  return copy;
}

static void add_rest(struct top *top, const struct view_function *f) {
  struct view_function more = addend(f);
  if (top->rest) {
    fold_object(FOLD_ADD, &top->arena, &layout_function, top->rest, &more);
    return;
  }
  top->rest = arena_get(&top->arena, 1, sizeof *top->rest);
  *top->rest = more;
  top->rest->name = TOP_REST;
  top->rest->file = NULL;
  top->rest->line = top->rest->column = 0;
}

static uint64_t hash_of(const struct view_function *f) {
  char *key = fold_key(&layout_function, f);
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char *c = key; *c; c++)
    hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
  free(key);
  return hash;
}

struct top ask_top(const struct view *v, size_t count) {
  struct top top = {.function = NULL};
  top.function = arena_get(&top.arena, v->functions + 1, sizeof *top.function);
  for (size_t i = 0; i < v->functions; i++)
    top.function[i] = &v->function[i];
  qsort(top.function, v->functions, sizeof *top.function, by_exec);
  top.functions = count && count < v->functions ? count : v->functions;
  for (size_t i = 0; i < top.functions; i++)
    top.members += hash_of(top.function[i]);
  for (size_t i = top.functions; i < v->functions; i++)
    add_rest(&top, top.function[i]);
  return top;
}

void ask_top_free(struct top *top) {
  arena_free(&top->arena);
}
