/* SPDX-License-Identifier: MIT */
/* What found no future, and may well be all right; see report.h. */
#include "report.h"

#include "ask/format.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_WIDTH = 60 };

/* Kinds of misses that are no findings: the program may well know better. */
static const char *text_of(const char *kind) {
  static const char *const known[][2] = {{"await", "an await outside any future"},
                                         {"end", "the end of a key that no future has"},
                                         {"wake", "a wake of a key that no future has"},
                                         {"switch", "a switch to a key that no future has"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(kind, known[i][0]))
      return known[i][1];
  return NULL;
}

/* A callee stands for the line that describes it. */
struct row {
  const struct view_miss *most; /* of its places */
  uint64_t count;
  size_t places;
  bool matched; /* one of its places has found a future or makes them: the key is the right one */
};

static int by_callee(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  int kind = strcmp(x->most->kind, y->most->kind);
  const char *one = x->most->name ? x->most->name : "", *other = y->most->name ? y->most->name : "";
  return kind ? kind : strcmp(one, other);
}

static int by_count(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  if (x->count != y->count)
    return x->count > y->count ? -1 : 1;
  if (x->most->line != y->most->line)
    return x->most->line < y->most->line ? -1 : 1;
  return by_callee(a, b);
}

/* One row for the places of a callee; none where something like free() is called for
   much that is no future. Returns how many rows are left. */
static size_t fold(struct row *row, size_t count) {
  size_t kept = 0, told = 0;
  qsort(row, count, sizeof *row, by_callee);
  for (size_t i = 0; i < count; i++) {
    struct row *last = kept ? &row[kept - 1] : NULL;
    if (!last || by_callee(last, &row[i])) {
      row[kept++] = row[i];
      continue;
    }
    if (row[i].most->count > last->most->count)
      last->most = row[i].most;
    last->count += row[i].count;
    last->places++;
    last->matched |= row[i].matched;
  }
  for (size_t i = 0; i < kept; i++)
    if (!row[i].matched)
      row[told++] = row[i];
  return told;
}

static char *miss_path(const struct view_miss *m, const char *file) {
  return print_string("%s %s", shown_place(file, m->line), m->name ? m->name : "");
}

static void print_row(const struct row *row, FILE *out) {
  const struct view_miss *m = row->most;
  char *path = miss_path(m, m->file);
  if (shown_width(path) > PATH_WIDTH) {
    free(path);
    path = miss_path(m, shown_base(m->file));
  }
  print_left(out, cut_left(path, PATH_WIDTH), PATH_WIDTH);
  print_right(out, shown_count(row->count), 7);
  fprintf(out, "  %s", text_of(m->kind));
  if (row->places > 1)
    fprintf(out, ", at %zu places", row->places);
  fputc('\n', out);
  free(path);
}

/* A call that sets a callback, or NULL, makes a future or is its end: most often of none. */
static bool is_made_by(const struct view *v, const char *callee) {
  for (size_t i = 0; i < v->functions && callee; i++)
    for (size_t j = 0; j < v->function[i].awaits; j++) {
      const struct view_await *a = &v->function[i].await[j];
      if (!strcmp(a->kind, "create") && !strcmp(a->callee, callee))
        return true;
    }
  return false;
}

static bool is_right(const struct view *v, const struct view_miss *m) {
  return m->matched == true || (!strcmp(m->kind, "end") && is_made_by(v, m->name));
}

void report_print_misses(const struct view *v, const struct report_options *options, FILE *out) {
  struct row *row = allocate(v->misses, sizeof *row);
  size_t count = 0;
  for (size_t i = 0; i < v->misses; i++)
    if (text_of(v->miss[i].kind) && v->miss[i].count)
      row[count++] = (struct row){.most = &v->miss[i],
                                  .count = v->miss[i].count,
                                  .places = 1,
                                  .matched = is_right(v, &v->miss[i])};
  if (options->waits)
    count = fold(row, count);
  qsort(row, count, sizeof *row, by_count);
  if (count) {
    fputc('\n', out);
    style_set(out, STYLE_TITLE);
    print_left(out, "events that found no future", PATH_WIDTH);
    print_right(out, "count", 7);
    style_set(out, STYLE_PLAIN);
    fputc('\n', out);
  }
  size_t shown = options->waits && options->waits < count ? options->waits : count;
  for (size_t i = 0; i < shown; i++)
    print_row(&row[i], out);
  report_print_more(count, shown, out);
  free(row);
}
