/* SPDX-License-Identifier: MIT */
/*
 * Slices: from when a stack holds the thread until it lets it go.
 *
 * Purpose: counts them, also of a thread that was preempted in one; see slice.c. What the kernel
 * knows of a thread's time on a processor is read here, too.
 * Cost: inline but for long ones. Locking: only inside an event.
 */
#ifndef APROF_RT_SLICE_H
#define APROF_RT_SLICE_H

#include "rt/count/histogram.h"
#include "rt/count/node.h"
#include "rt/future/stack.h"

/* From here on a stack holds the thread whose outermost future has this node. */
static inline void slice_starts(struct aprof_block *b, uint32_t outermost, uint64_t now,
                                uint32_t site) {
  b->slice_tick = now;
  b->slice_from = site;
  b->slice_node = outermost;
}

/* The thread goes from no future to running f. */
static inline void slice_open(struct thread *t, const struct aprof_future *f, uint64_t now,
                              uint32_t site) {
  slice_starts(t->block, outermost(f), now, site);
  t->slice_counters = counters_of(t, t->block->slice_node);
}

/* What runs on a pool thread holds no loop: its slices count nowhere. */
static inline void slice_open_worker(struct thread *t) {
  t->no_slices.function.slice_buckets = 1;
  t->block->slice_node = 0;
  t->slice_counters = &t->no_slices;
}

/* The slice that ends now, at `site`, is the longest of its function, or long, or one of the first.
   Returns its length less what the thread was preempted for in it. */
SLOW uint64_t slice_long(struct thread *t, struct aprof_counters *c, uint64_t now, uint32_t site);

/* The slice that ended last goes on: it is none of those that are remembered. */
void hold_forget(struct thread *t);
void holds_forget(struct thread *t); /* an epoch begins */
/* f, which goes on or is over, was ready since before a long hold of this thread ended. */
SLOW void future_delayed(struct thread *t, const struct aprof_future *f, uint64_t since,
                         uint64_t now);

/* The loop is let go at `site`. */
static inline void slice_close(struct thread *t, uint64_t now, uint32_t site) {
  struct aprof_counters *c = t->slice_counters;
  const struct aprof_block *b = t->block;
  uint64_t length = now - b->slice_tick;
  t->slice_count++;
  c->function.slices++;
  if (unlikely(length >= c->function.slice_limit))
    length = slice_long(t, c, now, site);
  histogram_add(t, b->slice_node, OF_SLICE, c, length);
}

/* The loop had not been let go: what seemed a suspension was a call on the same stack. */
static inline void slice_reopen(struct thread *t, uint64_t ended) {
  struct aprof_counters *c = t->slice_counters;
  uint64_t length = ended - t->block->slice_tick;
  if (unlikely(t->long_count == t->slice_count)) {
    length = t->long_own;
    t->long_count--; /* the next one of this number may be none */
    hold_forget(t);
  }
  t->slice_count--;
  c->function.slices--;
  histogram_take_back(t, c, length);
}

/* Reads how much processor time this thread has had, if it is time for that. The thread is about to
   stop being idle; `idle`: since when it is. True: it did, and that took its time. */
bool slice_polled(struct thread *t, uint64_t idle, uint64_t now);
void slice_thread_starts(struct thread *t, uint64_t now); /* ... at its first event */

#endif
