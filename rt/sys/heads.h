/* SPDX-License-Identifier: MIT */
/*
 * A list whose first any thread takes, or puts another one before, without a lock.
 *
 * Purpose: what threads hand to each other that is known by number and never given back to the
 * kernel. The head is the number of the first, 0 where there is none, and above it how often that
 * has changed, so that the compare and swap of a thread that stood still in between fails:
 * Treiber's stack, with a count as in IBM's System/370 Principles of Operation. Signals: a handler
 * may jump out of it; what was about to be put there is lost then.
 */
#ifndef APROF_RT_HEADS_H
#define APROF_RT_HEADS_H

#include "compiler.h"

#include <stdint.h>

/* Where the number of what lies behind that one stands. */
typedef uint32_t *head_link(const void *list, uint32_t number);

static inline uint64_t head_changed(uint64_t seen, uint32_t first) {
  return ((seen >> 32) + 1) << 32 | first;
}

/* Another thread may have taken that one by then, and written it. */
HINT static inline uint32_t head_behind(head_link *link, const void *list, uint32_t number) {
  return __atomic_load_n(link(list, number), __ATOMIC_RELAXED);
}

/* 0: there is none. */
static inline uint32_t head_take(uint64_t *head, head_link *link, const void *list) {
  uint64_t seen = __atomic_load_n(head, __ATOMIC_ACQUIRE), next;
  do {
    if ((uint32_t)seen == 0)
      return 0;
    next = head_changed(seen, head_behind(link, list, (uint32_t)seen));
  } while (
      !__atomic_compare_exchange_n(head, &seen, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return (uint32_t)seen;
}

/* From `first` to what is linked there, at the end. */
static inline void head_give(uint64_t *head, uint32_t first, uint32_t *last) {
  uint64_t seen = __atomic_load_n(head, __ATOMIC_RELAXED);
  do
    __atomic_store_n(last, (uint32_t)seen, __ATOMIC_RELAXED);
  while (!swapped(head, &seen, head_changed(seen, first), RELEASE));
}

#endif
