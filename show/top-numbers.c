/* SPDX-License-Identifier: MIT */
/* Numbers of a window; see top.h. */
#include "format.h"
#include "read/util.h"
#include "top.h"

#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ull

const char *const top_states[] = {"running", "stopped", "ended"};
const struct top_windows top_windows[TOP_WINDOWS] = {
    {10 * SECOND, "last 10 s"}, {60 * SECOND, "last 1 min"}, {0, "since start"}};

const struct top_process *top_opened(const struct top_look *look, const struct top_process *process,
                                     size_t processes) {
  for (size_t i = 0; i < processes; i++)
    if (process[i].pid == look->pid)
      return &process[i];
  return NULL;
}

uint64_t top_span(const struct view *v) {
  return v->process.measured != UNKNOWN ? v->process.measured : v->process.elapsed;
}

const char *top_rate(uint64_t count, uint64_t span) {
  double rate = span ? (double)count * 1e9 / (double)span : 0;
  if (!span)
    return "-";
  if (rate >= 99.95 || rate == 0)
    return shown_count((uint64_t)(rate + 0.5));
  return turn_text("%.1f", rate);
}

uint64_t top_ended(const struct view_function *f) {
  return f->done + f->failed + f->cancelled;
}

uint64_t top_per_call(const struct view *v, const struct view_function *f, uint64_t sum) {
  return sum == UNKNOWN ? UNKNOWN : ask_per_call(v, f, sum);
}

uint64_t top_busy(const struct view *v, uint64_t *elapsed) {
  uint64_t busy = UNKNOWN;
  *elapsed = 0;
  for (size_t i = 0; i < v->loops; i++)
    if (v->loop[i].busy != UNKNOWN) {
      busy = (busy == UNKNOWN ? 0 : busy) + v->loop[i].busy;
      *elapsed += v->loop[i].elapsed;
    }
  return busy;
}

double top_share(const struct view_loop *loop, bool *ran) {
  const struct view_thread *t = loop->thread;
  uint64_t part = loop->busy != UNKNOWN ? loop->busy : t ? t->exec : UNKNOWN;
  *ran = loop->busy == UNKNOWN;
  return part == UNKNOWN || !loop->elapsed || part > loop->elapsed
             ? -1
             : (double)part / (double)loop->elapsed;
}

static bool is_only_loop(const struct view *v, const struct view_loop *loop) {
  for (size_t i = 0; i < v->loops; i++)
    if (&v->loop[i] != loop && !(v->loop[i].thread && v->loop[i].thread->is_pool))
      return false;
  return true;
}

/* The greatest that any slice of the window can be, and whose: the edge of the highest bucket that
   grew. 0: there was none. */
static uint64_t highest_edge(const struct view *v, const char **function) {
  uint64_t most = 0;
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    if (!f->slice_of.count || f->slice_of.max <= most)
      continue;
    most = f->slice_of.max;
    *function = f->name;
  }
  return most;
}

/* A window knows the maximum if it is new. Else no hold was longer than the highest bucket that
   grew, nor, where there are several loops, than the longest that this one has ever had. */
uint64_t top_hold(const struct top_process *p, const struct view_loop *loop, const char **function,
                  bool *edge) {
  const struct view *v = p->view, *whole = p->whole;
  size_t at = (size_t)(loop - v->loop);
  *edge = false;
  *function = loop->function;
  if (loop->slice_max != UNKNOWN || !v->is_interval)
    return loop->hold_max;
  const char *name = NULL;
  uint64_t most = highest_edge(v, &name);
  if (!is_only_loop(v, loop)) {
    uint64_t ever = whole && at < whole->loops ? whole->loop[at].slice_max : UNKNOWN;
    most = ever == UNKNOWN ? 0 : ever < most ? ever : most;
    name = NULL;
  }
  if (!most || (loop->hold_max != UNKNOWN && loop->hold_max >= most))
    return loop->hold_max;
  *edge = true;
  *function = name;
  return most;
}
