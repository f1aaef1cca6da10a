/* JSON with 64-bit integers; see json.h. */
#include "json.h"

#include "cli.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Digits that a double holds whatever they are. */
enum { EXACT_DIGITS = 15 };

static cJSON *there(cJSON *item) {
  if (!item) {
    complain("out of memory while making JSON");
    exit(CLI_FAILED);
  }
  return item;
}

cJSON *json_raw(uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  return there(cJSON_CreateRaw(text));
}

void json_number(cJSON *object, const char *name, uint64_t value) {
  cJSON_AddItemToObject(object, name, json_raw(value));
}

void json_signed(cJSON *object, const char *name, int64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, value);
  there(cJSON_AddRawToObject(object, name, text));
}

void json_maybe(cJSON *object, const char *name, uint64_t value, bool known) {
  cJSON_AddItemToObject(object, name, known ? json_raw(value) : there(cJSON_CreateNull()));
}

void json_text(cJSON *object, const char *name, const char *text) {
  cJSON_AddItemToObject(object, name, there(text ? cJSON_CreateString(text) : cJSON_CreateNull()));
}

cJSON *json_place(const char *file, uint32_t line) {
  if (!file)
    return there(cJSON_CreateNull());
  char *text = line ? print_string("%s:%" PRIu32, file, line) : print_string("%s", file);
  cJSON *item = there(cJSON_CreateString(text));
  free(text);
  return item;
}

void json_write(FILE *out, cJSON *item) {
  char *text = cJSON_PrintUnformatted(item);
  if (!text) {
    complain("out of memory while writing JSON");
    exit(CLI_FAILED);
  }
  fputs(text, out);
  cJSON_free(text);
  cJSON_Delete(item);
}

/* A copy of the text in which each integer that a double may not hold stands in
   quotes. Tells strings from numbers, and nothing else: the parser does. */
static char *quote_long_integers(const char *text, size_t length) {
  size_t longest = length + 2 * (length / (EXACT_DIGITS + 1)) + 1;
  char *copy = allocate(longest, 1), *to = copy;
  bool in_string = false;
  for (size_t i = 0; i < length; i++) {
    if (in_string && text[i] == '\\' && i + 1 < length) {
      *to++ = text[i++];
      *to++ = text[i];
      continue;
    }
    if (text[i] == '"')
      in_string = !in_string;
    if (in_string || !isdigit((unsigned char)text[i])) {
      *to++ = text[i];
      continue;
    }
    size_t end = i;
    while (end < length && isdigit((unsigned char)text[end]))
      end++;
    bool plain = (end == length || !strchr(".eE", text[end])) &&
                 (i == 0 || !strchr(".eE+-", text[i - 1])) && end - i > EXACT_DIGITS;
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

cJSON *json_parse(const char *text, size_t length, size_t *at) {
  char *copy = quote_long_integers(text, length);
  const char *end = copy;
  cJSON *json = cJSON_ParseWithOpts(copy, &end, true);
  if (!json)
    *at = (size_t)(end - copy);
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

uint64_t json_get(const cJSON *object, const char *name, uint64_t otherwise) {
  return json_value(json_member(object, name), otherwise);
}

const char *json_get_text(const cJSON *object, const char *name) {
  return cJSON_GetStringValue(json_member(object, name));
}

bool json_get_bool(const cJSON *object, const char *name, bool otherwise) {
  const cJSON *item = json_member(object, name);
  return cJSON_IsBool(item) ? cJSON_IsTrue(item) : otherwise;
}
