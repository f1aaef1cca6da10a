/* SPDX-License-Identifier: MIT */
/* The table of functions, a column per number; see top.h. */
#include "format.h"
#include "read/util.h"
#include "top.h"

#include <stdlib.h>
#include <string.h>

struct cell {
  const struct view *view;
  const struct view_function *function;
};

static const char *exec_of(const struct cell *c) {
  const struct view_function *f = c->function;
  if (f->exec == UNKNOWN)
    return "?";
  return shown_mark(LACKS(f->lacks, function, exec), shown_share(f->exec, top_span(c->view)));
}

static const char *rate_of(const struct cell *c) {
  return top_rate(top_ended(c->function), top_span(c->view));
}

static const char *per_call(const struct cell *c, uint64_t sum, bool lacks) {
  return shown_mark(lacks, shown_short(top_per_call(c->view, c->function, sum)));
}

static const char *queued_of(const struct cell *c) {
  return per_call(c, c->function->queued, LACKS(c->function->lacks, function, queued));
}

static const char *waiting_of(const struct cell *c) {
  return per_call(c, c->function->waiting, LACKS(c->function->lacks, function, waiting));
}

static const char *run_of(const struct cell *c) {
  return per_call(c, c->function->exec, LACKS(c->function->lacks, function, exec));
}

static const char *point(const struct cell *c, uint64_t value) {
  const struct view_function *f = c->function;
  return !f->wall_of.count ? "-"
                           : shown_mark(LACKS(f->lacks, function, wall_of), shown_short(value));
}

static const char *p50_of(const struct cell *c) {
  return point(c, c->function->wall_of.p50);
}

static const char *p99_of(const struct cell *c) {
  return point(c, c->function->wall_of.p99);
}

static const char *live_of(const struct cell *c) {
  return shown_count(c->function->live);
}

static const char *slices_of(const struct cell *c) {
  return top_rate(c->function->slices, top_span(c->view));
}

/* Of a window whose longest is not new: not longer than that. */
static const char *worst_of(const struct cell *c) {
  const struct view_function *f = c->function;
  bool lacks = LACKS(f->lacks, function, slice_max);
  if (f->slice_max != UNKNOWN)
    return shown_mark(lacks, shown_short(f->slice_max));
  if (!f->slice_of.count)
    return "-";
  char *edge = print_string("<%s", shown_short(f->slice_of.max));
  const char *text = cut_right(shown_join("", edge) + 1, 7);
  free(edge);
  return shown_mark(lacks, text);
}

/* `sort`: its index in top_sorts, or -1. `from`: shown from so many columns on. */
static const struct column {
  const char *title;
  int width, sort;
  size_t from;
  const char *(*text)(const struct cell *);
} columns[] = {{"RATE/S", 7, 1, 0, rate_of},    {"RUNS/S", 7, -1, 0, slices_of},
               {"EXEC", 6, 0, 0, exec_of},      {"EXEC/1", 7, -1, 100, run_of},
               {"WORST", 8, -1, 100, worst_of}, {"QUEUED/1", 9, 2, 0, queued_of},
               {"WAIT/1", 7, 3, 0, waiting_of}, {"P50", 7, 4, 0, p50_of},
               {"P99", 6, 5, 0, p99_of},        {"LIVE", 6, 6, 0, live_of}};
enum { COLUMNS = sizeof columns / sizeof *columns, PLACE_FROM = 120, BY_NAME = 7, LEAST_NAME = 12 };

/* Of the name's column, and the place's (0: there is none). */
static size_t name_width(const struct sheet *s, size_t *place) {
  size_t used = 0;
  for (size_t i = 0; i < COLUMNS; i++)
    used += s->width >= columns[i].from ? (size_t)columns[i].width : 0;
  size_t left = s->width > used + LEAST_NAME ? s->width - used : LEAST_NAME;
  *place = s->width >= PLACE_FROM ? left / 2 : 0;
  return left - *place;
}

static void put(FILE *out, const char *text, size_t width) {
  print_left(out, cut_middle(text, width - 1), (int)width);
}

static char *make_row(const struct sheet *s, const void *of) {
  const struct cell cell = {s->context, of};
  const struct view_function *f = of;
  char *line = NULL;
  size_t length, place, name = name_width(s, &place);
  FILE *out = open_memstream(&line, &length);
  put(out, f->name, name);
  for (size_t i = 0; i < COLUMNS; i++)
    if (s->width >= columns[i].from)
      print_right(out, columns[i].text(&cell), columns[i].width);
  if (place) {
    fputs("  " SHEET_FAINT, out);
    put(out, f->file ? place_text(f->file, f->line) : "", place - 2);
  }
  fclose(out);
  return line;
}

static const char *marked(const char *title, bool sorted, bool reverse) {
  return sorted ? shown_join(reverse ? "^" : "v", title) : title;
}

static char *title_of(const struct sheet *s, const struct top_look *look) {
  char *line = NULL;
  size_t length, place, name = name_width(s, &place);
  FILE *out = open_memstream(&line, &length);
  print_left(out, marked("FUNCTION", look->sort == BY_NAME, look->reverse), (int)name);
  for (size_t i = 0; i < COLUMNS; i++) {
    if (s->width < columns[i].from)
      continue;
    bool sorted = columns[i].sort == look->sort;
    char *title = print_string("%s%s", sorted ? look->reverse ? "^" : "v" : "", columns[i].title);
    print_right(out, title, columns[i].width);
    free(title);
  }
  if (place)
    print_left(out, "  PLACE", (int)place);
  fclose(out);
  return line;
}

void top_functions_page(struct sheet *s, const struct top_look *look, const struct top_process *p) {
  size_t count;
  const struct view_function **sorted = top_sorted(look, p->view, &count);
  const char *selected = look->function[0];
  s->title = title_of(s, look);
  s->make = make_row;
  s->context = p->view;
  sheet_rows(s, (const void *const *)sorted, count);
  for (size_t i = 0; selected && i < count; i++) {
    const char *name = strrchr(selected, '\n') + 1;
    char *key = strcmp(name, sorted[i]->name) ? NULL : top_key(sorted[i]);
    if (key && !strcmp(key, selected))
      s->selected = i;
    free(key);
  }
  if (!count)
    sheet_row(s,
              print_string("%s", *look->filter ? "no function passes the filter"
                                               : "nothing has run in this time"),
              NULL);
  free(sorted);
}
