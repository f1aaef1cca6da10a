/* SPDX-License-Identifier: MIT */
/* Histograms; see histogram.c. Inside an event. */
#ifndef APROF_RT_HISTOGRAM_H
#define APROF_RT_HISTOGRAM_H

#include "rt/rt.h"

void histogram_forget(uint32_t block);
uint64_t *histogram_slow(struct thread *t, uint32_t node, uint32_t which, uint32_t *offset);
void histogram_reset(void);
uint32_t histogram_new(void); /* offset / 8 of another one, or 0; rt.lock held */
enum histogram_of { OF_EXEC, OF_WALL, OF_SLICE, OF_QUEUED, OF_WAITING };
static inline uint64_t *histogram_add(struct thread *t, uint32_t node, uint32_t which,
                                      uint32_t *offset, uint64_t value) {
  uint32_t at = *offset;
  uint64_t *buckets;
  if (likely(at > 1))
    buckets = (uint64_t *)(rt_base() + ((uint64_t)at << 3));
  else if (at == 1 || (buckets = histogram_slow(t, node, which, offset)) == NULL)
    return NULL; /* 1: no memory for it, counted once */
  if (unlikely(t->shed != APROF_STEP_NONE))
    return NULL; /* made all the same: fast events ask for it */
  buckets += aprof_bucket_of(likely((int64_t)value >= 0) ? value : 0); /* threads that race */
  ++*buckets;
  return buckets;
}

#endif
