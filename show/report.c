/* SPDX-License-Identifier: MIT */
/* The report as text; see report.h. */
#include "report.h"
#include "outputs.h"

#include "ask/format.h"
#include "read/governed.h"
#include "read/util.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 22, NAME_MARKED = 20, PATH_WIDTH = 60 };

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
    return f->wall;
  case SORT_QUEUED:
    return f->queued;
  case SORT_SLICE:
    return f->slice_of.count ? f->slice_of.p99 : 0;
  case SORT_WORST:
    return known(f->slice_max);
  case SORT_CHILDREN:
    return f->children_exec;
  default:
    return f->exec;
  }
}

static int compare(const void *a, const void *b, void *context) {
  const struct view_function *x = *(const struct view_function *const *)a;
  const struct view_function *y = *(const struct view_function *const *)b;
  enum report_sort sort = *(const enum report_sort *)context;
  bool timed = sort != SORT_NAME && sort != SORT_CALLS;
  if (timed && x->unmeasured != y->unmeasured)
    return x->unmeasured ? 1 : -1;
  if (sort != SORT_NAME) {
    uint64_t left = sort_value(x, sort), right = sort_value(y, sort);
    if (left != right)
      return left > right ? -1 : 1;
  }
  int order = strcmp(x->name, y->name);
  return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* In an interval a function may have done nothing. */
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

/* -- the first line -------------------------------------------------------- */

struct line {
  FILE *out;
  size_t column;
};

/* Parts of a line, three spaces apart, on the next line where they do not fit. */
static void add_part(struct line *line, const char *text) {
  size_t width = shown_width(text);
  if (line->column && line->column + 3 + width > FORMAT_WIDTH) {
    fputs("\n  ", line->out);
    line->column = 2;
  } else if (line->column) {
    fputs("   ", line->out);
    line->column += 3;
  }
  fputs(text, line->out);
  line->column += width;
}

static void add_health(struct line *line, const struct view *v) {
  static const char *const what[] = {"futures",       "events",     "events in handlers",
                                     "events missed", "histograms", "paths in (other)",
                                     "threads torn"};
  static const char *const one[] = {"future",       "event",     "event in a handler",
                                    "event missed", "histogram", "path in (other)",
                                    "thread torn"};
  const uint64_t count[] = {v->health.lost_futures,    v->health.lost_events,
                            v->health.nested_events,   v->health.missed_events,
                            v->health.lost_histograms, v->health.other_nodes,
                            v->health.torn_threads};
  char text[256] = "";
  for (size_t i = 0; i < sizeof count / sizeof *count; i++)
    if (count[i]) {
      size_t length = strlen(text);
      snprintf(text + length, sizeof text - length, "%s%s %s",
               length ? ", " : "lost: ", shown_count(count[i]), count[i] == 1 ? one[i] : what[i]);
    }
  add_part(line, text[0] ? text : "nothing lost");
  if (!v->health.consistent)
    add_part(line, "read while busy: the last instants are blurred");
}

/* How long all numbers are of: not the whole life after a reset, or where it was off. */
static void add_length(char *text, size_t room, const struct view *v) {
  const char *all = shown_time(v->process.elapsed), *part = shown_time(v->process.measured);
  bool whole = v->process.measured == UNKNOWN || !strcmp(all, part);
  bool reset = v->process.reset != UNKNOWN, off = v->process.epoch > v->process.reset_epoch;
  if (v->is_interval)
    snprintf(text, room, "%s%s between the two", whole ? all : part, whole ? "" : " of profiling");
  else if (whole)
    snprintf(text, room, "%s", all);
  else if (reset)
    snprintf(text, room, "%s%s since the reset", part, off ? " of profiling" : "");
  else
    snprintf(text, room, "%s of profiling in %s", part, all);
}

static void print_head(const struct view *v, FILE *out) {
  struct loop loop = ask_loop(v);
  struct line line = {.out = out};
  uint64_t created = 0, live = 0;
  char text[256];
  for (size_t i = 0; i < v->functions; i++) {
    created += v->function[i].created;
    live += v->function[i].live;
  }
  style_set(out, STYLE_TITLE);
  if (v->processes)
    snprintf(text, sizeof text, "%s (%zu processes) ", cut_right(v->process.name, 40),
             v->processes);
  else if (v->only)
    snprintf(text, sizeof text, "%s (pid %" PRId64 ", loop %" PRId64 ") ",
             cut_right(v->process.name, 40), v->process.pid, v->only);
  else
    snprintf(text, sizeof text, "%s (pid %" PRId64 ") ", cut_right(v->process.name, 40),
             v->process.pid);
  add_length(text + strlen(text), sizeof text - strlen(text), v);
  add_part(&line, text);
  style_set(out, STYLE_PLAIN);
  if (loop.has_idle)
    snprintf(text, sizeof text, "loop %s busy",
             shown_percent(loop.elapsed - loop.idle, loop.elapsed));
  else
    snprintf(text, sizeof text, "futures ran %s of the time",
             shown_mark(LACKS(loop.lacks, thread, exec), shown_percent(loop.exec, loop.elapsed)));
  size_t length = strlen(text);
  if (loop.worst != UNKNOWN)
    snprintf(text + length, sizeof text - length, ", held %s at worst",
             shown_mark(LACKS(loop.lacks, loop, slice_max), ask_time(v, loop.worst)));
  else if (loop.unseen)
    snprintf(text + length, sizeof text - length, ", no hold of it was seen (~)");
  add_part(&line, text);
  snprintf(text, sizeof text, "%s future%s, %s live", shown_count(created), created == 1 ? "" : "s",
           shown_count(live));
  add_part(&line, text);
  if (v->health.overhead >= 0) {
    snprintf(text, sizeof text, "cost %s%.1f %% of the work",
             v->health.event_cost_timed ? "" : "at least ", v->health.overhead);
    add_part(&line, text);
  }
  add_health(&line, v);
  fputc('\n', out);
}

/* -- functions ------------------------------------------------------------- */

static const struct column {
  const char *title;
  int width, marked; /* marked: where numbers may have a mark */
} columns[] = {{"calls", 6, 6},       {"loop", 7, 8},        {"exec/call", 10, 10},
               {"p99", 8, 9},         {"wait/call", 10, 10}, {"wall p99", 9, 9},
               {"slice p99", 10, 10}, {"worst", 8, 9},       {"children", 9, 9}};

enum { COLUMNS = sizeof columns / sizeof *columns };

static uint64_t p99(const struct distribution *d) {
  return d->count ? d->p99 : UNKNOWN;
}

/* "server.c:88 uv_read"; without the name where it says nothing new. */
static const char *shown_end(const struct view_function *f, const char *place, const char *name) {
  bool plain = !name || !strcmp(name, f->name);
  return plain ? (place ? place : "?") : shown_join(place ? place : "?", name);
}

/* ":17" where the line is of the file that was named just before. */
static const char *after_place(const char *place, const char *before) {
  const char *colon = place ? strrchr(place, ':') : NULL;
  bool same = colon && before && !strncmp(place, before, (size_t)(colon - place) + 1);
  return same ? colon : place;
}

static void write_place(const struct view_function *f, bool bare, char *text, size_t room) {
  const char *from = bare ? shown_base(f->slice_between[0]) : f->slice_between[0];
  const char *to = bare ? shown_base(after_place(f->slice_between[1], f->slice_between[0]))
                        : f->slice_between[1];
  snprintf(text, room, "  %s", shown_place(bare ? shown_base(f->file) : f->file, f->line));
  size_t length = strlen(text);
  if (view_unseen(f))
    snprintf(text + length, room - length, "%sno event of it was seen: whether it ran is not known",
             length > 2 ? "   " : "");
  if (f->shared)
    snprintf(text + length, room - length, "   threads ran it at once: numbers are too low");
  length = strlen(text);
  if (f->slice_max != UNKNOWN && f->slice_max && (f->slice_between[0] || f->slice_between[1]))
    snprintf(text + length, room - length, "   worst: %s .. %s",
             shown_end(f, from, f->slice_names[0]), shown_end(f, to, f->slice_names[1]));
}

/* Where it is, and between which two places its worst slice lies: lines rather than
   directories. */
static void print_place(const struct view_function *f, FILE *out) {
  char text[2048];
  write_place(f, false, text, sizeof text);
  if (shown_width(text) > FORMAT_WIDTH)
    write_place(f, true, text, sizeof text);
  style_set(out, STYLE_FAINT);
  fprintf(out, "%s", cut_right(text, FORMAT_WIDTH));
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
}

/* A cell, and what it is made of. */
#define CELL(member, text) shown_mark(LACKS(f->lacks, function, member), text)

/* What only ever ran on threads of a pool has no part of a loop. */
static const char *loop_share(const struct view_function *f, const struct loop *loop) {
  return f->unmeasured || (f->exec && !f->loop_exec) ? "-"
                                                     : shown_percent(f->loop_exec, loop->elapsed);
}

static const char *mean_time(const struct view *v, const struct view_function *f, uint64_t sum) {
  return shown_time(f->unmeasured ? UNKNOWN : ask_per_call(v, f, sum));
}

static bool has_marks(const struct view *v) {
  return v->shed || v->is_interval;
}

static void print_function(const struct view *v, const struct view_function *f,
                           const struct loop *loop, FILE *out) {
  bool marked = has_marks(v);
  int room = marked ? NAME_MARKED : NAME_WIDTH;
  const char *cells[COLUMNS] = {
      shown_count(f->created),
      CELL(exec, loop_share(f, loop)),
      CELL(exec, mean_time(v, f, f->exec)),
      CELL(exec_of, ask_time(v, p99(&f->exec_of))),
      CELL(waiting, mean_time(v, f, f->waiting)),
      CELL(wall_of, ask_time(v, p99(&f->wall_of))),
      CELL(slice_of, ask_time(v, p99(&f->slice_of))),
      CELL(slice_max, ask_time(v, f->slice_max)),
      CELL(children_exec, mean_time(v, f, f->children_exec)),
  };
  char *name = f->process < v->processes
                   ? print_string("%s [%" PRId64 "]", f->name, v->merged[f->process].pid)
                   : print_string("%s", f->name);
  if (shown_width(name) > (size_t)room) {
    fprintf(out, "%s\n", cut_right(name, FORMAT_WIDTH));
    print_left(out, "", room);
  } else
    print_left(out, name, room);
  free(name);
  for (size_t i = 0; i < COLUMNS; i++)
    print_right(out, cells[i], marked ? columns[i].marked : columns[i].width);
  fputc('\n', out);
  print_place(f, out);
}

void report_print_more(size_t all, size_t shown, FILE *out) {
  if (all > shown)
    fprintf(out, "and %zu more (--top 0 shows all)\n", all - shown);
}

static void print_functions(const struct view *v, const struct report_options *options, FILE *out) {
  struct loop loop = ask_loop(v);
  bool marked = has_marks(v);
  size_t all, count;
  const struct view_function **list = report_functions(v, options->sort, &all);
  count = options->functions && options->functions < all ? options->functions : all;
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  print_left(out, "function", marked ? NAME_MARKED : NAME_WIDTH);
  for (size_t i = 0; i < COLUMNS; i++)
    print_right(out, columns[i].title, marked ? columns[i].marked : columns[i].width);
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
  for (size_t i = 0; i < count; i++)
    print_function(v, list[i], &loop, out);
  report_print_more(all, count, out);
  free(list);
}

/* -- waits ----------------------------------------------------------------- */

static void print_wait(const struct view *v, const struct wait *w, FILE *out) {
  unsigned lacks = w->at->function < v->functions ? v->function[w->at->function].lacks : 0;
  bool lack = LACKS(lacks, path, waiting);
  const char *mean_wait = ask_time(v, w->mean);
  /* Functions are what a row is about: a directory goes before any of their names does. */
  char *path = shown_width(w->path) > PATH_WIDTH ? ask_bare_path(v, w) : NULL;
  print_left(out, cut_left(path ? path : w->path, PATH_WIDTH), PATH_WIDTH);
  free(path);
  print_right(out, shown_mark(lack, shown_count(w->count)), 7);
  print_right(out, shown_mark(lack, shown_time(w->waiting)), 11);
  print_right(out, shown_mark(lack, mean_wait), 11);
  print_right(out, shown_mark(LACKS(lacks, await, waits), ask_time(v, w->p99)), 11);
  fputc('\n', out);
}

static void print_waits(const struct view *v, const struct report_options *options, bool background,
                        FILE *out) {
  size_t all, count;
  struct wait *waits = ask_waits(v, background, &all);
  count = options->waits && options->waits < all ? options->waits : all;
  if (count) {
    fputc('\n', out);
    style_set(out, STYLE_TITLE);
    print_left(out, background ? "waiting for new work" : "where the waiting was spent",
               PATH_WIDTH);
    fprintf(out, "%7s%11s%11s%11s", "count", "total", "mean", "p99");
    style_set(out, STYLE_PLAIN);
    fputc('\n', out);
  }
  for (size_t i = 0; i < count; i++)
    print_wait(v, &waits[i], out);
  report_print_more(all, count, out);
  ask_waits_free(waits, all);
}

static void shorten(struct view *v, FILE *out) {
  char *directory = report_directory(v);
  report_shorten(v, directory);
  if (*directory) {
    style_set(out, STYLE_FAINT);
    fprintf(out, "files are in %s\n", cut_left(directory, FORMAT_WIDTH - 13));
    style_set(out, STYLE_PLAIN);
  }
  free(directory);
}

void report_print(struct view *v, const struct report_options *options, FILE *out) {
  style_choose(out);
  print_head(v, out);
  shorten(v, out);
  report_print_loops(v, options, out);
  if (v->is_interval)
    fputs(
        "  what began before counts: in sums its part since, in mean, p99 and worst all of it (^: "
        "longer)\n",
        out);
  report_print_shed(v, out);
  report_print_findings(v, options, out);
  print_functions(v, options, out);
  print_waits(v, options, false, out);
  report_print_wakers(v, options, out);
  report_print_blocking(v, options, out);
  print_waits(v, options, true, out);
  report_print_misses(v, options, out);
}

/* -- as an output -------------------------------------------------------------- */

const struct report_options report_defaults = {
    .sort = SORT_EXEC, .functions = 20, .waits = 10, .limits = ASK_DEFAULTS};

static int print(struct view *v, const void *options, FILE *out) {
  report_print(v, options, out);
  return 0;
}

static int write_json(struct view *v, const void *options, FILE *out) {
  report_json(v, options, out);
  return 0;
}

static char *take_top(void *options, const char *text) {
  struct report_options *o = options;
  uint64_t rows;
  if (!parse_number(text, &rows))
    return print_string("that is not a number of rows");
  o->functions = o->waits = rows;
  return NULL;
}

static const struct option_row own[] = {
    {"sort", 's', OPTION_WORD, offsetof(struct report_options, sort), "KEY",
     .text = "Order functions by KEY: exec (default), calls, waiting, wall, queued, slice, worst, "
             "children, name",
     .words = report_sorts},
    {"top", 'n', OPTION_OWN, 0, "N",
     .text = "Show N functions and N waits (default 20 and 10; 0: all)", .take = take_top},
    {0}};

const struct output output_report = {
    .name = "report",
    .summary = "show totals, or the interval between two of them",
    .about = "Shows what is wrong, in words, then functions, then the awaits where time was really "
             "spent. With two totals of one process, what happened between them.\v"
             "Columns: calls: futures created. loop: share of the loop's time. exec/call: time on "
             "the CPU, children excluded. wait/call: time in awaits. wall p99: from creation to "
             "end. slice: one hold of the loop; worst: the longest, with the two places it lies "
             "between. children: what the children ran, per call. `-' is not measured.",
    .targets = OUTPUT_INTERVAL,
    .option = own,
    .size = sizeof(struct report_options),
    .defaults = &report_defaults,
    .has_limits = true,
    .limits = offsetof(struct report_options, limits),
    .text = print,
    .json = write_json};
