/* SPDX-License-Identifier: MIT */
/* The report: loops, who woke whom, what blocked; see report.h. */
#include "ask/format.h"
#include "read/governed.h"
#include "read/util.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_WIDTH = 60, MOST_LOOPS = 5 };

static uint64_t mean(uint64_t sum, uint64_t count) {
  return count ? sum / count : UNKNOWN;
}

static void print_loop(const struct view *v, const struct view_loop *loop, FILE *out) {
  const struct view_thread *t = loop->thread;
  char text[1024];
  snprintf(text, sizeof text, "  loop of %s (%" PRId64 ") %s", loop->name, loop->tid,
           shown_time(t->elapsed));
  size_t length = strlen(text);
  if (t->idle)
    snprintf(text + length, sizeof text - length, "   %s busy",
             shown_percent(t->elapsed - t->idle, t->elapsed));
  else
    snprintf(text + length, sizeof text - length, "   futures ran %s",
             shown_mark(LACKS(t->lacks, thread, exec), shown_percent(t->exec, t->elapsed)));
  length = strlen(text);
  if (loop->hold_max != UNKNOWN)
    snprintf(text + length, sizeof text - length, "   held %s at worst by %s",
             shown_mark(LACKS(t->lacks, loop, slice_max), ask_time(v, loop->hold_max)),
             loop->function ? loop->function : "?");
  fprintf(out, "%s\n", cut_right(text, FORMAT_WIDTH));
}

/* Threads that only work for others hold no loop. */
static void print_pool(const struct view *v, FILE *out) {
  uint64_t exec = 0, elapsed = 0;
  unsigned lacks = 0;
  size_t threads = 0;
  for (size_t i = 0; i < v->threads; i++) {
    if (!v->thread[i].is_pool)
      continue;
    threads++;
    exec += v->thread[i].exec;
    elapsed += v->thread[i].elapsed;
    lacks |= v->thread[i].lacks;
  }
  if (threads)
    fprintf(out, "  %zu pool thread%s ran workers %s of the time\n", threads,
            threads == 1 ? "" : "s",
            shown_mark(LACKS(lacks, thread, exec), shown_percent(exec, elapsed)));
}

static int by_hold(const void *a, const void *b) {
  const struct view_loop *x = *(const struct view_loop *const *)a,
                         *y = *(const struct view_loop *const *)b;
  uint64_t left = x->hold_max == UNKNOWN ? 0 : x->hold_max;
  uint64_t right = y->hold_max == UNKNOWN ? 0 : y->hold_max;
  if (left != right)
    return left > right ? -1 : 1;
  return x->block < y->block ? -1 : x->block > y->block;
}

/* Those that were held longest: a pool has a loop for each of its threads. */
void report_print_loops(const struct view *v, const struct report_options *options, FILE *out) {
  const struct view_loop **list = allocate(v->loops, sizeof *list);
  size_t count = 0;
  for (size_t i = 0; i < v->loops; i++)
    if (v->loop[i].thread && !v->loop[i].thread->is_pool &&
        (v->loop[i].thread->exec || v->loop[i].thread->idle))
      list[count++] = &v->loop[i];
  qsort(list, count, sizeof *list, by_hold);
  size_t shown = options->waits && count > MOST_LOOPS ? MOST_LOOPS : count;
  for (size_t i = 0; count > 1 && i < shown; i++)
    print_loop(v, list[i], out);
  if (shown < count)
    fprintf(out, "  and %zu loops more (--top 0 shows all)\n", count - shown);
  print_pool(v, out);
  free(list);
}

static void print_title(const char *title, const char *const *columns, FILE *out) {
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  print_left(out, title, PATH_WIDTH);
  print_right(out, columns[0], 7);
  for (int i = 1; i < 4; i++)
    print_right(out, columns[i], 11);
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
}

