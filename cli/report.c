/* The report as text; see report.h. */
#include "report.h"

#include "cli.h"
#include "format.h"
#include "governed.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 22, NAME_MARKED = 20, PATH_WIDTH = 60 };

const char *const report_sorts[] = {"exec",  "calls", "waiting",  "wall", "queued",
                                    "slice", "worst", "children", "name", NULL};

struct loop report_loop(const struct reading *r) {
  struct loop loop = {.worst = UNKNOWN};
  uint64_t all_exec = 0, all_elapsed = 0, pool_elapsed = 0;
  for (size_t i = 0; i < r->threads; i++) {
    const struct r_thread *t = &r->thread[i];
    all_elapsed += t->elapsed;
    all_exec += t->exec;
    pool_elapsed += t->is_pool ? t->elapsed : 0;
    if ((!t->exec && !t->idle && !(t->shed >> APROF_STEP_COARSE)) || t->is_pool)
      continue; /* what it ran may not be known */
    loop.has_idle |= t->idle != 0;
    loop.elapsed += t->elapsed;
    loop.idle += t->idle;
    loop.exec += t->exec;
    loop.unseen += governed_unseen(r, t);
    loop.shed |= t->shed;
  }
  if (!loop.elapsed) { /* a pool alone: the thread that feeds it is no part of it */
    loop.elapsed = pool_elapsed ? pool_elapsed : all_elapsed;
    loop.exec = all_exec;
  }
  for (size_t i = 0; i < r->functions; i++) {
    uint64_t slice = report_longest_slice(&r->function[i]);
    if (slice && (loop.worst == UNKNOWN || slice > loop.worst))
      loop.worst = slice;
  }
  for (size_t i = 0; i < r->lives; i++) {
    uint64_t holds = r->live[i].holds;
    if (holds && (loop.worst == UNKNOWN || holds > loop.worst))
      loop.worst = holds;
  }
  return loop;
}

/* -- order ----------------------------------------------------------------- */

static uint64_t known(uint64_t value) {
  return value == UNKNOWN ? 0 : value;
}

