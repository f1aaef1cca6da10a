/* SPDX-License-Identifier: MIT */
/* JSON with 64-bit integers; see json.h. */
#include "json.h"

#include "util.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A copy of the text in which each integer that a double may not hold stands in
   quotes. Tells strings from numbers, and nothing else: the parser does. */
static char *quote_long_integers(const char *text, size_t length, size_t *deepest) {
  size_t longest = length + 2 * (length / (JSON_EXACT_DIGITS + 1)) + 1;
  char *copy = allocate(longest, 1), *to = copy;
  bool in_string = false;
  size_t depth = 0;
  *deepest = 0;
  for (size_t i = 0; i < length; i++) {
    if (in_string && text[i] == '\\' && i + 1 < length) {
      *to++ = text[i++];
      *to++ = text[i];
      continue;
    }
    if (text[i] == '"')
      in_string = !in_string;
    if (!in_string && (text[i] == '[' || text[i] == '{') && ++depth > *deepest)
      *deepest = depth;
    if (!in_string && (text[i] == ']' || text[i] == '}') && depth)
      depth--;
    if (in_string || !isdigit((unsigned char)text[i])) {
      *to++ = text[i];
      continue;
    }
    size_t end = i;
    while (end < length && isdigit((unsigned char)text[end]))
      end++;
    bool plain = (end == length || !strchr(".eE", text[end])) &&
                 (i == 0 || !strchr(".eE+-", text[i - 1])) && end - i > JSON_EXACT_DIGITS;
    if (plain)
      *to++ = '"';
    memcpy(to, text + i, end - i);
    to += end - i;
    if (plain)
      *to++ = '"';
    i = end - 1;
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

static size_t left; /* of JSON_MEMORY */

/* A parser that gets no memory would call it a fault of the text. Each piece costs the allocator
   a little more than was asked for. */
static void *memory_or_end(size_t size) {
  size_t cost = size + 16;
  if (cost > left) {
    left = 0;
    return NULL;
  }
  left -= cost;
  return reallocate(NULL, 1, size);
}

cJSON *json_parse(const char *text, size_t length, char **fault) {
  size_t deepest;
  cJSON_Hooks hooks = {.malloc_fn = memory_or_end, .free_fn = free};
  cJSON_InitHooks(&hooks);
  char *copy = quote_long_integers(text, length, &deepest);
  const char *end = copy;
  left = JSON_MEMORY;
  cJSON *json = deepest <= JSON_DEPTH ? cJSON_ParseWithOpts(copy, &end, true) : NULL;
  if (!json && deepest > JSON_DEPTH)
    *fault = print_string("it nests %zu deep, over %d", deepest, JSON_DEPTH);
  else if (!json && !left)
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
