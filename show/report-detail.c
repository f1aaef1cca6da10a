/* SPDX-License-Identifier: MIT */
/* The report: all about functions that were asked for by name; see report.h. */
#include "report.h"

#include "format.h"
#include "read/governed.h"
#include "read/util.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_WIDTH = 24, COLUMN_WIDTH = 8 };

/* -- its futures and runs ---------------------------------------------------- */

static void print_counts(const struct view_function *f, FILE *out) {
  const struct {
    uint64_t count;
    const char *what;
  } counts[] = {{f->created, "made"},          {f->done, "done"},         {f->failed, "failed"},
                {f->cancelled, "cancelled"},   {f->detached, "detached"}, {f->live, "live"},
                {f->born_done, "done at once"}};
  char *text = print_string("%s", "futures:");
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (counts[i].count || !i) {
      char *longer = print_string("%s%s %s %s", text, i ? "," : "", shown_count(counts[i].count),
                                  counts[i].what);
      free(text);
      text = longer;
    }
  fprintf(out, "%s\n", cut_right(text, FORMAT_WIDTH));
  free(text);
}

static void print_cells(const char *label, const char *const *cell, size_t count, FILE *out) {
  print_left(out, label, LABEL_WIDTH);
  for (size_t i = 0; i < count; i++)
    print_right(out, cell[i], COLUMN_WIDTH);
  fputc('\n', out);
}

/* One quantity: all of it, the mean of `count`, and how it was spread. */
static void print_quantity(const struct view *v, const char *label, uint64_t total, uint64_t mean,
                           const struct distribution *d, uint64_t max, bool lacks,
                           bool spread_lacks, FILE *out) {
  bool has = d && d->count;
  const char *cell[] = {shown_mark(lacks, shown_short(total)), shown_mark(lacks, shown_short(mean)),
                        shown_mark(spread_lacks, has ? shown_short_in(v, d->p50) : "-"),
                        shown_mark(spread_lacks, has ? shown_short_in(v, d->p99) : "-"),
                        shown_mark(spread_lacks, shown_short_in(v, max))};
  print_cells(label, cell, 5, out);
}

#define LACK(member) LACKS(f->lacks, function, member)

static uint64_t per_future(const struct view *v, const struct view_function *f, uint64_t sum) {
  return f->unmeasured || sum == UNKNOWN ? UNKNOWN : ask_per_call(v, f, sum);
}

static void print_quantities(const struct view *v, const struct view_function *f, FILE *out) {
  static const char *const titles[] = {"total", "mean", "p50", "p99", "worst"};
  uint64_t longest = ask_longest_slice(f);
  char *runs = print_string("each of %s runs", shown_count(f->slices));
  char *lives = print_string("each of %s futures", shown_count(f->created));
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  print_cells("", titles, 5, out);
  style_set(out, STYLE_PLAIN);
  if (f->slices)
    print_quantity(v, runs, UNKNOWN, UNKNOWN, &f->slice_of, longest ? longest : UNKNOWN, false,
                   LACK(slice_of), out);
  print_quantity(v, lives, f->wall, per_future(v, f, f->wall), &f->wall_of, f->wall_max, LACK(wall),
                 LACK(wall_of), out);
  print_quantity(v, "  queued", f->queued, per_future(v, f, f->queued), &f->queued_of, UNKNOWN,
                 LACK(queued), LACK(queued_of), out);
  print_quantity(v, "  exec", f->exec, per_future(v, f, f->exec), &f->exec_of, f->exec_max,
                 LACK(exec), LACK(exec_of), out);
  print_quantity(v, "  waiting", f->waiting, per_future(v, f, f->waiting), NULL, UNKNOWN,
                 LACK(waiting), false, out);
  print_quantity(v, "  its children ran", f->children_exec, per_future(v, f, f->children_exec),
                 NULL, UNKNOWN, LACK(children_exec), false, out);
  free(runs);
  free(lives);
}

/* -- where it waits ------------------------------------------------------------ */

static int by_waiting(const void *a, const void *b) {
  const struct view_await *x = *(const struct view_await *const *)a,
                          *y = *(const struct view_await *const *)b;
  if (x->waiting != y->waiting)
    return x->waiting > y->waiting ? -1 : 1;
  return x->line < y->line ? -1 : x->line > y->line;
}

static void print_awaits(const struct view *v, const struct view_function *f, FILE *out) {
  static const char *const columns[] = {"count", "total", "mean", "p99"};
  const struct view_await **list = allocate(f->awaits, sizeof *list);
  size_t count = 0;
  for (size_t i = 0; i < f->awaits; i++)
    if (f->await[i].count || f->await[i].waiting)
      list[count++] = &f->await[i];
  if (count) {
    qsort(list, count, sizeof *list, by_waiting);
    report_title("where it waits", columns, out);
  }
  for (size_t i = 0; i < count; i++) {
    const struct view_await *a = list[i];
    char *name = print_string("%s%s", a->callee, a->background ? " (for new work)" : "");
    struct report_row row = {
        .step = {strcmp(a->kind, "return") ? name : "its return"},
        .steps = 1,
        .place = a->file ? place_text(a->file, a->line) : NULL,
        .count = a->count,
        .time = {a->waiting, a->count ? a->ended / a->count : UNKNOWN,
                 a->waits.count ? a->waits.p99 : UNKNOWN},
        .lacks = {LACKS(f->lacks, await, waiting), LACKS(f->lacks, await, waiting),
                  LACKS(f->lacks, await, waits)},
        .counts_lack = LACKS(f->lacks, await, waiting),
    };
    report_print_row(v, &row, out);
    free(name);
  }
  free(list);
}

static void print_detail(const struct view *v, const struct report_options *options,
                         const struct view_function *f, FILE *out) {
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  fprintf(out, "%s\n", cut_middle(f->name, FORMAT_WIDTH));
  style_set(out, STYLE_PLAIN);
  report_print_place(f, out);
  print_counts(f, out);
  report_print_findings(v, options, f, out);
  print_quantities(v, f, out);
  print_awaits(v, f, out);
  report_print_wakers(v, options, f, out);
  report_print_blocking(v, options, f, out);
}

bool report_print_details(const struct view *v, const struct report_options *options, FILE *out) {
  size_t count;
  bool all = true;
  const struct view_function **list = report_functions(v, options->sort, &count);
  for (size_t i = 0; i < options->name_count; i++) {
    bool found = false;
    for (size_t j = 0; j < count; j++) {
      if (fnmatch(options->name[i], list[j]->name, 0) != 0 &&
          strcmp(options->name[i], list[j]->name))
        continue;
      print_detail(v, options, list[j], out);
      found = true;
    }
    if (!found)
      complain("%s has no function '%s' that did anything; --all lists them", v->what,
               options->name[i]);
    all &= found;
  }
  free(list);
  return all;
}
