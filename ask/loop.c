/* SPDX-License-Identifier: MIT */
/* What the loops of the process did; see ask.h. */
#include "ask.h"
#include "read/governed.h"
#include "read/util.h"

struct loop ask_loop(const struct view *v) {
  struct loop loop = {.worst = UNKNOWN};
  uint64_t all_exec = 0, all_elapsed = 0, pool_elapsed = 0;
  for (size_t i = 0; i < v->threads; i++) {
    const struct view_thread *t = &v->thread[i];
    all_elapsed += t->elapsed;
    all_exec += t->exec;
    pool_elapsed += t->is_pool ? t->elapsed : 0;
    if ((!t->exec && !t->idle && !(view_lacks(v, t->shed) & LACK_TIMES)) || t->is_pool)
      continue; /* what it ran may not be known */
    loop.has_idle |= t->idle != 0;
    loop.elapsed += t->elapsed;
    loop.idle += t->idle;
    loop.exec += t->exec;
    loop.run_delay = t->run_delay == UNKNOWN || loop.run_delay == UNKNOWN
                         ? UNKNOWN
                         : plus(loop.run_delay, t->run_delay);
    loop.unseen += governed_unseen(v, t);
    loop.shed |= t->shed;
  }
  loop.lacks = view_lacks(v, loop.shed);
  if (!loop.elapsed) { /* a pool alone: the thread that feeds it is no part of it */
    loop.elapsed = pool_elapsed ? pool_elapsed : all_elapsed;
    loop.exec = all_exec;
  }
  for (size_t i = 0; i < v->functions; i++) {
    uint64_t slice = ask_longest_slice(&v->function[i]);
    if (slice && (loop.worst == UNKNOWN || slice > loop.worst))
      loop.worst = slice;
  }
  for (size_t i = 0; i < v->lives; i++) {
    uint64_t holds = v->live[i].holds;
    if (holds && (loop.worst == UNKNOWN || holds > loop.worst))
      loop.worst = holds;
  }
  return loop;
}

uint64_t ask_longest_slice(const struct view_function *f) {
  if (f->slice_max != UNKNOWN)
    return f->slice_max;
  return buckets_percentile(f->slice_of.bucket, f->slice_of.count, 1000, HISTOGRAM_NO_MAX);
}

bool ask_lacks_histograms(const struct view_function *f) {
  return !f->shed && ((f->slices && !f->slice_of.count) || (f->done && !f->exec_of.count));
}
