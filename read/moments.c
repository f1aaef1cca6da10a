/* SPDX-License-Identifier: MIT */
/* Moments of a process; see moments.h. */
#include "moments.h"

#include "util.h"

#include <string.h>

/* -- the longest --------------------------------------------------------------------------------
 */

static void add_buckets(uint64_t *to, const struct distribution *d) {
  for (size_t i = 0; i < d->count; i++)
    add_to(&to[aprof_bucket_of(d->bucket[i].lower)], d->bucket[i].count);
}

static void most(uint64_t *to, uint64_t value) {
  if (value != UNKNOWN && value > *to)
    *to = value;
}

void moments_sum(struct moment_sums *sums, const struct view *v) {
  *sums = (struct moment_sums){0};
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    add_buckets(sums->slices, &f->slice_of);
    most(&sums->slice_max, f->slice_max);
    if (!f->lateness.is)
      continue;
    add_buckets(sums->late, &f->lateness.late);
    most(&sums->late_max, f->lateness.max);
  }
}

static uint64_t longest(const uint64_t *before, const uint64_t *after, uint64_t max_before,
                        uint64_t max_after) {
  uint32_t i = APROF_HISTOGRAM_BUCKETS;
  if (max_after > max_before)
    return max_after;
  while (i && after[i - 1] <= before[i - 1])
    i--;
  uint64_t edge = i ? aprof_bucket_lower(i) : 0;
  return max_after && edge > max_after ? max_after : edge;
}

struct moment_most moments_most(const struct moment_sums *before, const struct moment_sums *after) {
  return (struct moment_most){
      longest(before->slices, after->slices, before->slice_max, after->slice_max),
      longest(before->late, after->late, before->late_max, after->late_max)};
}

/* -- sums
 * ------------------------------------------------------------------------------------------ */

static uint64_t more(uint64_t after, uint64_t before) {
  return after > before ? after - before : 0;
}

/* Where no poller is known, what ran futures. Nothing waits for a thread of a pool as for a loop.
 */
static uint64_t busy_of(const struct view *v, uint64_t *elapsed) {
  uint64_t busy = *elapsed = 0;
  for (size_t i = 0; i < v->loops; i++) {
    const struct view_loop *loop = &v->loop[i];
    const struct view_thread *t = loop->thread;
    if ((t && t->is_pool) || (loop->busy == UNKNOWN && !t))
      continue;
    add_to(&busy, loop->busy != UNKNOWN ? loop->busy : t->exec);
    add_to(elapsed, loop->elapsed);
  }
  return busy;
}

static uint64_t requests_of(const struct view *v, const char *kind) {
  uint64_t count = 0;
  for (size_t i = 0; i < v->kinds; i++)
    if (!kind || !strcmp(v->kind[i].kind, kind))
      add_to(&count, v->kind[i].count);
  return count;
}

/* So much of `part`, from..to, lies in the moment that begins at `begin`; ages, so from > to. */
static double share_of(uint64_t from, uint64_t to, uint64_t begin, uint64_t step) {
  uint64_t end = begin - step, first = from < begin ? from : begin, last = to > end ? to : end;
  return first > last ? (double)(first - last) / (double)(from - to) : 0;
}

void moments_add(struct moments *m, const struct view *before, const struct view *after,
                 const struct view *now, struct moment_most longest_of, const char *kind) {
  uint64_t from = more(now->process.elapsed, before->process.elapsed),
           to = more(now->process.elapsed, after->process.elapsed), elapsed[2];
  uint64_t busy[2] = {busy_of(before, &elapsed[0]), busy_of(after, &elapsed[1])};
  uint64_t requests = more(requests_of(after, kind), requests_of(before, kind));
  for (size_t i = 0; i < MOMENTS && from > to; i++) {
    struct moment *one = &m->of[i];
    double share = share_of(from, to, (MOMENTS - i) * m->step, m->step);
    if (share <= 0)
      continue;
    one->covered += share * (double)(from - to);
    one->busy += share * (double)more(busy[1], busy[0]);
    one->elapsed += share * (double)more(elapsed[1], elapsed[0]);
    one->requests += share * (double)requests;
    most(&one->hold, longest_of.hold);
    most(&one->late, longest_of.late);
  }
}

void moments_merge(struct moments *to, const struct moments *from) {
  for (size_t i = 0; i < MOMENTS; i++) {
    const struct moment *its = &from->of[i];
    struct moment *one = &to->of[i];
    if (its->covered <= 0)
      continue;
    one->covered += its->covered;
    one->busy += its->busy;
    one->elapsed += its->elapsed;
    one->requests += its->requests * (double)to->step / its->covered;
    most(&one->hold, its->hold);
    most(&one->late, its->late);
  }
}
