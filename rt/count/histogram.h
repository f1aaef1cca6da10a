/* SPDX-License-Identifier: MIT */
/*
 * Histograms; see histogram.c. Inside an event.
 *
 * Each counters record has where its histogram counts, and a limit: what lies below it has a bucket
 * there, and is no new maximum. So fast events make one comparison, and count by one addition.
 */
#ifndef APROF_RT_HISTOGRAM_H
#define APROF_RT_HISTOGRAM_H

#include "buckets.h"
#include "rt/rt.h"

#pragma GCC visibility push(hidden)

enum histogram_of { OF_ENDED, OF_SLICE, OF_QUEUED, OF_WAITING };

void histogram_forget(uint32_t block);
void histogram_reset(void);

/* Another value of `node`, which `c` counts; of OF_ENDED exec and wall. Its maximum has been
   raised. */
void histogram_value(struct thread *t, uint32_t node, enum histogram_of which,
                     struct aprof_counters *c, uint64_t value, uint64_t wall);
/* The slice of that length, which was added last, is none. */
void histogram_take_back(struct thread *t, struct aprof_counters *c, uint64_t length);

/* No slice below that is without a bucket. */
uint64_t histogram_slice_limit(const struct aprof_counters *c);

#pragma GCC visibility pop

/* ... of one value. */
static inline void histogram_add(struct thread *t, uint32_t node, enum histogram_of which,
                                 struct aprof_counters *c, uint64_t value) {
  const uint64_t *limit = which == OF_QUEUED ? &c->function.queued_limit : &c->await.limit;
  if (which == OF_SLICE || unlikely(value >= *limit) || unlikely(t->shed != APROF_STEP_NONE)) {
    histogram_value(t, node, which, c, value, 0);
    return;
  }
  uint64_t where = which == OF_QUEUED ? c->function.queued_buckets : c->await.buckets;
  uint16_t *buckets = (uint16_t *)(uintptr_t)(where + APROF_BUCKETS_BEFORE(0));
  uint16_t *count = &buckets[aprof_bucket_of(value)];
  if (unlikely(++*count == 0))
    buckets_carries(buckets, count);
}

#endif
