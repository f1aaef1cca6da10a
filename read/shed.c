/* SPDX-License-Identifier: MIT */
/* Governed overhead: what the numbers of a view lack; see view.h. */
#include "view.h"

const struct governed_step governed_steps[APROF_STEPS] = {{"none", NULL},
                                                          {"histograms", "no histograms"},
                                                          {"paths", "no paths"},
                                                          {"clock", "coarse clock"},
                                                          {"times", "counts only"}};

unsigned governed_and_before(unsigned shed) {
  unsigned all = 0;
  for (int step = 1; step < APROF_STEPS; step++)
    if (shed >> step)
      all |= 1u << step;
  return all;
}

static unsigned shed_of(const struct view_thread *t) {
  unsigned bits = 0;
  for (int step = 1; step < APROF_STEPS; step++)
    if (t->at_step[step].elapsed || t->at_step[step].events)
      bits |= 1u << step;
  return governed_and_before(bits);
}

static uint64_t counts_of(const struct distribution *d) {
  uint64_t count = 0;
  for (size_t i = 0; i < d->count; i++)
    count += d->bucket[i].count;
  return count;
}

/* Of the events that came while anything was shed: those when times were. */
static double share_without_times(const struct view *v) {
  double all = 0, without = 0;
  for (size_t i = 0; i < v->threads; i++)
    for (int step = 1; step < APROF_STEPS; step++) {
      double events = (double)v->thread[i].at_step[step].events;
      all += events;
      without += step == APROF_STEP_COUNTS ? events : 0;
    }
  return all > 0 ? without / all : 0;
}

/* A future that ended, or a slice, while detail was shed is counted and in no histogram: so
   many of a function's are, and of those that share without times. From this on they are
   most of it. */
#define MOSTLY 0.75

static bool is_unmeasured(const struct view *v, const struct view_function *f, double without) {
  uint64_t ended = f->done + f->failed + f->cancelled;
  uint64_t all = ended ? ended : f->slices;
  uint64_t seen = counts_of(ended ? &f->exec_of : &f->slice_of);
  if (!(f->shed >> APROF_STEP_COUNTS) || v->health.lost_histograms || seen >= all)
    return false;
  return (double)(all - seen) * without >= MOSTLY * (double)all;
}

void governed_settle(struct view *v) {
  v->shed = 0;
  for (size_t i = 0; i < v->threads; i++) {
    v->thread[i].shed = shed_of(&v->thread[i]);
    v->thread[i].lacks = view_lacks(v, v->thread[i].shed);
    v->shed |= v->thread[i].shed;
  }
  if (v->is_interval) /* else what is marked is so for a thread */
    for (size_t i = 0; i < v->functions; i++)
      v->function[i].shed &= v->shed;
  double without = share_without_times(v);
  for (size_t i = 0; i < v->functions; i++) {
    v->function[i].lacks = view_lacks(v, v->function[i].shed);
    v->function[i].unmeasured =
        view_unseen(&v->function[i]) || is_unmeasured(v, &v->function[i], without);
  }
}

/* From this step on the longest of anything may not be known. Between two totals that of the
   first may be longer: then a histogram has those of the interval. */
static enum aprof_step maxima(const struct view *v) {
  return v->is_interval ? APROF_STEP_HISTOGRAMS : APROF_STEP_COARSE;
}

unsigned view_lacks(const struct view *v, unsigned shed) {
  return (shed >> APROF_STEP_HISTOGRAMS ? LACK_HISTOGRAMS : 0u) |
         (shed >> APROF_STEP_TREE ? LACK_PATHS : 0u) |
         (shed >> APROF_STEP_COARSE ? LACK_TIMES : 0u) | (shed >> maxima(v) ? LACK_MAXIMA : 0u);
}

uint64_t governed_unseen(const struct view *v, const struct view_thread *t) {
  uint64_t unseen = 0;
  for (int step = maxima(v); step < APROF_STEPS; step++)
    unseen += t->at_step[step].elapsed;
  return unseen < t->elapsed ? unseen : t->elapsed;
}
