/* SPDX-License-Identifier: MIT */
/*
 * A segment of time ends where it belongs, in one addition each.
 *
 * Cost: inline; two additions per segment, one histogram. Locking: only inside an event.
 */
#ifndef APROF_RT_SEGMENTS_H
#define APROF_RT_SEGMENTS_H

#include "rt/count/govern.h"
#include "rt/count/histogram.h"
#include "rt/count/node.h"
#include "rt/file/clock.h"
#include "rt/request/share.h"
#include "slice.h"

/* Time never runs backwards on a thread, whatever core it is on. */
static inline uint64_t event_time(struct thread *t) {
  uint64_t now = governed_clock(t);
  return likely(now >= t->block->last) ? now : t->block->last;
}

/* The time around idling, where it matters most and costs least: a thread that has shed its clock
   reads it here. */
static inline uint64_t idle_time(struct thread *t) {
  if (unlikely(t->shed >= APROF_STEP_COARSE))
    t->stood = clock_read();
  return event_time(t);
}

static inline bool token_current(const struct thread *t, uint64_t id) {
  return (uint16_t)(id >> 48) == (uint16_t)t->epoch;
}

/* -- steps that general and fast events share ------------------------------ */

/* The thread is known in this epoch, and a fast event may happen at all, untimed; `traced`: or
   APROF_TRACED, where the thread is. */
static inline __attribute__((always_inline)) bool thread_usual(const struct thread *t,
                                                               uint32_t traced) {
  const uint32_t *usual = __atomic_load_n(&rt.usual_epoch, __ATOMIC_RELAXED);
  return likely((t->usual | traced) == __atomic_load_n(usual, __ATOMIC_RELAXED));
}

/* A general event begins: what runs and what was suspended last, apart. */
static inline void cur_apart(struct thread *t) {
  t->suspended = NULL;
  if (t->block->state != APROF_THREAD_RUNNING) {
    t->suspended = t->cur;
    t->cur = NULL;
  }
}
/* ... ends. */
static inline void cur_joined(struct thread *t) {
  if (t->suspended != NULL)
    t->cur = t->suspended;
}

/* Has at() announced, just before this event, the call that it is? */
static inline bool call_announced(const struct thread *t, const struct aprof_block *b) {
  return t->at_sequence + 1 == b->sequence;
}
/* The site a future is put aside at: the call announced, else what it calls. */
static inline struct aprof_site *take_call_site(const struct thread *t, struct aprof_site *callee) {
  return call_announced(t, t->block) ? t->at : callee;
}

/* The thread runs f, which `c` counts. */
static inline void thread_runs(struct thread *t, struct aprof_block *b, struct aprof_future *f,
                               struct aprof_counters *c, uint64_t now) {
  t->cur = f;
  t->counters = c;
  b->state = APROF_THREAD_RUNNING;
  b->last = now;
}

/* ... runs no future. */
static inline void thread_rests(struct thread *t, struct aprof_block *b, uint64_t now) {
  t->cur = NULL;
  b->state = t->rest;
  b->last = now;
}

/* f waits until the bracket of `callee` closes. */
static inline void stands_aside(struct aprof_future *f, uint32_t callee, uint64_t now) {
  f->callee = callee;
  f->last = now;
  f->state = APROF_FUTURE_ASIDE;
}

/* f was queued, or waited at `a`, for so long. */
static inline void was_queued(struct aprof_future *f, struct aprof_counters *c, uint64_t passed) {
  f->queued += passed;
  c->function.queued += passed;
}
static inline void has_waited(struct aprof_future *f, struct aprof_counters *a, uint64_t passed) {
  f->waiting += passed;
  a->await.waiting += passed;
  a->await.count++;
}

_Static_assert(offsetof(struct aprof_counters, function.failed) ==
                       offsetof(struct aprof_counters, function.done) + 8 * APROF_FAILED &&
                   offsetof(struct aprof_counters, function.cancelled) ==
                       offsetof(struct aprof_counters, function.done) + 8 * APROF_CANCELLED,
               "counted by how");
