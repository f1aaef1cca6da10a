/* SPDX-License-Identifier: MIT */
/* The report: who woke whom, what blocked; see report.h. */
#include "format.h"
#include "read/governed.h"
#include "read/util.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mean(uint64_t sum, uint64_t count) {
  return count ? sum / count : UNKNOWN;
}

static size_t rows_of(const struct report_options *options, size_t count) {
  size_t most = options->all || options->name_count ? 0 : options->waits;
  return most && most < count ? most : count;
}

/* -- who woke whom --------------------------------------------------------- */

struct woken {
  const struct view_function *function;
  const struct view_waker *waker;
};

static int by_queued(const void *a, const void *b) {
  const struct woken *x = a, *y = b;
  if (x->waker->queued != y->waker->queued)
    return x->waker->queued > y->waker->queued ? -1 : 1;
  if (x->waker->count != y->waker->count)
    return x->waker->count > y->waker->count ? -1 : 1;
  return strcmp(x->function->name, y->function->name);
}

static void print_woken(const struct view *v, const struct woken *w, FILE *out) {
  const struct view_waker *k = w->waker;
  bool lack = LACKS(w->function->lacks, waker, queued);
  struct report_row row = {
      .step = {k->name, w->function->name},
      .steps = 2,
      .place = place_text(k->file, k->line),
      .count = k->count,
      .time = {k->queued, mean(k->queued, k->count),
               k->queued_of.count ? k->queued_of.p99 : UNKNOWN},
      .lacks = {lack, lack, LACKS(w->function->lacks, waker, queued_of)},
  };
  report_print_row(v, &row, out);
}

static void print_wakers(const struct view *v, const struct report_options *options,
                         const struct view_function *of, bool clock, FILE *out) {
  static const char *const queue[] = {"wakes", "queued", "mean", "p99"};
  static const char *const late[] = {"times", "late", "mean", "p99"};
  size_t all = 0, count = 0;
  for (size_t i = 0; i < v->functions; i++)
    all += v->function[i].wakers;
  struct woken *list = allocate(all, sizeof *list);
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].wakers; j++) {
      const struct view_waker *w = &v->function[i].waker[j];
      if (w->clock == clock && w->count && (!of || of == &v->function[i]))
        list[count++] = (struct woken){&v->function[i], w};
    }
  if (count) {
    qsort(list, count, sizeof *list, by_queued);
    report_title(clock ? "when it was due > who ran late" : "who woke > whom, who then queued",
                 clock ? late : queue, out);
  }
  size_t shown = rows_of(options, count);
  for (size_t i = 0; i < shown; i++)
    print_woken(v, &list[i], out);
  report_print_more(count, shown, out);
  free(list);
}

void report_print_wakers(const struct view *v, const struct report_options *options,
                         const struct view_function *of, FILE *out) {
  print_wakers(v, options, of, false, out);
  print_wakers(v, options, of, true, out);
}

/* -- what blocked ---------------------------------------------------------- */

struct blocked {
  const struct view_function *function;
  const struct view_blocking *call;
};

static int by_held(const void *a, const void *b) {
  const struct blocked *x = a, *y = b;
  if (x->call->held != y->call->held)
    return x->call->held > y->call->held ? -1 : 1;
  return strcmp(x->call->callee, y->call->callee);
}

static void print_blocked(const struct view *v, const struct blocked *b, FILE *out) {
  const struct view_blocking *c = b->call;
  bool lack = LACKS(b->function->lacks, blocking, held);
  struct report_row row = {
      .step = {b->function->name, c->callee},
      .steps = 2,
      .place = place_text(c->file, c->line),
      .count = c->count,
      .time = {c->held, mean(c->held, c->count), c->max},
      .lacks = {lack, lack, LACKS(b->function->lacks, blocking, max)},
  };
  report_print_row(v, &row, out);
}

void report_print_blocking(const struct view *v, const struct report_options *options,
                           const struct view_function *of, FILE *out) {
  static const char *const columns[] = {"calls", "held", "mean", "worst"};
  size_t all = 0, count = 0;
  for (size_t i = 0; i < v->functions; i++)
    all += v->function[i].blockings;
  struct blocked *list = allocate(all, sizeof *list);
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].blockings; j++)
      if (v->function[i].blocking[j].count && (!of || of == &v->function[i]))
        list[count++] = (struct blocked){&v->function[i], &v->function[i].blocking[j]};
  if (count) {
    qsort(list, count, sizeof *list, by_held);
    report_title("calls that block", columns, out);
  }
  size_t shown = rows_of(options, count);
  for (size_t i = 0; i < shown; i++)
    print_blocked(v, &list[i], out);
  report_print_more(count, shown, out);
  free(list);
}
