/* SPDX-License-Identifier: MIT */
/* Functions that were ready and did not run for long. */
#include "findings.h"

#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

/* Of the runs so many (1/N) began late. A few late ones, by less than so many times the limit, are
   the machine's, or of a hold, which is told. */
enum { QUEUED_SHARE = 100, FEW = 4, FAR_LATE = 10 };

/* "`it` (it.c:8)" */
static const char *who(const struct view_function *f) {
  return f->file ? turn_text("`%s` (%s)", f->name, place_text(f->file, f->line))
                 : turn_text("`%s`", f->name);
}

/* It runs on threads of a pool: then these are what it waits for. */
static bool is_work(const struct view_function *f) {
  return f->pool_exec && f->pool_exec >= f->exec / 2;
}

/* "; the 4 threads of pools ran 97 % of the time", where that is most of it. */
static const char *pool_load(const struct view *v, const struct view_function *f) {
  uint64_t threads = 0, exec = 0, elapsed = 0;
  for (size_t i = 0; i < v->threads; i++) {
    const struct view_thread *t = &v->thread[i];
    if (!t->is_pool || (f->process != UNKNOWN && t->process != f->process))
      continue;
    threads++;
    add_to(&exec, t->exec);
    add_to(&elapsed, t->elapsed);
  }
  return threads && exec >= elapsed / 2
             ? turn_text("; %s thread%s of pools ran %s of the time", told_count(threads),
                         threads == 1 ? "" : "s", told_percent(exec, elapsed))
             : "";
}

static void add_queued(struct findings *list, const struct view_function *f, uint64_t count,
                       struct sentence text) {
  findings_add(list, (struct finding){.kind = is_work(f) ? FINDING_POOL : FINDING_QUEUED,
                                      .weight = f->queued,
                                      .severity = f->queued,
                                      .count = count,
                                      .function = f,
                                      .at = findings_place(f->file, f->line),
                                      .text = text});
}

/* Without histograms: the longest after any waker, else the mean. */
static void find_queued_once(struct findings *list, const struct view_function *f,
                             uint64_t threshold) {
  uint64_t worst = 0, mean = f->slices ? f->queued / f->slices : 0;
  for (size_t i = 0; i < f->wakers; i++)
    if (f->waker[i].max != UNKNOWN && f->waker[i].max > worst)
      worst = f->waker[i].max;
  if (worst > threshold)
    add_queued(list, f, UNKNOWN,
               sentence("%s was ready but did not run for %s at worst (%s in all)", who(f),
                        told_time(worst), told_time(f->queued)));
  else if (mean > threshold)
    add_queued(list, f, UNKNOWN,
               sentence("%s was ready but did not run for %s on average (%s in all)", who(f),
                        told_time(mean), told_time(f->queued)));
}

/* The histogram has the times that something was queued at all; a timer that ran in
   time is none, so the runs count. */
static void find_queued(struct findings *list, const struct view *v, const struct view_function *f,
                        uint64_t threshold) {
  if (view_unseen(f))
    return;
  uint64_t over = findings_longer(&f->queued_of, threshold),
           runs = findings_longer(&f->queued_of, 0);
  if (ask_lacks_histograms(f) && !f->queued_of.count)
    find_queued_once(list, f, threshold);
  if (f->slices > runs)
    runs = f->slices;
  bool few = over < FEW && !findings_longer(&f->queued_of, threshold * FAR_LATE);
  if (!over || few || over < runs / QUEUED_SHARE ||
      findings_is_machines(v, 0, findings_over(&f->queued_of, threshold)) ||
      findings_are_machines(v, over, runs))
    return;
  const char *times = told_mark(LACKS(f->lacks, function, queued_of), told_count(over));
  const char *all = told_mark(LACKS(f->lacks, function, queued), told_time(f->queued));
  add_queued(list, f, over,
             is_work(f)
                 ? sentence("%s waited for a thread of its pool for over %s, %s of %s times (%s in "
                            "all)%s: the pool is too small, or its work takes too long",
                            who(f), told_time(threshold), times, told_count(runs), all,
                            pool_load(v, f))
                 : sentence("%s was ready but did not run for over %s, %s of %s times (%s in all)",
                            who(f), told_time(threshold), times, told_count(runs), all));
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  for (size_t i = 0; i < v->functions; i++)
    find_queued(list, v, &v->function[i], limits->of[FINDING_HELD]);
}

const struct finding_row finding_queued = {
    .judge = judge, .next = NEXT_FUNCTION, .cost = COST_LIVES};
