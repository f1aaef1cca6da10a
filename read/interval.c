/* SPDX-License-Identifier: MIT */
/*
 * The interval between two views of one process; see view.h. Counts, sums and histograms are
 * subtracted, as fields.c says of each; what only the later one knows happened in between.
 */
#include "fold.h"
#include "settle.h"
#include "util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b) {
  return !strcmp(a ? a : "", b ? b : "");
}

static bool belong_together(const struct view *later, const struct view *earlier) {
  const struct view_process *last = &later->process, *first = &earlier->process;
  if (later->processes || earlier->processes) {
    complain("%s is of several processes: an interval is between two totals of one",
             later->processes ? later->what : earlier->what);
    return false;
  }
  if (last->pid != first->pid || !same_text(last->host, first->host) ||
      !same_text(last->started_at, first->started_at)) {
    complain("%s and %s are of different processes (%" PRId64 " and %" PRId64
             "): there is no interval between them",
             earlier->what, later->what, first->pid, last->pid);
    return false;
  }
  if (last->elapsed < first->elapsed) {
    complain("%s is later than %s: give the earlier one first", earlier->what, later->what);
    return false;
  }
  if (last->reset_epoch != first->reset_epoch) {
    complain("the totals were reset between %s and %s: the later one alone is the interval since",
             earlier->what, later->what);
    return false;
  }
  return true;
}

/* Totals of before there were columns are compared without. */
static void forget_columns(struct view *later, const struct view *earlier) {
  for (size_t i = 0; i < earlier->functions; i++)
    if (earlier->function[i].column)
      return;
  for (size_t i = 0; i < later->functions; i++)
    later->function[i].column = 0;
}

/* Where in the later view each function lies; how many of it lived before. */
static size_t *match_functions(struct view *later, const struct view *earlier) {
  size_t *place = allocate(earlier->functions, sizeof *place);
  struct matching m = fold_matching(&layout_function, later->function, later->functions);
  for (size_t i = 0; i < earlier->functions; i++) {
    const struct view_function *before = &earlier->function[i];
    struct view_function *f = fold_match(&m, before);
    place[i] = f ? (size_t)(f - later->function) : SIZE_MAX;
    if (f)
      f->live_before = before->live;
  }
  fold_matching_free(&m);
  return place;
}

/* The p99 of under a hundred is the longest: exactly if that is new, and never below the mean. */
static void settle_few(struct distribution *d, uint64_t sum, uint64_t max) {
  uint64_t count = 0, least;
  for (size_t i = 0; i < d->count && count < 100; i++)
    count += d->bucket[i].count < 100 ? d->bucket[i].count : 100;
  if (count == 0 || count >= 100)
    return;
  least = max != UNKNOWN ? max : sum / count;
  if (max != UNKNOWN || least > d->p99)
    d->p99 = least;
  d->p999 = d->p999 > d->p99 ? d->p999 : d->p99;
  d->max = d->max > d->p999 ? d->max : d->p999;
}

static void settle_percentiles(struct view *v) {
  for (size_t i = 0; i < v->kinds; i++) {
    struct view_kind *k = &v->kind[i];
    settle_few(&k->wall.of, k->wall.sum, k->wall.max);
    settle_few(&k->exec.of, k->exec.sum, k->exec.max);
    settle_few(&k->waiting.of, k->waiting.sum, k->waiting.max);
    settle_few(&k->queued.of, k->queued.sum, k->queued.max);
  }
  for (size_t i = 0; i < v->functions; i++) {
    struct view_function *f = &v->function[i];
    settle_few(&f->exec_of, 0, f->exec_max);
    settle_few(&f->wall_of, 0, f->wall_max);
    settle_few(&f->slice_of, 0, f->slice_max);
    for (size_t j = 0; j < f->awaits; j++)
      settle_few(&f->await[j].waits, f->await[j].ended, f->await[j].max);
    for (size_t j = 0; j < f->wakers; j++)
      settle_few(&f->waker[j].queued_of, f->waker[j].queued, f->waker[j].max);
  }
}

bool view_subtract(struct view *later, const struct view *earlier) {
  if (!belong_together(later, earlier))
    return false;
  forget_columns(later, earlier);
  size_t *place = match_functions(later, earlier);
  fold_paths(FOLD_SUBTRACT, later, earlier, place);
  free(place);
  fold_object(FOLD_SUBTRACT, &later->arena, &layout_totals, later, earlier);
  later->is_interval = true;
  settle_tiers(later);
  settle_forget_slow(later, earlier);
  settle_requests(later);
  settle_percentiles(later);
  settle_functions(later);
  settle_holds(later);
  settle_overhead(later);
  return true;
}
