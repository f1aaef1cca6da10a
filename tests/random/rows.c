/* SPDX-License-Identifier: MIT */
/* Lists of named numbers, and how two of them differ. */
#include "rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void append(struct rows *rows, const char *place, const char *what, uint64_t value,
                   bool maximum) {
  if (value == 0)
    return;
  if (rows->count == rows->room) {
    rows->room = rows->room ? rows->room * 2 : 256;
    rows->row = realloc(rows->row, rows->room * sizeof *rows->row);
    if (!rows->row)
      abort();
  }
  struct row *row = &rows->row[rows->count++];
  if (asprintf(&row->name, "%s | %s", place, what) < 0)
    abort();
  row->value = value;
  row->maximum = maximum;
  rows->sorted = false;
}

void rows_add(struct rows *rows, const char *place, const char *what, uint64_t value) {
  append(rows, place, what, value, false);
}

void rows_max(struct rows *rows, const char *place, const char *what, uint64_t value) {
  append(rows, place, what, value, true);
}

void rows_bucket(struct rows *rows, const char *place, const char *what, uint64_t lower,
                 uint64_t count) {
  char name[64];
  if (count == 0)
    return;
  snprintf(name, sizeof name, "%s from %" PRIu64, what, lower);
  append(rows, place, name, count, false);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

/* Sorts, and folds rows of one name into one. */
static void settle(struct rows *rows) {
  if (rows->sorted || rows->count == 0)
    return;
  qsort(rows->row, rows->count, sizeof *rows->row, by_name);
  unsigned last = 0;
  for (unsigned i = 1; i < rows->count; i++) {
    struct row *into = &rows->row[last], *from = &rows->row[i];
    if (strcmp(into->name, from->name) != 0) {
      rows->row[++last] = *from;
      continue;
    }
    if (!into->maximum)
      into->value += from->value;
    else if (from->value > into->value)
      into->value = from->value;
    free(from->name);
  }
  rows->count = last + 1;
  rows->sorted = true;
}

uint64_t rows_get(struct rows *rows, const char *place, const char *what) {
  char name[1024];
  snprintf(name, sizeof name, "%s | %s", place, what);
  settle(rows);
  if (rows->count == 0)
    return 0;
  struct row wanted = {.name = name};
  struct row *row = bsearch(&wanted, rows->row, rows->count, sizeof *rows->row, by_name);
  return row ? row->value : 0;
}

static void difference(FILE *file, const char *name, uint64_t expected, uint64_t got) {
  if (file)
    fprintf(file, "  %s: expected %" PRIu64 ", got %" PRIu64 "\n", name, expected, got);
}

unsigned rows_differ(struct rows *expected, struct rows *got, FILE *file) {
  settle(expected);
  settle(got);
  unsigned differ = 0, e = 0, g = 0;
  while (e < expected->count || g < got->count) {
    struct row *a = e < expected->count ? &expected->row[e] : NULL;
    struct row *b = g < got->count ? &got->row[g] : NULL;
    int order = !a ? 1 : !b ? -1 : strcmp(a->name, b->name);
    uint64_t left = order <= 0 ? a->value : 0, right = order >= 0 ? b->value : 0;
    if (left != right) {
      differ++;
      difference(file, order <= 0 ? a->name : b->name, left, right);
    }
    e += order <= 0;
    g += order >= 0;
  }
  return differ;
}

void rows_print(struct rows *rows, FILE *file) {
  settle(rows);
  for (unsigned i = 0; i < rows->count; i++)
    fprintf(file, "  %s = %" PRIu64 "\n", rows->row[i].name, rows->row[i].value);
}

void rows_read(struct rows *rows, FILE *file) {
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, file) > 1) {
    char *value = strrchr(line, '='), *what = strstr(line, " | ");
    value[-1] = what[0] = '\0';
    rows_add(rows, line + 2, what + 3, strtoull(value + 1, NULL, 10));
  }
  free(line);
}

void rows_free(struct rows *rows) {
  for (unsigned i = 0; i < rows->count; i++)
    free(rows->row[i].name);
  free(rows->row);
  *rows = (struct rows){0};
}
