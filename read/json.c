/* SPDX-License-Identifier: MIT */
/* JSON with 64-bit integers; see json.h. */
#include "json.h"

#include "arena.h"
#include "util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What ends a run of bytes that are copied as they are: outside strings, and in one. */
enum { OUTSIDE = 1, INSIDE = 2 };
static const unsigned char ends[256] = {
    ['"'] = OUTSIDE | INSIDE, ['\\'] = INSIDE, ['['] = OUTSIDE, [']'] = OUTSIDE,
    ['{'] = OUTSIDE,          ['}'] = OUTSIDE, ['0'] = OUTSIDE, ['1'] = OUTSIDE,
    ['2'] = OUTSIDE,          ['3'] = OUTSIDE, ['4'] = OUTSIDE, ['5'] = OUTSIDE,
    ['6'] = OUTSIDE,          ['7'] = OUTSIDE, ['8'] = OUTSIDE, ['9'] = OUTSIDE};

static size_t digits_at(const char *text, size_t length, size_t at) {
  size_t end = at;
  while (end < length && text[end] >= '0' && text[end] <= '9')
    end++;
  return end - at;
}

/* A copy of the text in which each integer that a double may not hold stands in
   quotes. Tells strings from numbers, and nothing else: the parser does. */
static char *quote_long_integers(const char *text, size_t length, size_t *deepest) {
  size_t longest = length + 2 * (length / (JSON_EXACT_DIGITS + 1)) + 1;
  char *copy = allocate(longest, 1), *to = copy;
  bool in_string = false;
  size_t depth = 0, take;
  *deepest = 0;
  for (size_t i = 0; i < length; i += take) {
    unsigned char kind = in_string ? INSIDE : OUTSIDE, c = (unsigned char)text[i];
    take = 1;
    if (!(ends[c] & kind)) {
      *to++ = text[i];
      continue;
    }
    if (c == '"')
      in_string = !in_string;
    else if (c == '\\')
      take += i + 1 < length;
    else if (c == '[' || c == '{')
      *deepest = ++depth > *deepest ? depth : *deepest;
    else if (c == ']' || c == '}')
      depth -= depth > 0;
    else
      take = digits_at(text, length, i);
    bool plain = take > JSON_EXACT_DIGITS &&
                 (i + take == length || !strchr(".eE", text[i + take])) &&
                 (i == 0 || !strchr(".eE+-", text[i - 1]));
    if (plain)
      *to++ = '"';
    for (size_t k = 0; k < take; k++)
      *to++ = text[i + k];
    if (plain)
      *to++ = '"';
  }
  *to = 0;
  return copy;
}

/* Where `end` in the copy lies in the text: what is behind quotes that were added. */
static size_t original_offset(const char *text, const char *copy, const char *end) {
  size_t at = 0;
  for (; copy < end; copy++)
    at += text[at] == *copy;
  return at;
}

/* Each parsed text's pieces lie in an arena: to free them one by one takes as long as to parse. */
struct tree {
  struct tree *next;
  const cJSON *root;
  struct arena arena;
};
static struct tree *trees; /* the last one first */

/* A parser that gets no memory would call it a fault of the text. */
static void *memory_of_last(size_t size) {
  struct arena *arena = &trees->arena;
  return arena_size(arena) + size > JSON_MEMORY ? NULL : arena_get(arena, size, 1);
}

static void keep(void *piece) {
  (void)piece;
}

void json_free(const cJSON *root) {
  for (struct tree **at = &trees; root && *at; at = &(*at)->next) {
    struct tree *tree = *at;
    if (tree->root != root)
      continue;
    *at = tree->next;
    arena_free(&tree->arena);
    free(tree);
    return;
  }
}

/* NULL with `*end`, where the text is none, and `*full`: it was too large. */
static cJSON *parse(const char *text, const char **end, bool *full) {
  cJSON_Hooks hooks = {.malloc_fn = memory_of_last, .free_fn = keep};
  struct tree *tree = allocate(1, sizeof *tree);
  tree->next = trees;
  trees = tree;
  cJSON_InitHooks(&hooks);
  cJSON *json = cJSON_ParseWithOpts(text, end, true);
  cJSON_InitHooks(NULL);
  *full = arena_size(&tree->arena) + ARENA_CHUNK > JSON_MEMORY;
  if (!json) {
    trees = tree->next;
    arena_free(&tree->arena);
    free(tree);
    return NULL;
  }
  tree->root = json;
  return json;
}

cJSON *json_parse(const char *text, size_t length, char **fault) {
  size_t deepest;
  bool full = false;
  char *copy = quote_long_integers(text, length, &deepest);
  const char *end = copy;
  cJSON *json = deepest <= JSON_DEPTH ? parse(copy, &end, &full) : NULL;
  if (!json && deepest > JSON_DEPTH)
    *fault = print_string("it nests %zu deep, over %d", deepest, JSON_DEPTH);
  else if (!json && full)
    *fault = print_string("it takes over %zu MB of memory to read, which no totals do",
                          JSON_MEMORY >> 20);
  else if (!json)
    *fault = print_string("not JSON from byte %zu on", original_offset(text, copy, end));
  free(copy);
  return json;
}

const cJSON *json_member(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

uint64_t json_value(const cJSON *item, uint64_t otherwise) {
  uint64_t value;
  if (cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 9.1e15)
    return (uint64_t)item->valuedouble;
  if (cJSON_IsString(item) && parse_number(item->valuestring, &value))
    return value;
  return otherwise;
}

const char *json_get_text(const cJSON *object, const char *name) {
  return cJSON_GetStringValue(json_member(object, name));
}
