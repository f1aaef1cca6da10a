/* SPDX-License-Identifier: MIT */
/*
 * The trace: events as they happen, in a ring of the thread's block; see ring.c.
 *
 * Purpose: each transition of the ledger, told where it is made. Cost: while nobody traces, a test
 * of one word; while somebody does, a call and two stores. Locking: none, but for a new ring.
 * Inside an event of the thread.
 */
#ifndef APROF_RT_RING_H
#define APROF_RT_RING_H

#include <aprof/trace.h>

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

/* From the base record on; not where the thread has but seen that it will: that may have been in
   a handler, inside another event. */
static inline bool traces(const struct thread *t) {
  return unlikely((int32_t)t->tracing > 0);
}

static inline void trace_none(struct thread *t) {
  t->tracing = t->noting = 0;
  t->told_by = NULL;
}

/* Before an event of its own the thread sees whether it is traced, ... */
static inline void trace_seen(struct thread *t) {
  uint32_t on = __atomic_load_n(&rt.header->usual, __ATOMIC_RELAXED) & APROF_TRACED;
  t->seen = (t->epoch & ~APROF_TRACED) | on;
  if (on && t->tracing == 0)
    t->tracing = TRACE_BEGINS;
}
/* ... and inside it begins a ring or ends it, as need be. */
void trace_goes_on(struct thread *t);

/* -- where traces(t) -- */

/* There is a ring. Its head alone says how many events there are: one that is left half-way leaves
   nothing behind. The lap is read off the head at each first place, by whoever writes there. */
static inline __attribute__((always_inline)) void ring_put(struct thread *t, uint32_t kind,
                                                           uint64_t a, uint64_t b) {
  struct aprof_block *block = t->block;
  uint64_t place = block->ring_head & t->ring_mask;
  struct aprof_trace_event *ring = (struct aprof_trace_event *)(void *)(rt_base() + block->ring);
  if (unlikely(place == 0))
    t->ring_lap = aprof_trace_lap(block->ring_head, block->ring_bits);
  aprof_trace_put(&ring[place], t->ring_lap, kind, a, b);
  publish_fence();
  block->ring_head++;
}

/* ... or there is none, which is counted. */
void trace_put(struct thread *t, enum aprof_trace_kind kind, uint32_t future, uint32_t node,
               uint64_t tick);
void trace_more(struct thread *t, uint64_t a, uint64_t b);
/* ... also of what a trace of some requests leaves out. */
void trace_put_any(struct thread *t, enum aprof_trace_kind kind, uint32_t future, uint32_t node,
                   uint64_t tick);
/* What runs here from now on is left out. */
void trace_held(struct thread *t, uint32_t node, uint64_t tick);

/* f is or does that, at that node, from then on. */
static inline void trace(struct thread *t, enum aprof_trace_kind kind, const struct aprof_future *f,
                         uint32_t node, uint64_t tick) {
  if (traces(t))
    trace_put(t, kind, index_of(f), node, tick);
}
/* No future runs here from now on. */
static inline enum aprof_trace_kind rests_as(const struct thread *t) {
  return t->rest == APROF_THREAD_IDLE ? APROF_TRACE_IDLE : APROF_TRACE_OTHER;
}
static inline void trace_rests(struct thread *t, uint64_t tick) {
  if (traces(t) && (t->told != t->rest || t->told_held)) {
    t->told = t->rest;
    trace_put(t, rests_as(t), 0, 0, tick);
  }
}

/* It was in its poller since then, as it turns out. */
static inline void trace_idle(struct thread *t, uint64_t since) {
  if (traces(t)) {
    t->told = APROF_THREAD_IDLE;
    trace_put(t, APROF_TRACE_IDLE, 0, 0, since);
  }
}
/* What seemed to run here until now did not. */
static inline void trace_stolen(struct thread *t, uint64_t tick) {
  if (traces(t))
    trace_put(t, APROF_TRACE_STOLEN, 0, 0, tick);
}
/* What was open here is in no event: tells all that the thread is doing. */
void trace_base(struct thread *t);
/* The thread's epoch was over at that tick; it goes on in another one. */
void trace_epoch_over(struct thread *t, uint64_t tick);
/* The thread's block is free from now on. */
void trace_gone(struct thread *t);

/* From the start on, and for good: the option trace:flight. */
void trace_flight(void);

#pragma GCC visibility pop

#endif
