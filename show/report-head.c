/* SPDX-License-Identifier: MIT */
/* The report: the process in one line, its loops, and what is missing; see report.h. */
#include "report.h"

#include "format.h"
#include "read/governed.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 30, MOST_LOOPS = 4, INDENT = 2 };

struct line {
  FILE *out;
  size_t column;
};

/* Parts of a line, two spaces apart, on the next line where they do not fit. */
static void add_part(struct line *line, const char *text) {
  size_t width = shown_width(text);
  if (line->column && line->column + 2 + width > FORMAT_WIDTH) {
    fprintf(line->out, "\n%*s", INDENT, "");
    line->column = INDENT;
  } else if (line->column) {
    fputs("  ", line->out);
    line->column += 2;
  }
  text = cut_right(text, FORMAT_WIDTH - INDENT);
  fputs(text, line->out);
  line->column += shown_width(text);
}

static void add_health(struct line *line, const struct view *v) {
  static const char *const what[] = {"futures",       "events",     "events in handlers",
                                     "events missed", "histograms", "paths in (other)",
                                     "threads torn",  "requests",   "shares of requests"};
  static const char *const one[] = {"future",       "event",     "event in a handler",
                                    "event missed", "histogram", "path in (other)",
                                    "thread torn",  "request",   "share of a request"};
  const uint64_t count[] = {
      v->health.lost_futures,  v->health.lost_events,     v->health.nested_events,
      v->health.missed_events, v->health.lost_histograms, v->health.other_nodes,
      v->health.torn_threads,  v->health.lost_requests,   v->health.lost_shares};
  bool lost = false;
  for (size_t i = 0; i < sizeof count / sizeof *count; i++)
    if (count[i]) {
      char text[64];
      snprintf(text, sizeof text, "lost: %s %s", shown_count(count[i]),
               count[i] == 1 ? one[i] : what[i]);
      add_part(line, lost ? text + strlen("lost: ") : text);
      lost = true;
    }
  if (!lost)
    add_part(line, "nothing lost");
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

static void add_process(struct line *line, const struct view *v) {
  const char *name = cut_middle(v->process.name, NAME_WIDTH);
  char text[256], length[128];
  if (v->processes)
    snprintf(text, sizeof text, "%s (%zu processes)", name, v->processes);
  else if (v->only)
    snprintf(text, sizeof text, "%s (pid %" PRId64 ", loop %" PRId64 ")", name, v->process.pid,
             v->only);
  else
    snprintf(text, sizeof text, "%s (pid %" PRId64 ")", name, v->process.pid);
  style_set(line->out, STYLE_TITLE);
  add_part(line, text);
  style_set(line->out, STYLE_PLAIN);
  add_length(length, sizeof length, v);
  add_part(line, length);
}

/* So many in a hundred, of so many, are why it costs what it does. Those of requests are, and
   that is no news. */
enum { MANY_EVENTS = 100000, MANY_GENERAL = 10 };

static void add_general(struct line *line, const struct view_health *health) {
  uint64_t share = health->general_events / (health->events / 100 + 1);
  char text[64];
  if (health->events < MANY_EVENTS || share < MANY_GENERAL)
    return;
  snprintf(text, sizeof text, "%" PRIu64 " %% of events general", share);
  add_part(line, text);
}

/* Of what its loops worked; where that is next to nothing, any part of it is large, and what it
   took of a processor says more. */
enum { IDLE_SHARE = 20 };

static void add_cost(struct line *line, const struct view *v) {
  double worked = 0, elapsed = (double)v->process.elapsed;
  char text[64];
  if (v->health.overhead < 0)
    return;
  for (size_t i = 0; i < v->threads; i++)
    if (v->thread[i].overhead >= 0)
      worked += (double)v->thread[i].worked;
  double cost = v->health.overhead * worked / 100;
  const char *least = v->health.event_cost_timed ? "" : "at least ";
  if (worked < elapsed / IDLE_SHARE)
    snprintf(text, sizeof text, "cost %s%.2f %% of a CPU", least, 100 * cost / elapsed);
  else
    snprintf(text, sizeof text, "cost %s%.1f %%", least, v->health.overhead);
  add_part(line, text);
  if (!v->kinds)
    add_general(line, &v->health);
}

static void print_process(const struct view *v, FILE *out) {
  struct line line = {.out = out};
  uint64_t created = 0, live = 0;
  char text[256];
  for (size_t i = 0; i < v->functions; i++) {
    created += v->function[i].created;
    live += v->function[i].live;
  }
  add_process(&line, v);
  if (v->kinds) {
    uint64_t requests = ask_requests(v);
    snprintf(text, sizeof text, "%s request%s", shown_count(requests), requests == 1 ? "" : "s");
    add_part(&line, text);
  }
  snprintf(text, sizeof text, "%s future%s, %s live", shown_count(created), created == 1 ? "" : "s",
           shown_count(live));
  add_part(&line, text);
  add_cost(&line, v);
  add_health(&line, v);
  fputc('\n', out);
}

/* -- loops ----------------------------------------------------------------- */

/* Of one loop, or of what all of them are together. */
static void print_only_loop(const struct view *v, FILE *out) {
  struct loop loop = ask_loop(v);
  struct line line = {.out = out};
  char text[256];
  fputs("  ", out);
  line.column = INDENT - 2;
  if (loop.has_idle)
    snprintf(text, sizeof text, "loop %s busy",
             shown_percent(loop.elapsed - loop.idle, loop.elapsed));
  else
    snprintf(text, sizeof text, "futures ran %s of the time",
             shown_mark(LACKS(loop.lacks, thread, exec), shown_percent(loop.exec, loop.elapsed)));
  add_part(&line, text);
  if (loop.worst != UNKNOWN) {
    snprintf(text, sizeof text, "longest hold %s",
             shown_mark(LACKS(loop.lacks, loop, slice_max), shown_time_in(v, loop.worst)));
    add_part(&line, text);
  } else if (loop.unseen)
    add_part(&line, "no hold of it was seen (~)");
  fputc('\n', out);
}

static void print_loop(const struct view *v, const struct view_loop *loop, FILE *out) {
  const struct view_thread *t = loop->thread;
  char text[1024];
  bool same = !loop->name || !strncmp(loop->name, v->process.name, strlen(loop->name));
  snprintf(text, sizeof text, "  loop %" PRId64 "%s%s", loop->tid, same ? "" : " ",
           same ? "" : cut_right(loop->name, 16));
  size_t length = strlen(text);
  if (t->idle)
    snprintf(text + length, sizeof text - length, "  %s busy",
             shown_percent(t->elapsed - t->idle, t->elapsed));
  else
    snprintf(text + length, sizeof text - length, "  ran futures %s",
             shown_mark(LACKS(t->lacks, thread, exec), shown_percent(t->exec, t->elapsed)));
  length = strlen(text);
  if (loop->hold_max != UNKNOWN)
    snprintf(text + length, sizeof text - length, "  longest hold %s ",
             shown_mark(LACKS(t->lacks, loop, slice_max), shown_time_in(v, loop->hold_max)));
  size_t width = shown_width(text);
  bool named = loop->hold_max != UNKNOWN && loop->function && width + 8 < FORMAT_WIDTH;
  fprintf(out, "%s%s\n", text, named ? cut_middle(loop->function, FORMAT_WIDTH - width) : "");
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
    fprintf(out, "  %zu pool thread%s  workers ran %s of the time\n", threads,
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

/* Nobody who is short of time looks at a loop that did next to nothing, and was not held. */
enum { QUIET_SHARE = 20 };

static bool is_quiet(const struct view_loop *loop, const struct report_options *options) {
  const struct view_thread *t = loop->thread;
  uint64_t busy = t->idle ? t->elapsed - t->idle : t->exec;
  bool held = loop->hold_max != UNKNOWN && loop->hold_max > options->limits.of[FINDING_HELD];
  return !options->all && !held && busy < t->elapsed / QUIET_SHARE;
}

/* Those that were held longest. */
static void print_loops(const struct view *v, const struct report_options *options, FILE *out) {
  const struct view_loop **list = allocate(v->loops, sizeof *list);
  size_t count = 0;
  for (size_t i = 0; i < v->loops; i++)
    if (v->loop[i].thread && !v->loop[i].thread->is_pool &&
        (v->loop[i].thread->exec || v->loop[i].thread->idle))
      list[count++] = &v->loop[i];
  qsort(list, count, sizeof *list, by_hold);
  size_t shown = 0, most = options->all ? count : MOST_LOOPS;
  if (count <= 1)
    print_only_loop(v, out);
  for (size_t i = 0; count > 1 && i < count && shown < most; i++)
    if (!i || !is_quiet(list[i], options)) {
      shown++;
      print_loop(v, list[i], out);
    }
  if (count > 1 && shown < count)
    fprintf(out, "  and %zu loop%s more: --all\n", count - shown, count - shown == 1 ? "" : "s");
  print_pool(v, out);
  free(list);
}

/* -- what was shed --------------------------------------------------------- */

/* "worker (4711) shed detail (~): no histograms 12.0 %, counts only 8.0 % of its time". */
static void print_shed(const struct view_thread *t, FILE *out) {
  char *text = print_string("%s (%" PRId64 ") shed detail (~):", t->name, t->tid);
  bool any = false;
  for (int step = 1; step < APROF_STEPS; step++) {
    uint64_t time = t->at_step[step].elapsed;
    if (!time)
      continue;
    char *longer = print_string("%s%s %s %s", text, any ? "," : "", governed_steps[step].shown,
                                shown_percent(time, t->elapsed));
    free(text);
    text = longer;
    any = true;
  }
  char *whole = print_string("%s of its time", text);
  if (any) {
    fputs("  ", out);
    report_print_wrapped(out, whole, INDENT);
  }
  free(whole);
  free(text);
}

static void shorten(struct view *v, FILE *out) {
  char *directory = report_directory(v);
  report_shorten(v, directory);
  if (*directory) {
    style_set(out, STYLE_FAINT);
    fprintf(out, "  files are in %s\n", cut_left(directory, FORMAT_WIDTH - 15));
    style_set(out, STYLE_PLAIN);
  }
  free(directory);
}

void report_print_head(struct view *v, const struct report_options *options, FILE *out) {
  print_process(v, out);
  shorten(v, out);
  print_loops(v, options, out);
  if (v->is_interval)
    fputs("  what began before counts: in sums its part since, in mean, p99 and worst\n"
          "  all of it (^: longer than that)\n",
          out);
  for (size_t i = 0; i < v->threads; i++)
    print_shed(&v->thread[i], out);
}
