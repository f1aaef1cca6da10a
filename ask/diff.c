/* SPDX-License-Identifier: MIT */
/* Measures of runs side by side; see diff.h. */
#include "diff.h"

#include "read/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A smaller change counts as none, whatever the spread. Without a spread the second bound holds. */
#define LEAST_SHARE 0.01
#define NOTABLE_SHARE 0.05
/* What clocks and rounding make. */
enum { LEAST_NS = 100 };

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static bool is_there(const struct diff_row *row, size_t run) {
  const struct measured *of = &row->of[run];
  const void *there = row->sort == MEASURE_AWAIT     ? (const void *)of->await
                      : row->sort == MEASURE_REQUEST ? (const void *)of->kind
                      : row->sort == MEASURE_TIER    ? (const void *)of->tier
                                                     : (const void *)of->function;
  return row->sort == MEASURE_PROCESS || there;
}

bool diff_is_there(const struct diff *d, const struct diff_row *row, int side) {
  for (size_t i = 0; i < d->side[side]; i++)
    if (is_there(row, diff_first(d, side) + i))
      return true;
  return false;
}

struct spread diff_value(const struct diff *d, const struct diff_row *row,
                         const struct measure *measure, int side) {
  double *value = allocate(d->side[side] + 1, sizeof *value);
  struct spread s = {.median = NAN, .least = NAN, .most = NAN};
  for (size_t i = 0; i < d->side[side]; i++) {
    const struct measured *of = &row->of[diff_first(d, side) + i];
    bool there = is_there(row, diff_first(d, side) + i);
    double one = there ? measure_get(measure, of) : measure->adds_up ? 0 : NAN;
    s.lacks |= there && measure_lacks(measure, of);
    if (!isnan(one))
      value[s.runs++] = one;
  }
  if (s.runs) {
    qsort(value, s.runs, sizeof *value, ascending);
    s.least = value[0];
    s.most = value[s.runs - 1];
    s.median = (value[(s.runs - 1) / 2] + value[s.runs / 2]) / 2;
  }
  free(value);
  return s;
}

struct change diff_change(const struct diff *d, const struct diff_row *row,
                          const struct measure *measure) {
  struct change c = {.row = row, .measure = measure, .by = NAN, .ratio = NAN};
  for (int side = 0; side < DIFF_SIDES; side++)
    c.side[side] = diff_value(d, row, measure, side);
  const struct spread *a = &c.side[DIFF_A], *b = &c.side[DIFF_B];
  if (!a->runs || !b->runs)
    return c;
  c.by = b->median - a->median;
  c.ratio = a->median > 0 ? c.by / a->median : c.by > 0 ? INFINITY : 0;
  c.beyond = a->runs + b->runs > 2 && (b->least > a->most || b->most < a->least);
  return c;
}

/* -- what is worth a line -------------------------------------------------------------- */

/* What each row shows. A listener runs often in one life, so its numbers are per run: per future
   they would be the length of the profile. */
static const char *const of_whole[] = {"elapsed", "events", "loop.busy", "overhead"};
static const char *const of_lives[] = {"futures", "exec.mean", "queued.mean", "slice.p99",
                                       "hold.max"};
static const char *const of_runs[] = {"runs", "exec.run", "queued.run", "slice.p99", "hold.max"};
static const char *const of_await[] = {"wait.count", "wait.future", "wait.mean", "wait.p99"};
static const char *const of_request[] = {"request.count", "request.mean", "request.p99",
                                         "request.exec", "request.waiting"};
static const char *const of_tier[] = {"tier.count", "tier.calls", "tier.mean", "tier.p99"};
enum { OF_ROW = 5 };
_Static_assert(sizeof of_await == sizeof of_tier, "as many");

static double or_0(double value) {
  return isnan(value) ? 0 : value;
}

static double median(const struct diff *d, const struct diff_row *row, const char *measure,
                     int side) {
  return or_0(diff_value(d, row, measure_find(measure), side).median);
}

static bool goes_by_runs(const struct diff *d, const struct diff_row *row) {
  for (int side = 0; side < DIFF_SIDES; side++)
    if (median(d, row, "runs", side) <= 2 * median(d, row, "futures", side))
      return false;
  return true;
}

/* As if A had made as much as B has: what its futures, or runs, cost more or less. */
static double function_weight(const struct diff *d, const struct diff_row *row, bool by_runs) {
  const char *unit = by_runs ? "runs" : "futures";
  double cost[DIFF_SIDES], units[DIFF_SIDES];
  for (int side = 0; side < DIFF_SIDES; side++) {
    cost[side] = median(d, row, "exec.total", side) + median(d, row, "queued.total", side);
    units[side] = median(d, row, unit, side);
  }
  if (units[DIFF_A] <= 0 || units[DIFF_B] <= 0) /* new, or gone */
    return fabs(cost[DIFF_B] - cost[DIFF_A]);
  double hold = median(d, row, "hold.max", DIFF_B) - median(d, row, "hold.max", DIFF_A);
  double more = cost[DIFF_B] - cost[DIFF_A] / units[DIFF_A] * units[DIFF_B];
  return fmax(fabs(more), fabs(hold));
}

