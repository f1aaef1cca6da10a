/* SPDX-License-Identifier: MIT */
/* The report: functions, a line each; see report.h. */
#include "report.h"

#include "format.h"
#include "read/governed.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const report_sorts[] = {"exec",  "calls", "waiting",  "wall", "queued",
                                    "slice", "worst", "children", "name", NULL};

/* -- order ----------------------------------------------------------------- */

static uint64_t known(uint64_t value) {
  return value == UNKNOWN ? 0 : value;
}

static uint64_t sort_value(const struct view_function *f, enum report_sort sort) {
  switch (sort) {
  case SORT_CALLS:
    return f->created;
  case SORT_WAITING:
    return f->waiting;
  case SORT_WALL:
    return known(f->wall);
  case SORT_QUEUED:
    return known(f->queued);
  case SORT_SLICE:
    return f->slice_of.count ? f->slice_of.p99 : 0;
  case SORT_WORST:
    return ask_longest_slice(f);
  case SORT_CHILDREN:
    return f->children_exec;
  case SORT_NAME:
    return 0;
  default:
    return known(f->exec);
  }
}

static int compare(const void *a, const void *b, void *context) {
  const struct view_function *x = *(const struct view_function *const *)a;
  const struct view_function *y = *(const struct view_function *const *)b;
  enum report_sort sort = *(const enum report_sort *)context;
  bool timed = sort != SORT_NAME && sort != SORT_CALLS;
  if (timed && x->unmeasured != y->unmeasured)
    return x->unmeasured ? 1 : -1;
  uint64_t left = sort_value(x, sort), right = sort_value(y, sort);
  if (left != right)
    return left > right ? -1 : 1;
  int order = strcmp(x->name, y->name);
  return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* In an interval, a function may have done nothing. */
static bool is_active(const struct view_function *f) {
  return f->created || f->exec || f->waiting || f->queued || f->slices || f->live;
}

const struct view_function **report_functions(const struct view *v, enum report_sort sort,
                                              size_t *count) {
  const struct view_function **list = allocate(v->functions, sizeof *list);
  *count = 0;
  for (size_t i = 0; i < v->functions; i++)
    if (is_active(&v->function[i]))
      list[(*count)++] = &v->function[i];
  if (*count)
    qsort_r(list, *count, sizeof *list, compare, &sort);
  return list;
}

/* -- where it is ---------------------------------------------------------------- */

/* Parts of a line, which goes on below where it is full. */
static void print_parts(const char *const *part, size_t count, FILE *out) {
  size_t column = 0;
  for (size_t i = 0; i < count; i++) {
    const char *text = cut_middle(part[i], FORMAT_WIDTH - 4);
    size_t width = shown_width(text);
    if (column && column + 2 + width > FORMAT_WIDTH) {
      fputs("\n  ", out);
      column = 2;
    }
    fprintf(out, "%s%s", i ? "  " : "", text);
    column += width + 2;
  }
  fputc('\n', out);
}

/* "server.c:88 uv_read"; without the name where it says nothing new. */
static const char *shown_end(const struct view_function *f, const char *place, const char *name) {
  bool plain = !name || !strcmp(name, f->name);
  return plain ? (place ? place : "?") : shown_join(place ? place : "?", name);
}

void report_print_place(const struct view_function *f, FILE *out) {
  char *between = NULL;
  const char *part[4];
  size_t count = 0;
  if (f->file)
    part[count++] = place_text(f->file, f->line);
  if (view_unseen(f))
    part[count++] = "no event of it was seen: whether it ran is not known";
  if (f->shared)
    part[count++] = "threads ran it at once: numbers are too low";
  if (f->slice_max != UNKNOWN && f->slice_max && (f->slice_between[0] || f->slice_between[1]))
    part[count++] = between =
        print_string("longest: %s .. %s", shown_end(f, f->slice_between[0], f->slice_names[0]),
                     shown_end(f, f->slice_between[1], f->slice_names[1]));
  style_set(out, STYLE_FAINT);
  fputs("  ", out);
  print_parts(part, count, out);
  style_set(out, STYLE_PLAIN);
  free(between);
}

/* -- a line ---------------------------------------------------------------------- */

enum { NAME_WIDTH = 18 };

/* How often a loop was held by it, and for how long; how its futures lived. */
static const struct column {
  const char *title;
  int width;
} columns[] = {{"loop", 6}, {"runs", 6},   {"p50", 6},  {"p99", 6},  {"worst", 6},
               {"made", 7}, {"queued", 7}, {"exec", 6}, {"wait", 6}, {"wall", 6}};

enum {
  COLUMNS = sizeof columns / sizeof *columns,
  PER_RUN = NAME_WIDTH + 6,
  PER_FUTURE = PER_RUN + 24
};

/* A cell, and what it is made of. */
#define CELL(member, text) shown_mark(LACKS(f->lacks, function, member), text)

/* A function that ran on threads of a pool alone has no part of a loop. */
static const char *loop_share(const struct view_function *f, const struct loop *loop) {
  return f->unmeasured || (f->exec && !f->loop_exec) ? "-"
                                                     : shown_share(f->loop_exec, loop->elapsed);
}

/* Of what all functions have of it. */
static const char *sort_share(const struct view *v, const struct view_function *f,
                              enum report_sort sort) {
  uint64_t all = 0;
  for (size_t i = 0; i < v->functions; i++)
    all += sort_value(&v->function[i], sort);
  return f->unmeasured ? "-" : shown_share(sort_value(f, sort), all);
}

/* The sum that sorts has no column of its own: the first column shows its share. */
static bool has_share(enum report_sort sort) {
  return sort == SORT_WAITING || sort == SORT_WALL || sort == SORT_QUEUED || sort == SORT_CHILDREN;
}

static const char *per_future(const struct view *v, const struct view_function *f, uint64_t sum) {
  return shown_short(f->unmeasured || sum == UNKNOWN ? UNKNOWN : ask_per_call(v, f, sum));
}

static const char *longest(const struct view *v, const struct view_function *f) {
  uint64_t slice = ask_longest_slice(f);
  return slice ? shown_short_in(v, slice) : "-";
}

static void print_function(const struct view *v, const struct view_function *f,
                           enum report_sort sort, const struct loop *loop, FILE *out) {
  const struct distribution *slice = &f->slice_of;
  const char *cells[COLUMNS] = {
      CELL(exec, has_share(sort) ? sort_share(v, f, sort) : loop_share(f, loop)),
      f->slices ? shown_count(f->slices) : "-",
      CELL(slice_of, slice->count ? shown_short_in(v, slice->p50) : "-"),
      CELL(slice_of, slice->count ? shown_short_in(v, slice->p99) : "-"),
      CELL(slice_max, longest(v, f)),
      shown_count(f->created),
      CELL(queued, per_future(v, f, f->queued)),
      CELL(exec, per_future(v, f, f->exec)),
      CELL(waiting, per_future(v, f, f->waiting)),
      CELL(wall, per_future(v, f, f->wall)),
  };
  char *name = f->process < v->processes
                   ? print_string("%s [%" PRId64 "]", f->name, v->merged[f->process].pid)
                   : print_string("%s", f->name);
  print_left(out, cut_middle(name, NAME_WIDTH), NAME_WIDTH);
  free(name);
  for (size_t i = 0; i < COLUMNS; i++)
    print_right(out, cells[i], columns[i].width);
  fputc('\n', out);
}

static void print_title(enum report_sort sort, FILE *out) {
  char by[64];
  snprintf(by, sizeof by, "by %s", report_sorts[sort]);
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  print_left(out, by, PER_RUN);
  print_left(out, "  ------ per run -------", PER_FUTURE - PER_RUN);
  fputs("  ------ per future, mean ------\n", out);
  print_left(out, "function", NAME_WIDTH);
  for (size_t i = 0; i < COLUMNS; i++)
    print_right(out, i || !has_share(sort) ? columns[i].title : "share", columns[i].width);
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
}

/* Libraries are folded only where the program has functions of its own. */
static bool has_own(const struct view_function **list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!ask_is_library(list[i]))
      return true;
  return false;
}

void report_print_functions(const struct view *v, const struct report_options *options,
                            struct report_rest *rest, FILE *out) {
  struct loop loop = ask_loop(v);
  size_t count, shown = 0,
                most = options->all || !options->functions ? SIZE_MAX : options->functions;
  const struct view_function **list = report_functions(v, options->sort, &count);
  bool fold = most != SIZE_MAX && has_own(list, count);
  for (size_t i = 0; i < count; i++) {
    bool library = fold && ask_is_library(list[i]);
    if (library) {
      rest->libraries++;
      rest->loop_exec += list[i]->loop_exec;
    }
    if (library || shown >= most) {
      rest->functions++;
      continue;
    }
    if (!shown++)
      print_title(options->sort, out);
    print_function(v, list[i], options->sort, &loop, out);
    if (options->all)
      report_print_place(list[i], out);
  }
  free(list);
}