static uint64_t sort_value(const struct r_function *f, enum report_sort sort) {
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
  const struct r_function *x = *(const struct r_function *const *)a;
  const struct r_function *y = *(const struct r_function *const *)b;
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
static bool is_active(const struct r_function *f) {
  return f->created || f->exec || f->waiting || f->queued || f->slices || f->live;
}

const struct r_function **report_functions(const struct reading *r, enum report_sort sort,
                                           size_t *count) {
  const struct r_function **list = allocate(r->functions, sizeof *list);
  *count = 0;
  for (size_t i = 0; i < r->functions; i++)
    if (is_active(&r->function[i]))
      list[(*count)++] = &r->function[i];
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

static void add_health(struct line *line, const struct reading *r) {
  static const char *const what[] = {"futures",       "events",     "events in handlers",
                                     "events missed", "histograms", "paths in (other)",
                                     "threads torn"};
  static const char *const one[] = {"future",       "event",     "event in a handler",
                                    "event missed", "histogram", "path in (other)",
                                    "thread torn"};
  const uint64_t count[] = {r->lost_futures,    r->lost_events, r->nested_events, r->missed_events,
                            r->lost_histograms, r->other_nodes, r->torn_threads};
  char text[256] = "";
  for (size_t i = 0; i < sizeof count / sizeof *count; i++)
    if (count[i]) {
      size_t length = strlen(text);
      snprintf(text + length, sizeof text - length, "%s%s %s",
               length ? ", " : "lost: ", shown_count(count[i]), count[i] == 1 ? one[i] : what[i]);
    }
  add_part(line, text[0] ? text : "nothing lost");
  if (!r->consistent)
    add_part(line, "read while busy: the last instants are blurred");
}

/* How long all numbers are of: not the whole life after a reset, or where it was off. */
static void add_length(char *text, size_t room, const struct reading *r) {
  const char *all = shown_time(r->elapsed), *part = shown_time(r->measured);
  bool whole = r->measured == UNKNOWN || !strcmp(all, part);
  bool reset = r->reset != UNKNOWN, off = r->epoch > r->reset_epoch;
  if (r->is_interval)
    snprintf(text, room, "%s%s between the two", whole ? all : part, whole ? "" : " of profiling");
  else if (whole)
    snprintf(text, room, "%s", all);
  else if (reset)
    snprintf(text, room, "%s%s since the reset", part, off ? " of profiling" : "");
  else
    snprintf(text, room, "%s of profiling in %s", part, all);
}

static void print_head(const struct reading *r, FILE *out) {
  struct loop loop = report_loop(r);
  struct line line = {.out = out};
  uint64_t created = 0, live = 0;
  char text[256];
  for (size_t i = 0; i < r->functions; i++) {
    created += r->function[i].created;
    live += r->function[i].live;
  }
  style_set(out, STYLE_TITLE);
  snprintf(text, sizeof text, "%s (pid %" PRIu64 ") ", cut_right(r->name, 40), r->pid);
  add_length(text + strlen(text), sizeof text - strlen(text), r);
  add_part(&line, text);
  style_set(out, STYLE_PLAIN);
  if (loop.has_idle)
    snprintf(text, sizeof text, "loop %s busy",
             shown_percent(loop.elapsed - loop.idle, loop.elapsed));
  else
    snprintf(text, sizeof text, "futures ran %s of the time",
             governed_mark(loop.shed, APROF_STEP_COARSE, shown_percent(loop.exec, loop.elapsed)));
  size_t length = strlen(text);
  if (loop.worst != UNKNOWN)
    snprintf(text + length, sizeof text - length, ", held %s at worst",
             governed_mark(loop.shed, governed_maxima(r), shown_time(loop.worst)));
  else if (loop.unseen)
    snprintf(text + length, sizeof text - length, ", no hold of it was seen (~)");
  add_part(&line, text);
  snprintf(text, sizeof text, "%s future%s, %s live", shown_count(created), created == 1 ? "" : "s",
           shown_count(live));
  add_part(&line, text);
  if (r->overhead >= 0) { /* what was measured is an event that finds all in the caches */
    snprintf(text, sizeof text, "cost at least %.1f %%", r->overhead);
    add_part(&line, text);
  }
  add_health(&line, r);
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

static uint64_t mean(uint64_t sum, uint64_t count) {
  return count ? sum / count : UNKNOWN;
}

static uint64_t p99(const struct distribution *d) {
  return d->count ? d->p99 : UNKNOWN;
}

/* "server.c:88 uv_read"; without the name where it says nothing new. */
static const char *shown_end(const struct r_function *f, const char *place, const char *name) {
  bool plain = !name || !strcmp(name, f->name);
  return plain ? (place ? place : "?") : shown_join(place ? place : "?", name);
}

/* ":17" where the line is of the file that was named just before. */
static const char *after_place(const char *place, const char *before) {
  const char *colon = place ? strrchr(place, ':') : NULL;
  bool same = colon && before && !strncmp(place, before, (size_t)(colon - place) + 1);
  return same ? colon : place;
}

static void write_place(const struct r_function *f, bool bare, char *text, size_t room) {
  const char *from = bare ? shown_base(f->slice_from) : f->slice_from;
  const char *to = bare ? shown_base(after_place(f->slice_to, f->slice_from)) : f->slice_to;
  snprintf(text, room, "  %s", shown_place(bare ? shown_base(f->file) : f->file, f->line));
  size_t length = strlen(text);
  if (f->slice_max != UNKNOWN && f->slice_max && (f->slice_from || f->slice_to))
    snprintf(text + length, room - length, "   worst: %s .. %s",
             shown_end(f, from, f->slice_from_name), shown_end(f, to, f->slice_to_name));
}

/* Where it is, and between which two places its worst slice lies: lines rather than
   directories. */
static void print_place(const struct r_function *f, FILE *out) {
  char text[2048];
  write_place(f, false, text, sizeof text);
  if (shown_width(text) > FORMAT_WIDTH)
    write_place(f, true, text, sizeof text);
  style_set(out, STYLE_FAINT);
  fprintf(out, "%s", cut_right(text, FORMAT_WIDTH));
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
}

/* A number that is not of all the time. */
static const char *mark(const struct r_function *f, enum aprof_step from, const char *text) {
  return governed_mark(f->shed, from, text);
}

/* What only ever ran on threads of a pool has no part of a loop. */
static const char *loop_share(const struct r_function *f, const struct loop *loop) {
  return f->unmeasured || (f->exec && !f->loop_exec) ? "-"
                                                     : shown_percent(f->loop_exec, loop->elapsed);
}

static const char *mean_time(const struct r_function *f, uint64_t sum) {
  return shown_time(f->unmeasured ? UNKNOWN : mean(sum, f->created));
}

static void print_function(const struct reading *r, const struct r_function *f,
                           const struct loop *loop, FILE *out) {
  bool marked = r->shed != 0;
  int room = marked ? NAME_MARKED : NAME_WIDTH;
  const char *cells[COLUMNS] = {
      shown_count(f->created),
      mark(f, APROF_STEP_COARSE, loop_share(f, loop)),
      mark(f, APROF_STEP_COARSE, mean_time(f, f->exec)),
      mark(f, APROF_STEP_HISTOGRAMS, shown_time(p99(&f->exec_of))),
      mark(f, APROF_STEP_COARSE, mean_time(f, f->waiting)),
      mark(f, APROF_STEP_HISTOGRAMS, shown_time(p99(&f->wall_of))),
      mark(f, APROF_STEP_HISTOGRAMS, shown_time(p99(&f->slice_of))),
      mark(f, governed_maxima(r), shown_time(f->slice_max)),
      mark(f, APROF_STEP_TREE, mean_time(f, f->children_exec)),
  };
  if (shown_width(f->name) > (size_t)room) {
    fprintf(out, "%s\n", cut_right(f->name, FORMAT_WIDTH));
    print_left(out, "", room);
  } else
    print_left(out, f->name, room);
  for (size_t i = 0; i < COLUMNS; i++)
    print_right(out, cells[i], marked ? columns[i].marked : columns[i].width);
  fputc('\n', out);
  print_place(f, out);
}

void report_print_more(size_t all, size_t shown, FILE *out) {
  if (all > shown)
    fprintf(out, "and %zu more (--top 0 shows all)\n", all - shown);
}

static void print_functions(const struct reading *r, const struct report_options *options,
                            FILE *out) {
  struct loop loop = report_loop(r);
  bool marked = r->shed != 0;
  size_t all, count;
  const struct r_function **list = report_functions(r, options->sort, &all);
  count = options->functions && options->functions < all ? options->functions : all;
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  print_left(out, "function", marked ? NAME_MARKED : NAME_WIDTH);
  for (size_t i = 0; i < COLUMNS; i++)
    print_right(out, columns[i].title, marked ? columns[i].marked : columns[i].width);
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
  for (size_t i = 0; i < count; i++)
    print_function(r, list[i], &loop, out);
  report_print_more(all, count, out);
  free(list);
}

/* -- waits ----------------------------------------------------------------- */

static void print_wait(const struct reading *r, const struct wait *w, FILE *out) {
  unsigned shed = w->at->function < r->functions ? r->function[w->at->function].shed : 0;
  const char *mean_wait = shown_time(w->mean);
  /* Functions are what a row is about: a directory goes before any of their names does. */
  char *path = shown_width(w->path) > PATH_WIDTH ? report_bare_path(r, w) : NULL;
  print_left(out, cut_left(path ? path : w->path, PATH_WIDTH), PATH_WIDTH);
  free(path);
  print_right(out, governed_mark(shed, APROF_STEP_TREE, shown_count(w->count)), 7);
  print_right(out, governed_mark(shed, APROF_STEP_TREE, shown_time(w->waiting)), 11);
  print_right(out, governed_mark(shed, APROF_STEP_TREE, mean_wait), 11);
  print_right(out, governed_mark(shed, APROF_STEP_HISTOGRAMS, shown_time(w->p99)), 11);
  fputc('\n', out);
}

static void print_waits(const struct reading *r, const struct report_options *options,
                        bool background, FILE *out) {
  size_t all, count;
  struct wait *waits = report_waits(r, background, &all);
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
    print_wait(r, &waits[i], out);
  report_print_more(all, count, out);
  report_waits_free(waits, all);
}

static void shorten(struct reading *r, FILE *out) {
  char *directory = reading_directory(r);
  reading_shorten(r, directory);
  if (*directory) {
    style_set(out, STYLE_FAINT);
    fprintf(out, "files are in %s\n", cut_left(directory, FORMAT_WIDTH - 13));
    style_set(out, STYLE_PLAIN);
  }
  free(directory);
}

void report_print(struct reading *r, const struct report_options *options, FILE *out) {
  style_choose(out);
  print_head(r, out);
  shorten(r, out);
  report_print_loops(r, options, out);
  governed_print(r, out);
  report_print_findings(r, options, out);
  print_functions(r, options, out);
  print_waits(r, options, false, out);
  report_print_wakers(r, options, out);
  report_print_blocking(r, options, out);
  print_waits(r, options, true, out);
  report_print_misses(r, options, out);
}
