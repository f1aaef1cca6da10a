/* SPDX-License-Identifier: MIT */
/* The report: where the waiting was spent; see report.h. */
#include "report.h"

#include "format.h"
#include "read/governed.h"

#include <string.h>

static bool is_library(const struct view *v, const struct view_path *path) {
  return path->function < v->functions && ask_is_library(&v->function[path->function]);
}

/* The code of libraries is left out of it, unless all is wanted; where nothing else is on it, so is
   all of it: false. */
static bool fill_path(const struct view *v, const struct wait *w, bool all,
                      struct report_row *row) {
  size_t count = 0, at = w->at->parent;
  bool plain = w->at->place && !strcmp(w->at->kind, "return"); /* its name is the function's */
  const char *step[REPORT_STEPS];
  if (!plain)
    step[count++] = w->at->name;
  size_t last = count;
  for (; at != SIZE_MAX; at = v->path[at].parent) {
    if (!all && is_library(v, &v->path[at]))
      continue;
    if (count == REPORT_STEPS) /* the root stays */
      count--;
    step[count++] = v->path[at].name;
  }
  row->place = w->at->place;
  row->steps = count;
  for (size_t i = 0; i < count; i++)
    row->step[i] = step[count - 1 - i];
  return count > last;
}

static bool fill(const struct view *v, const struct wait *w, bool all, struct report_row *row) {
  unsigned lacks = w->at->function < v->functions ? v->function[w->at->function].lacks : 0;
  bool lack = LACKS(lacks, path, waiting);
  *row = (struct report_row){
      .count = w->count,
      .time = {w->waiting, w->mean, w->p99},
      .lacks = {lack, lack, LACKS(lacks, await, waits)},
      .counts_lack = lack,
  };
  return fill_path(v, w, all, row);
}

size_t report_print_waits(const struct view *v, const struct report_options *options,
                          bool background, FILE *out) {
  static const char *const columns[] = {"count", "total", "mean", "p99"};
  size_t all, shown = 0;
  struct wait *waits = ask_waits(v, background, &all);
  bool whole = options->all || !options->waits;
  for (size_t i = 0; i < all && (whole || shown < options->waits); i++) {
    struct report_row row;
    if (!fill(v, &waits[i], whole, &row))
      continue;
    if (!shown++)
      report_title(background ? "waiting for new work" : "waits, by total", columns, out);
    report_print_row(v, &row, out);
  }
  ask_waits_free(waits, all);
  return all - shown;
}
