/* SPDX-License-Identifier: MIT */
/* Events that found no future, and may well be all right; see report.h. */
#include "report.h"

#include "format.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* Kinds of misses that are no findings: the program may well know better. */
static bool is_shown(const char *kind) {
  static const char *const kinds[] = {"await", "end", "wake", "switch"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(kind, kinds[i]))
      return true;
  return false;
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

/* Joins the places of a callee to one row. A callee like free(), called for much that is no future,
   has none. Returns how many rows are left. */
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

/* "end: timer_stop  server.c:210 and 2 more". */
static void print_row(const struct view *v, const struct row *row, FILE *out) {
  const struct view_miss *m = row->most;
  char *what = print_string("%s: %s", m->kind, m->name ? m->name : "?");
  char *more = row->places > 1
                   ? print_string("%s and %zu more", place_text(base_name(m->file), m->line),
                                  row->places - 1)
                   : NULL;
  const struct report_row shown = {
      .step = {what},
      .steps = 1,
      .place = more ? more : place_text(m->file, m->line),
      .count = row->count,
      .only_count = true,
  };
  report_print_row(v, &shown, out);
  free(more);
  free(what);
}

/* A call that sets a callback makes a future; with NULL it ends one, and most often there is
   none. */
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
  static const char *const columns[] = {"count", NULL};
  struct row *row = allocate(v->ignores, sizeof *row);
  size_t count = 0;
  for (size_t i = 0; i < v->ignores; i++)
    if (is_shown(v->ignored[i].kind) && v->ignored[i].count)
      row[count++] = (struct row){.most = &v->ignored[i],
                                  .count = v->ignored[i].count,
                                  .places = 1,
                                  .matched = is_right(v, &v->ignored[i])};
  bool whole = !options->waits;
  if (!whole)
    count = fold(row, count);
  qsort(row, count, sizeof *row, by_count);
  if (count)
    report_title("ends, wakes, switches and awaits of no future", columns, out);
  size_t shown = !whole && !options->all && options->waits < count ? options->waits : count;
  for (size_t i = 0; i < shown; i++)
    print_row(v, &row[i], out);
  report_print_more(count, shown, out);
  free(row);
}