/* f is over. */
static inline void has_ended(const struct aprof_future *f, struct aprof_counters *c, int how) {
  (&c->function.done)[how]++;
  if (!(f->flags & APROF_F_WAITED))
    c->function.born_done++;
}

/* What the span that is open outside futures has had up to now is its own. */
static inline void span_outside_close(struct thread *t) {
  struct aprof_block *b = t->block;
  uint64_t grown = b->other - b->span_other;
  if (b->span_node != 0)
    counters_of(t, b->span_node)->function.exec += grown;
  b->span_other = b->other;
}

/* -- segments -------------------------------------------------------------- */

/* The thread's time outside futures ends now. */
static inline void close_rest(struct aprof_block *b, uint64_t now) {
  uint64_t passed = now - b->last;
  if (b->state == APROF_THREAD_IDLE)
    b->idle += passed;
  else
    b->other += passed;
}

static inline void close_running(struct thread *t, uint64_t now) {
  t->counters->function.exec += now - t->block->last;
}

/* ... and goes on. */
static inline void close_here(struct thread *t, uint64_t now) {
  close_running(t, now);
  t->cur->last = t->block->last = now;
}

/* f ran between two awaits of which one lies inside the other: that time is exec after all. */
static inline void charge_back(struct thread *t, struct aprof_future *f, uint64_t now) {
  counters_of(t, f->node)->function.exec += elapsed(f->last, now);
}

static inline void close_queued_at(struct thread *t, struct aprof_future *f, uint32_t node,
                                   uint64_t since, uint64_t now) {
  struct aprof_counters *c = counters_of(t, node);
  uint64_t passed = elapsed(since, now);
  was_queued(f, c, passed);
  histogram_add(t, node, OF_QUEUED, c, passed);
  if (unlikely(since < t->held_until))
    future_delayed(t, f, since, now);
}

static inline void close_queued_since(struct thread *t, struct aprof_future *f, uint64_t since,
                                      uint64_t now) {
  close_queued_at(t, f, future_function(f), since, now);
}

/* A future that is woken while it runs, or is aside, does not wait the next time. Until then its
   wake_tick holds the waker's site in place of a tick; ticks are greater than any site. */
static inline bool is_mark(uint64_t wake_tick) {
  return wake_tick != 0 && wake_tick <= rt.header->sites;
}

/* Moves the mark to the body on top of a stack that one key means: its wait is the next one. */
static inline void mark_moves(struct aprof_future *from, struct aprof_future *to) {
  if (unlikely(from->wake_tick != 0))
    to->wake_tick = __atomic_exchange_n(&from->wake_tick, 0, __ATOMIC_RELAXED);
}

/* The clock wakes f, at that tick. */
static inline void future_wakes_at(struct aprof_future *f, uint64_t when) {
  __atomic_store_n(&f->wake_site, 0, __ATOMIC_RELAXED); /* it may hold what an older use left */
  __atomic_store_n(&f->wake_tick, when, __ATOMIC_RELAXED);
}

/* f, whose create bracket is open, is due `ns` after that began. */
static inline void future_due(struct aprof_future *f, uint64_t ns) {
  uint64_t when = f->last + clock_ticks(ns);
  future_wakes_at(f, when > f->last ? when : f->last);
}

static inline void close_queued(struct thread *t, struct aprof_future *f, uint64_t now) {
  close_queued_since(t, f, f->last, now);
  f->wake_tick = 0; /* when it was due */
}

/* f's wait ended then, at its await. */
static inline void close_wait(struct thread *t, struct aprof_future *f, uint64_t end,
                              bool immediate) {
  /* f has no await only where threads race for it: then nobody knows. */
  uint32_t await = likely(f->await != 0) ? f->await : OTHER_AWAIT;
  if (unlikely(f->flags & APROF_F_MEMBER))
    share_waited(f, await, end);
  struct aprof_counters *a = counters_of(t, await);
  uint64_t passed = elapsed(f->last, end);
  has_waited(f, a, passed);
  raise_max(t, &a->await.max, passed);
  if (immediate)
    a->await.immediate++;
  else
    histogram_add(t, await, OF_WAITING, a, passed);
}

#endif
