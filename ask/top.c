/* SPDX-License-Identifier: MIT */
/* The functions that ran most, and the rest of them as one; see top.h. */
#include "top.h"

#include "read/fields.h"
#include "read/fold.h"
#include "read/util.h"

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

static uint64_t hash_of(const struct layout *layout, const void *object) {
  char *key = fold_key(layout, object);
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char *c = key; *c; c++)
    hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
  free(key);
  return hash;
}

static bool was_listed(const struct top_memory *m, uint64_t hash) {
  for (size_t i = 0; i < m->count; i++)
    if (m->hash[i] == hash)
      return true;
  return false;
}

/* Those of the second `count` that were listed go before those that were not. */
static void keep_listed(struct top *top, size_t functions, size_t count, struct top_memory *m) {
  size_t last = functions < 2 * count ? functions : 2 * count;
  for (size_t i = count; i < last; i++)
    if (was_listed(m, hash_of(&layout_function, top->function[i]))) {
      const struct view_function *f = top->function[i];
      memmove(&top->function[top->functions + 1], &top->function[top->functions],
              (i - top->functions) * sizeof *top->function);
      top->function[top->functions++] = f;
    }
  m->count = top->functions;
  m->hash = reallocate(m->hash, m->count, sizeof *m->hash);
  for (size_t i = 0; i < m->count; i++)
    m->hash[i] = hash_of(&layout_function, top->function[i]);
}

struct top ask_top(const struct view *v, size_t count, struct top_memory *memory) {
  struct top top = {.function = NULL};
  top.function = arena_get(&top.arena, v->functions + 1, sizeof *top.function);
  for (size_t i = 0; i < v->functions; i++)
    top.function[i] = &v->function[i];
  qsort(top.function, v->functions, sizeof *top.function, by_exec);
  top.functions = count && count < v->functions ? count : v->functions;
  if (memory && top.functions < v->functions)
    keep_listed(&top, v->functions, count, memory);
  for (size_t i = 0; i < top.functions; i++)
    top.members += hash_of(&layout_function, top.function[i]);
  for (size_t i = top.functions; i < v->functions; i++)
    add_rest(&top, top.function[i]);
  return top;
}

void ask_top_free(struct top *top) {
  arena_free(&top->arena);
}

/* -- kinds of requests ----------------------------------------------------------------- */

static int by_member(const void *a, const void *b) {
  const struct view_kind *x = *(const struct view_kind *const *)a,
                         *y = *(const struct view_kind *const *)b;
  return x->member != y->member ? (x->member > y->member ? -1 : 1) : strcmp(x->kind, y->kind);
}

static void add_rest_kind(struct top_kinds *top, const struct view_kind *k) {
  struct view_kind more = *k;
  more.tiers = more.slows = 0;
  if (top->rest) {
    fold_object(FOLD_ADD, &top->arena, &layout_kind, top->rest, &more);
    return;
  }
  top->rest = arena_get(&top->arena, 1, sizeof *top->rest);
  *top->rest = more;
  top->rest->kind = top->rest->function = TOP_REST;
}

struct top_kinds ask_top_kinds(const struct view *v, size_t count) {
  struct top_kinds top = {.kind = NULL};
  top.kind = arena_get(&top.arena, v->kinds + 1, sizeof *top.kind);
  for (size_t i = 0; i < v->kinds; i++)
    top.kind[i] = &v->kind[i];
  if (v->kinds)
    qsort(top.kind, v->kinds, sizeof *top.kind, by_member);
  top.kinds = count && count < v->kinds ? count : v->kinds;
  for (size_t i = 0; i < top.kinds; i++)
    top.members += hash_of(&layout_kind, top.kind[i]);
  for (size_t i = top.kinds; i < v->kinds; i++)
    add_rest_kind(&top, top.kind[i]);
  return top;
}

void ask_top_kinds_free(struct top_kinds *top) {
  arena_free(&top->arena);
}
