/* SPDX-License-Identifier: MIT */
/* The table of kinds of requests and functions, a column per number; see top.h. */
#include "format.h"
#include "read/util.h"
#include "top.h"

#include <stdlib.h>
#include <string.h>

struct cell {
  const struct view *view;
  struct top_numbers is;
};

static const char *shown(bool lacks, uint64_t value) {
  return value == TOP_UNKNOWN ? "?"
         : value == UNKNOWN   ? "-"
                              : shown_mark(lacks, shown_short(value));
}

static const char *exec_of(const struct cell *c) {
  return c->is.exec == TOP_UNKNOWN
             ? "?"
             : shown_mark(c->is.lacks_exec, shown_share(c->is.exec, top_span(c->view)));
}

static const char *rate_of(const struct cell *c) {
  return top_rate(c->is.ended, top_span(c->view));
}

static const char *slices_of(const struct cell *c) {
  return c->is.runs == UNKNOWN ? "" : top_rate(c->is.runs, top_span(c->view));
}

static const char *queued_of(const struct cell *c) {
  return shown(c->is.lacks_queued, c->is.queued_each);
}

static const char *waiting_of(const struct cell *c) {
  return shown(c->is.lacks_waiting, c->is.waiting_each);
}

static const char *run_of(const struct cell *c) {
  return shown(c->is.lacks_exec, c->is.exec_each);
}

static const char *p50_of(const struct cell *c) {
  return shown(c->is.lacks_points, c->is.p50);
}

static const char *p99_of(const struct cell *c) {
  return shown(c->is.lacks_points, c->is.p99);
}

static const char *live_of(const struct cell *c) {
  return c->is.live == UNKNOWN ? "" : shown_count(c->is.live);
}

static const char *worst_of(const struct cell *c) {
  if (!c->is.is_edge)
    return shown(c->is.lacks_worst, c->is.worst);
  const char *text = cut_right(turn_text("<%s", shown_short(c->is.worst)), 7);
  return shown_mark(c->is.lacks_worst, text);
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

/* "v GET /item", and what lies in it: "    db_get", "  [db]". */
static const char *called(const struct sheet *s, const struct top_row *r) {
  const struct view *v = s->context;
  const struct top_table *table = s->held;
  if (r->kinds > 1)
    return turn_text("    %s (%zu)", r->function->name, r->kinds);
  if (r->function)
    return r->kind          ? turn_text("    %s", r->function->name)
           : table->by_kind ? turn_text("  %s", r->function->name)
                            : r->function->name;
  return r->tier ? turn_text("  [%s]", r->tier->name)
                 : turn_text("%s %s", r->is_open ? "v" : ">", ask_kind_name(v, r->kind));
}

static char *make_row(const struct sheet *s, const void *of) {
  const struct top_row *r = of;
  struct cell cell = {.view = s->context};
  char *line = NULL;
  size_t length, place, name = name_width(s, &place);
  FILE *out = open_memstream(&line, &length);
  top_number(&cell.is, s->context, r);
  put(out, called(s, r), name);
  for (size_t i = 0; i < COLUMNS; i++)
    if (s->width >= columns[i].from)
      print_right(out, columns[i].text(&cell), columns[i].width);
  const char *file = r->function ? r->function->file : r->tier ? NULL : r->kind->file;
  uint64_t at = r->function ? r->function->line : r->kind->line;
  if (place) {
    fputs("  " SHEET_FAINT, out);
    put(out, file ? place_text(file, at) : "", place - 2);
  }
  fclose(out);
  return line;
}

static const char *marked(const char *title, bool sorted, bool reverse) {
  return sorted ? shown_join(reverse ? "^" : "v", title) : title;
}

static char *title_of(const struct sheet *s, const struct top_look *look, bool by_kind) {
  char *line = NULL;
  size_t length, place, name = name_width(s, &place);
  FILE *out = open_memstream(&line, &length);
  const char *what = by_kind ? "KIND / FUNCTION" : "FUNCTION";
  print_left(out, cut_right(marked(what, look->sort == BY_NAME, look->reverse), name), (int)name);
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

static const char *nothing_there(const struct top_look *look) {
  return look->requests.kind || look->requests.tier ? "no such requests in this time"
         : *look->filter                            ? "no function passes the filter"
                                                    : "nothing has run in this time";
}

/* A key ends with the function's name, which tells most apart. */
static bool is_picked(const struct top_row *r, const char *picked) {
  size_t length = strlen(picked), name = r->function ? strlen(r->function->name) : 0;
  if (name > length || (name && strcmp(picked + length - name, r->function->name) != 0))
    return false;
  char *key = top_row_key(r);
  bool is = !strcmp(key, picked);
  free(key);
  return is;
}

void top_functions_page(struct sheet *s, const struct top_look *look, const struct top_process *p) {
  struct top_table *table = top_rows(look, p->view);
  s->title = title_of(s, look, table->by_kind);
  s->make = make_row;
  s->context = p->view;
  s->held = table;
  s->release = top_table_free;
  const void **of = allocate(table->count + 1, sizeof *of);
  for (size_t i = 0; i < table->count; i++)
    of[i] = &table->row[i];
  sheet_rows(s, of, table->count);
  free(of);
  for (size_t i = 0; look->picked && i < table->count; i++)
    if (is_picked(&table->row[i], look->picked)) {
      s->selected = i;
      break;
    }
  if (!table->count)
    sheet_row(s, print_string("%s", nothing_there(look)), NULL);
}
