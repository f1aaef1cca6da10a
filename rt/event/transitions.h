/* SPDX-License-Identifier: MIT */
/*
 * How a future moves between queued, running and waiting: the ledger itself.
 *
 * Purpose: the steps that events are made of. Each closes a segment of time
 * where it belongs and opens the next one at the same tick, so that no tick is
 * in two places or none.
 * Cost: inline; two additions per closed segment, one histogram.
 * Locking: only inside an event (event_begin .. event_end) of the thread.
 */
#ifndef APROF_TRANSITIONS_H
#define APROF_TRANSITIONS_H

#include "rt/future/owner.h"
#include "rt/request/member.h"
#include "rt/trace/ring.h"
#include "slice.h"
#include "tell.h"
#include "waker.h"

/* Those of f's node, for the next fast event too. */
static inline struct aprof_counters *known_counters(struct thread *t, struct aprof_future *f) {
  struct aprof_counters *c = counters_of(t, f->node);
  function_known(c, f->node);
  f->counters = (uintptr_t)c;
  return c;
}

/* Those of the await that f waits in, for the next fast event too. */
static inline struct aprof_counters *waits_at(struct thread *t, struct aprof_future *f) {
  struct aprof_counters *a = await_known(t, f->await);
  bool own = a->await.function == (uintptr_t)counters_of(t, f->node); /* not in a span */
  f->counters = (uintptr_t)(own ? a : nowhere);
  return a;
}

static inline void set_running_as(struct thread *t, struct aprof_future *f,
                                  enum aprof_trace_kind kind, uint64_t now) {
  if (unlikely(f->lease != t->lease))
    future_migrated(t, f);
  if (unlikely(f->flags & APROF_F_IMPLICIT)) {
    f->await = 0;
    f->flags &= (uint8_t)~APROF_F_IMPLICIT;
  }
  f->state = APROF_FUTURE_RUNNING;
  f->last = now;
  t->suspended = NULL;
  thread_runs(t, t->block, f, known_counters(t, f), now);
  trace(t, kind, f, f->node, now);
}
static inline void set_running(struct thread *t, struct aprof_future *f, uint64_t now) {
  set_running_as(t, f, APROF_TRACE_RUNNING, now);
}

/* ... and the program is told from where; behind a wait for new work a request may begin. */
static inline void set_going_on(struct thread *t, struct aprof_future *f,
                                enum aprof_trace_kind kind, uint32_t site, uint64_t now) {
  bool new_work = f->state == APROF_FUTURE_WAITING && node_begins_request(f->await);
  set_running_as(t, f, kind, now);
  if (unlikely(new_work))
    member_goes_on(t, f, now);
  tell(APROF_EVENT_RUNNING, f, site, now);
}

static inline void set_resting(struct thread *t, uint64_t now) {
  thread_rests(t, t->block, now);
  trace_rests(t, now);
}

/* A wake that came while f ran stays: f is runnable from the start of its wait. */
static inline void set_waiting_as(struct thread *t, struct aprof_future *f,
                                  enum aprof_trace_kind kind, uint32_t await, uint64_t now) {
  f->await = await;
  f->counters = (uintptr_t)nowhere;
  f->last = now;
  f->state = APROF_FUTURE_WAITING;
  f->flags |= APROF_F_WAITED;
  trace(t, kind, f, await, now);
}
static inline void set_waiting(struct thread *t, struct aprof_future *f, uint32_t await,
                               uint64_t now) {
  set_waiting_as(t, f, APROF_TRACE_WAITING, await, now);
}

/* ... in the await that it is in; in none, where it was created until it is run again. */
static inline uint32_t left_at(struct aprof_future *f) {
  if (f->await != 0)
    return f->await;
  f->flags |= APROF_F_IMPLICIT;
  return node_of_site_slow(function_node(f->node), aprof_create_site(f), APROF_NODE_AWAIT);
}
static inline void set_left(struct thread *t, struct aprof_future *f, uint64_t now) {
  set_waiting(t, f, left_at(f), now);
}

/* f waits since then: for new work, it is part of no request that has no root any more. */
static inline void may_rest(struct thread *t, struct aprof_future *f, uint64_t now) {
  if (unlikely(f->flags & APROF_F_MEMBER) && node_in_background(f->await))
    member_rests(t, f, now);
}

/* If the poller was jumped out of, its bracket is open no more. */
static inline void poller_left(struct thread *t) {
  if (t->idler == NULL || is_aside(t->idler, CALLEE_IDLE))
    return;
  t->idler = NULL;
  t->rest = APROF_THREAD_OTHER;
}

/* f, whose create bracket closes before it ran, waits for what was asked, or for its turn; a job
   for a pool is nobody's. `keyed`: its flag, where it can be found at once. */
static inline __attribute__((always_inline)) void
created_rests(const struct thread *t, struct aprof_future *f, uint32_t flags, uint8_t keyed) {
  uint8_t now = (uint8_t)(f->flags | keyed | APROF_F_WAITED);
  if (site_waits(flags)) {
    f->flags = now | APROF_F_IMPLICIT;
    f->state = APROF_FUTURE_WAITING;
  } else {
    f->flags = now;
    f->await = 0;
    f->state = APROF_FUTURE_QUEUED;
    if (unlikely(flags & APROF_WORKER))
      f->lease = lease_of_none(t);
  }
}

/* The running future waits, at `site` if it is in no await yet, until the
   bracket of `callee` closes. Its exec must have been closed. */
static inline void put_aside(struct thread *t, struct aprof_future *f, struct aprof_site *site,
                             uint32_t callee, uint64_t now) {
  if (f->await == 0) {
    f->await = node_find(t, f->node, site, true)->node;
    callee |= CALLEE_MINE;
  }
  if ((callee & ~CALLEE_MINE) < CALLEE_NO_FUTURE)
    __atomic_store_n(&f->wake_site, (uint32_t)future_at(callee & ~CALLEE_MINE)->id,
                     __ATOMIC_RELAXED);
  stands_aside(f, callee, now);
  trace(t, APROF_TRACE_ASIDE, f, f->await, now);
  tell(APROF_EVENT_WAITING, f, 0, now);
}

/* The serial of the future whose bracket put f aside; its record may be another future's by now. It
   stands in the waker's place, which is free: a wake of what is aside leaves a mark only. */
static inline uint32_t aside_for(const struct aprof_future *f) {
  return __atomic_load_n(&f->wake_site, __ATOMIC_RELAXED);
}

/* ... and runs again, or is jumped back to out of a wait. Counted immediate if no slice ended in
   between. */
static inline void restore(struct thread *t, struct aprof_future *f, uint64_t now, bool immediate) {
  if (likely(f->state == APROF_FUTURE_ASIDE))
    close_wait(t, f, now, immediate);
  else
    close_waiting(t, f, now);
  if (f->callee & CALLEE_MINE)
    f->await = 0;
  f->callee = 0;
  if (!immediate)
    f->flags |= APROF_F_WAITED;
  set_going_on(t, f, APROF_TRACE_RUNNING, 0, now);
}

#endif
