/* SPDX-License-Identifier: MIT */
/* Options looked up; see options.h. */
#include "options.h"

#include <string.h>

const struct option_row *arguments_named(const struct arguments *a, const char *name,
                                         size_t length) {
  for (size_t t = 0; t < ARGUMENT_TABLES && a->table[t].row; t++)
    for (const struct option_row *row = a->table[t].row; row->name; row++)
      if (strlen(row->name) == length && !strncmp(row->name, name, length))
        return row;
  return NULL;
}

static const struct option_row *lettered(const struct arguments *a, char letter) {
  for (size_t t = 0; t < ARGUMENT_TABLES && a->table[t].row; t++)
    for (const struct option_row *row = a->table[t].row; row->name; row++)
      if (row->letter == letter)
        return row;
  return NULL;
}

const struct option_row *arguments_awaits(const struct arguments *a, const char *word) {
  const struct option_row *row = NULL;
  const char *behind = word + 1;
  if (word[1] == '-') {
    behind = word + 2 + strcspn(word + 2, "=");
    row = arguments_named(a, word + 2, (size_t)(behind - word - 2));
  } else
    while (*behind && !(row && row->argument))
      row = lettered(a, *behind++);
  return row && row->argument && !row->optional && !*behind ? row : NULL;
}