static double await_weight(const struct diff *d, const struct diff_row *row) {
  const struct diff_row *function = &d->row[row->function];
  bool by_runs = goes_by_runs(d, function);
  double units[DIFF_SIDES], total[DIFF_SIDES];
  for (int side = 0; side < DIFF_SIDES; side++) {
    units[side] = median(d, function, by_runs ? "runs" : "futures", side);
    total[side] = median(d, row, "wait.total", side);
  }
  bool both = units[DIFF_A] > 0 && units[DIFF_B] > 0;
  return fabs(total[DIFF_B] -
              (both ? total[DIFF_A] / units[DIFF_A] * units[DIFF_B] : total[DIFF_A]));
}

/* As if A had had as many requests as B has. */
static double request_weight(const struct diff *d, const struct diff_row *row) {
  bool tier = row->sort == MEASURE_TIER;
  const char *count = tier ? "tier.count" : "request.count";
  const char *total = tier ? "tier.total" : "request.total";
  double units[DIFF_SIDES], sum[DIFF_SIDES];
  for (int side = 0; side < DIFF_SIDES; side++) {
    units[side] = median(d, row, count, side);
    sum[side] = median(d, row, total, side);
  }
  bool both = units[DIFF_A] > 0 && units[DIFF_B] > 0;
  return fabs(sum[DIFF_B] - (both ? sum[DIFF_A] / units[DIFF_A] * units[DIFF_B] : sum[DIFF_A]));
}

static bool is_notable(const struct diff *d, const struct change *c) {
  bool both = diff_is_there(d, c->row, DIFF_A) && diff_is_there(d, c->row, DIFF_B);
  if (isnan(c->by) || c->by == 0)
    return false;
  if (c->measure->unit == UNIT_TIME && fabs(c->by) < LEAST_NS)
    return false;
  if (!both)
    return true;
  return c->side[DIFF_A].runs + c->side[DIFF_B].runs > 2
             ? c->beyond && fabs(c->ratio) >= LEAST_SHARE
             : fabs(c->ratio) >= NOTABLE_SHARE;
}

static int by_weight(const void *a, const void *b) {
  const struct change *x = a, *y = b;
  if (x->weight != y->weight)
    return x->weight > y->weight ? -1 : 1;
  if (x->row != y->row)
    return x->row < y->row ? -1 : 1;
  return x->measure < y->measure ? -1 : x->measure > y->measure;
}

struct change *diff_whole(const struct diff *d, size_t *count) {
  size_t all = sizeof of_whole / sizeof *of_whole;
  struct change *list = allocate(all, sizeof *list);
  for (size_t i = 0; i < all; i++)
    list[i] = diff_change(d, &d->row[0], measure_find(of_whole[i]));
  *count = all;
  return list;
}

struct change *diff_changes(const struct diff *d, size_t *count) {
  struct change *list = allocate(d->rows * OF_ROW, sizeof *list);
  *count = 0;
  for (size_t i = 1; i < d->rows; i++) {
    const struct diff_row *row = &d->row[i];
    bool await = row->sort == MEASURE_AWAIT, request = row->sort == MEASURE_REQUEST;
    bool function = row->sort == MEASURE_FUNCTION;
    if (await && (row->background || !view_is_outside(row->kind)))
      continue;
    bool by_runs = function && goes_by_runs(d, row);
    const char *const *shown = await      ? of_await
                               : request  ? of_request
                               : by_runs  ? of_runs
                               : function ? of_lives
                                          : of_tier;
    size_t all = function || request ? (size_t)OF_ROW : sizeof of_await / sizeof *of_await;
    double weight = await      ? await_weight(d, row)
                    : function ? function_weight(d, row, by_runs)
                               : request_weight(d, row);
    for (size_t j = 0; j < all; j++) {
      struct change c = diff_change(d, row, measure_find(shown[j]));
      c.weight = weight;
      if (is_notable(d, &c))
        list[(*count)++] = c;
    }
  }
  qsort(list, *count, sizeof *list, by_weight);
  return list;
}

size_t diff_rows_of(const struct change *list, size_t count, enum measure_of sort) {
  size_t rows = 0;
  for (size_t i = 0; i < count; i++)
    rows += (!i || list[i].row != list[i - 1].row) && list[i].row->sort == sort;
  return rows;
}
