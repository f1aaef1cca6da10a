/* SPDX-License-Identifier: MIT */
/* Functions that were ready and did not run for long. */
#include "findings.h"

#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

/* Of the runs so many (1/N) began late. */
enum { QUEUED_SHARE = 100 };

static void add_queued(struct findings *list, const struct view_function *f, uint64_t count,
                       struct sentence text) {
  findings_add(list, (struct finding){.kind = FINDING_QUEUED,
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
               sentence("`%s` was ready but did not run for %s at worst (%s in all)", f->name,
                        told_time(worst), told_time(f->queued)));
  else if (mean > threshold)
    add_queued(list, f, UNKNOWN,
               sentence("`%s` was ready but did not run for %s on average (%s in all)", f->name,
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
  if (!over || over < runs / QUEUED_SHARE ||
      findings_is_machines(v, 0, findings_over(&f->queued_of, threshold)) ||
      findings_are_machines(v, over, runs))
    return;
  add_queued(list, f, over,
             sentence("`%s` was ready but did not run for over %s, %s of %s times (%s in all)",
                      f->name, told_time(threshold),
                      told_mark(LACKS(f->lacks, function, queued_of), told_count(over)),
                      told_count(runs),
                      told_mark(LACKS(f->lacks, function, queued), told_time(f->queued))));
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  for (size_t i = 0; i < v->functions; i++)
    find_queued(list, v, &v->function[i], limits->of[FINDING_HELD]);
}

const struct finding_row finding_queued = {
    .judge = judge, .next = NEXT_FUNCTION, .cost = COST_LIVES};