/* Takes the path. Whether the times lack something, and the last of them. */
static void print_row(const struct view *v, char *path, uint64_t count, const uint64_t *times,
                      bool lack, bool last_lacks, FILE *out) {
  print_left(out, cut_left(path, PATH_WIDTH), PATH_WIDTH);
  print_right(out, shown_count(count), 7);
  for (int i = 0; i < 3; i++)
    print_right(out,
                shown_mark(i < 2 ? lack : last_lacks,
                           i == 0 ? shown_time(times[i]) : ask_time(v, times[i])),
                11);
  fputc('\n', out);
  free(path);
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

/* `file`: the waker's, or its last component where that is too long. */
static char *woken_path(const struct woken *w, const char *file) {
  return print_string("%s %s > %s", shown_place(file, w->waker->line), w->waker->name,
                      w->function->name);
}

static void print_woken(const struct view *v, const struct woken *w, FILE *out) {
  char *path = woken_path(w, w->waker->file);
  if (shown_width(path) > PATH_WIDTH) {
    free(path);
    path = woken_path(w, shown_base(w->waker->file));
  }
  const uint64_t times[] = {w->waker->queued, mean(w->waker->queued, w->waker->count),
                            w->waker->queued_of.count ? w->waker->queued_of.p99 : UNKNOWN};
  print_row(v, path, w->waker->count, times, LACKS(w->function->lacks, waker, queued),
            LACKS(w->function->lacks, waker, queued_of), out);
}

static void print_wakers(const struct view *v, const struct report_options *options, bool clock,
                         FILE *out) {
  static const char *const queue[] = {"wakes", "queued", "mean", "p99"};
  static const char *const late[] = {"times", "late", "mean", "p99"};
  size_t all = 0, count = 0;
  for (size_t i = 0; i < v->functions; i++)
    all += v->function[i].wakers;
  struct woken *list = allocate(all, sizeof *list);
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].wakers; j++) {
      const struct view_waker *w = &v->function[i].waker[j];
      if (w->clock == clock && w->count)
        list[count++] = (struct woken){&v->function[i], w};
    }
  if (count) {
    qsort(list, count, sizeof *list, by_queued);
    print_title(clock ? "when it was due > who ran late" : "who woke > whom, who then queued",
                clock ? late : queue, out);
  }
  size_t shown = options->waits && options->waits < count ? options->waits : count;
  for (size_t i = 0; i < shown; i++)
    print_woken(v, &list[i], out);
  report_print_more(count, shown, out);
  free(list);
}

void report_print_wakers(const struct view *v, const struct report_options *options, FILE *out) {
  print_wakers(v, options, false, out);
  print_wakers(v, options, true, out);
}

/* -- what blocked ---------------------------------------------------------- */

struct blocked {
  const struct view_function *function;
  const struct view_blocking *call;
};

static char *blocked_path(const struct blocked *b, const char *file) {
  return print_string("%s > %s %s", b->function->name, shown_place(file, b->call->line),
                      b->call->callee);
}

static int by_held(const void *a, const void *b) {
  const struct blocked *x = a, *y = b;
  if (x->call->held != y->call->held)
    return x->call->held > y->call->held ? -1 : 1;
  return strcmp(x->call->callee, y->call->callee);
}

void report_print_blocking(const struct view *v, const struct report_options *options, FILE *out) {
  static const char *const columns[] = {"calls", "held", "mean", "worst"};
  size_t all = 0, count = 0;
  for (size_t i = 0; i < v->functions; i++)
    all += v->function[i].blockings;
  struct blocked *list = allocate(all, sizeof *list);
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].blockings; j++)
      if (v->function[i].blocking[j].count)
        list[count++] = (struct blocked){&v->function[i], &v->function[i].blocking[j]};
  if (count) {
    qsort(list, count, sizeof *list, by_held);
    print_title("calls that block", columns, out);
  }
  size_t shown = options->waits && options->waits < count ? options->waits : count;
  for (size_t i = 0; i < shown; i++) {
    const struct view_blocking *b = list[i].call;
    const uint64_t times[] = {b->held, mean(b->held, b->count), b->max};
    char *path = blocked_path(&list[i], b->file);
    if (shown_width(path) > PATH_WIDTH) {
      free(path);
      path = blocked_path(&list[i], shown_base(b->file));
    }
    print_row(v, path, b->count, times, LACKS(list[i].function->lacks, blocking, held),
              LACKS(list[i].function->lacks, blocking, max), out);
  }
  report_print_more(count, shown, out);
  free(list);
}

/* -- what was shed -------------------------------------------------------- */

/* "worker (4711) shed detail (~): no histograms 12.0 %, counts only 8.0 % of its time". */
static void print_thread(const struct view_thread *t, FILE *out) {
  char text[512] = "";
  for (int step = 1; step < APROF_STEPS; step++) {
    uint64_t time = t->at_step[step].elapsed;
    size_t length = strlen(text);
    if (time)
      snprintf(text + length, sizeof text - length, "%s%s %s", length ? ", " : "",
               governed_steps[step].shown, shown_percent(time, t->elapsed));
  }
  if (!*text)
    return;
  char *line =
      print_string("  %s (%lld) shed detail (~): %s of its time", t->name, (long long)t->tid, text);
  fprintf(out, "%s\n", cut_right(line, FORMAT_WIDTH));
  free(line);
}

void report_print_shed(const struct view *v, FILE *out) {
  for (size_t i = 0; i < v->threads; i++)
    print_thread(&v->thread[i], out);
}
