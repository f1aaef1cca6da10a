/* SPDX-License-Identifier: MIT */
/* Labels of a host; see labels.h. */
#include "labels.h"

#include "util.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 200 };

const char *label_fault(const char *text) {
  size_t key = strcspn(text, "=");
  if (!key || !text[key] || !text[key + 1])
    return "a label is KEY=VALUE";
  if (isdigit((unsigned char)*text))
    return "the key of a label begins with a letter";
  for (size_t i = 0; i < key; i++)
    if (!isalnum((unsigned char)text[i]) && text[i] != '_')
      return "the key of a label is of letters, digits and _";
  for (const char *c = text + key + 1; *c; c++)
    if ((unsigned char)*c < ' ' || *c == ',' || *c == 0x7f)
      return "the value of a label has no commas, and no control characters";
  return strlen(text) > LONGEST ? "a label is 200 bytes at most" : NULL;
}

const char *labels_next(const char *labels, size_t *key, size_t *value) {
  if (!labels || !*labels)
    return NULL;
  size_t length = strcspn(labels, ",");
  const char *equals = memchr(labels, '=', length);
  *key = equals ? (size_t)(equals - labels) : length;
  *value = equals ? length - *key - 1 : 0;
  return labels;
}

const char *labels_behind(const char *labels) {
  size_t length = strcspn(labels, ",");
  return labels + length + (labels[length] == ',');
}

char *labels_add(char *labels, const char *label) {
  size_t wanted = strcspn(label, "="), key, value;
  char *all = print_string("%s", "");
  for (const char *at = labels; (at = labels_next(at, &key, &value)); at = labels_behind(at)) {
    if (key == wanted && !memcmp(at, label, key))
      continue;
    char *longer = print_string("%s%.*s=%.*s,", all, (int)key, at, (int)value, at + key + 1);
    free(all);
    all = longer;
  }
  char *whole = print_string("%s%s", all, label);
  free(all);
  free(labels);
  return whole;
}

const char *labels_get(struct arena *arena, const char *labels, const char *wanted) {
  size_t key, value;
  for (const char *at = labels; (at = labels_next(at, &key, &value)); at = labels_behind(at))
    if (key == strlen(wanted) && !memcmp(at, wanted, key) && at[key] == '=') {
      char *text = arena_get(arena, value + 1, 1);
      memcpy(text, at + key + 1, value);
      text[value] = 0;
      return text;
    }
  return LABELS_NONE;
}

bool labels_have(const char *labels, const char *label) {
  size_t key, value;
  for (const char *at = labels; (at = labels_next(at, &key, &value)); at = labels_behind(at))
    if (strlen(label) == key + 1 + value && !memcmp(at, label, key + 1 + value))
      return true;
  return false;
}
