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

#include "rt/count/govern.h"

/* What ran here was ended by another thread, and its record may be another future's. */
static inline bool running_is_lost(const struct thread *t) {
  const struct aprof_future *f = t->cur; /* without a lease: somebody is about to end it */
  return f != NULL && unlikely(f->id == 0 || (f->lease != t->lease && f->lease != 0) ||
                               f->state != APROF_FUTURE_RUNNING);
}
SLOW void running_lost(struct thread *t);

/* An event of this thread begins: its thread, or NULL where it cannot be
   recorded (nothing to profile, or inside another event). */
static inline struct thread *event_begin_as(bool birth) {
  struct thread *t = aprof_self;
  if (unlikely(t->epoch != __atomic_load_n(&rt.header->epoch, __ATOMIC_RELAXED)) &&
      (t = thread_sync(birth)) == NULL)
    return NULL;
  struct aprof_block *b = t->block;
  if (unlikely(b->sequence & 1) && !event_recover(t))
    return NULL;
  b->sequence++; /* in one instruction: a handler's events in between are not forgotten */
  publish_fence();
  b->general_events++;
  if (running_is_lost(t))
    running_lost(t);
  t->filters = FILTERS_UNASKED;
  if (unlikely(b->sequence >= t->check_at))
    govern(t);
  return t;
}

static inline struct thread *event_begin(void) {
  return event_begin_as(false);
}

static inline void event_end(struct thread *t) {
  t->filters = FILTERS_OUTSIDE;
  publish_fence();
  t->block->sequence++;
}

/* Time never runs backwards on a thread, whatever core it is on. */
static inline uint64_t event_time(struct thread *t) {
  uint64_t now = governed_clock(t);
  return likely(now >= t->block->last) ? now : t->block->last;
}

/* Around idle, where it matters most and costs least. */
static inline uint64_t idle_time(struct thread *t) {
  if (unlikely(t->shed >= APROF_STEP_COARSE))
    t->stood = clock_read();
  return event_time(t);
}

/* ... nor for a future that comes from another thread. */
static inline uint64_t not_before(uint64_t now, const struct aprof_future *f) {
  return likely(now >= f->last) ? now : f->last;
}

static inline bool token_current(const struct thread *t, uint64_t id) {
  return (uint16_t)(id >> 48) == (uint16_t)t->epoch;
}

void user_event(enum aprof_event_kind kind, const struct aprof_future *f, uint64_t id,
                uint32_t site, uint64_t now);
static inline void tell(enum aprof_event_kind kind, struct aprof_future *f, uint32_t site,
                        uint64_t now) {
  if (unlikely(rt.callback != NULL))
    user_event(kind, f, f->id, site, now);
}

/* -- segments -------------------------------------------------------------- */

/* None where another thread wrote the one without an order between the two. */
static inline uint64_t elapsed(uint64_t since, uint64_t until) {
  return likely(until >= since) ? until - since : 0;
}

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

/* f ran after all between two awaits of which one lies inside the other. */
static inline void charge_back(struct thread *t, struct aprof_future *f, uint64_t now) {
  counters_of(t, f->node)->function.exec += elapsed(f->last, now);
}

static inline void close_queued_since(struct thread *t, struct aprof_future *f, uint64_t since,
                                      uint64_t now) {
  uint32_t node = f->node;
  struct aprof_counters *c = counters_of(t, node);
  uint64_t passed = elapsed(since, now);
  f->queued += passed;
  c->function.queued += passed;
  histogram_add(t, node, OF_QUEUED, &c->function.queued_histogram, passed);
}

/* f was woken, or due, before its wait ends: books the time since then as queued, also
   at its waker. Returns the tick at which the wait ended. */
SLOW uint64_t close_woken(struct thread *t, struct aprof_future *f, uint64_t now);

/* Who is woken while it runs, or is put aside, does not wait the next time: until then its
   wake_tick is the waker's site, in place of a tick, which is greater than any. */
static inline bool is_mark(uint64_t wake_tick) {
  return wake_tick != 0 && wake_tick <= rt.header->sites;
}

/* Of a stack that one key means: its next wait is that of the body on top. */
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
  /* Without one only where threads race for f: not known, then. */
  uint32_t await = likely(f->await != 0) ? f->await : OTHER_AWAIT;
  struct aprof_counters *a = counters_of(t, await);
  uint64_t passed = elapsed(f->last, end);
  f->waiting += passed;
  a->await.waiting += passed;
  a->await.count++;
  raise_max(t, &a->await.max, passed);
  if (immediate)
    a->await.immediate++;
  else
    histogram_add(t, await, OF_WAITING, &a->await.histogram, passed);
}

/* ... ends now. A wake from elsewhere splits it. */
static inline void close_waiting(struct thread *t, struct aprof_future *f, uint64_t now) {
  close_wait(t, f, unlikely(f->wake_tick != 0) ? close_woken(t, f, now) : now, false);
}

static inline void close_off_thread(struct thread *t, struct aprof_future *f, uint64_t now) {
  if (f->state == APROF_FUTURE_QUEUED)
    close_queued(t, f, now);
  else if (f->state == APROF_FUTURE_ASIDE)
    close_wait(t, f, now, false);
  else
    close_waiting(t, f, now);
}

/* -- slices ---------------------------------------------------------------- */

/* From here on a stack holds the thread whose outermost future has this node. */
static inline void slice_starts(struct aprof_block *b, uint32_t outermost, uint64_t now,
                                uint32_t site) {
  b->slice_tick = now;
  b->slice_from = site;
  b->slice_node = outermost;
}

/* The node of the outermost future on f's stack. */
uint32_t outermost(const struct aprof_future *f);

/* The thread goes from no future to running f. */
static inline void slice_open(struct thread *t, const struct aprof_future *f, uint64_t now,
                              uint32_t site) {
  slice_starts(t->block, outermost(f), now, site);
  t->slice_counters = counters_of(t, t->block->slice_node);
}

/* What runs on a pool thread holds no loop: its slices count nowhere. */
static inline void slice_open_worker(struct thread *t) {
  t->no_slices.function.slice_histogram = 1;
  t->block->slice_node = 0;
  t->slice_counters = &t->no_slices;
}

/* hold.c: the slice that ends now, at `site`, is the longest of its function, or long. Returns
   its length less what the thread was preempted for in it. */
SLOW uint64_t slice_long(struct thread *t, struct aprof_counters *c, uint64_t now, uint32_t site);

/* The loop is let go at `site`. */
static inline void slice_close(struct thread *t, uint64_t now, uint32_t site) {
  struct aprof_counters *c = t->slice_counters;
  const struct aprof_block *b = t->block;
  uint64_t length = now - b->slice_tick;
  t->slice_count++;
  c->function.slices++;
  if (unlikely(length > c->function.slice_limit))
    length = slice_long(t, c, now, site);
  histogram_add(t, b->slice_node, OF_SLICE, &c->function.slice_histogram, length);
}

/* It had not been: what seemed a suspension was a call on the same stack. */
static inline void slice_reopen(struct thread *t, uint64_t ended) {
  struct aprof_counters *c = t->slice_counters;
  uint32_t histogram = c->function.slice_histogram;
  uint64_t length = ended - t->block->slice_tick;
  if (unlikely(t->long_count == t->slice_count))
    length = t->long_own;
  t->slice_count--;
  c->function.slices--;
  if (histogram > 1 && likely(t->shed == APROF_STEP_NONE)) /* no step between the two */
    --((uint64_t *)(rt_base() + ((uint64_t)histogram << 3)))[aprof_bucket_of(length)];
}

/* -- states ---------------------------------------------------------------- */

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
  f->counters = (uintptr_t)(a->await.function != 0 ? a : nowhere);
  return a;
}

SLOW void future_migrated(struct thread *t, struct aprof_future *f);

static inline void set_running(struct thread *t, struct aprof_future *f, uint64_t now) {
  if (unlikely(f->lease != t->lease))
    future_migrated(t, f);
  if (unlikely(f->flags & APROF_F_IMPLICIT)) {
    f->await = 0;
    f->flags &= (uint8_t)~APROF_F_IMPLICIT;
  }
  f->state = APROF_FUTURE_RUNNING;
  f->last = now;
  t->cur = f;
  t->suspended = NULL;
  t->counters = known_counters(t, f);
  t->block->state = APROF_THREAD_RUNNING;
  t->block->last = now;
}

static inline void set_resting(struct thread *t, uint64_t now) {
  t->cur = NULL;
  t->block->state = t->rest;
  t->block->last = now;
}

/* What woke it while it ran stays: it is runnable from the start. */
static inline void set_waiting(struct aprof_future *f, uint32_t await, uint64_t now) {
  f->await = await;
  f->counters = (uintptr_t)nowhere;
  f->last = now;
  f->state = APROF_FUTURE_WAITING;
  f->flags |= APROF_F_WAITED;
}

/* The running future waits, at `site` if it is in no await yet, until the
   bracket of `callee` closes. Its exec must have been closed. */
static inline void put_aside(struct thread *t, struct aprof_future *f, struct aprof_site *site,
                             uint32_t callee, uint64_t now) {
  if (f->await == 0) {
    f->await = node_find(t, f->node, site, true)->node;
    callee |= CALLEE_MINE;
  }
  f->callee = callee;
  if ((callee & ~CALLEE_MINE) < CALLEE_NO_FUTURE)
    __atomic_store_n(&f->wake_site, (uint32_t)future_at(callee & ~CALLEE_MINE)->id,
                     __ATOMIC_RELAXED);
  f->last = now;
  f->state = APROF_FUTURE_ASIDE;
  tell(APROF_EVENT_WAITING, f, 0, now);
}

/* The serial of what the bracket that put f aside is for: the record may have come to
   another future since. Who wakes what is aside leaves a mark, so the waker's place is free. */
static inline uint32_t aside_for(const struct aprof_future *f) {
  return __atomic_load_n(&f->wake_site, __ATOMIC_RELAXED);
}

static inline bool is_aside(const struct aprof_future *f, uint32_t callee) {
  return f->state == APROF_FUTURE_ASIDE && (f->callee & ~CALLEE_MINE) == callee;
}

/* ... and runs again. Counted immediate if no slice ended in between. */
static inline void restore(struct thread *t, struct aprof_future *f, uint64_t now, bool immediate) {
  if (f->state != APROF_FUTURE_ASIDE)
    f->wake_tick = 0; /* it jumped out of its wait */
  close_wait(t, f, now, immediate);
  if (f->callee & CALLEE_MINE)
    f->await = 0;
  f->callee = 0;
  if (!immediate)
    f->flags |= APROF_F_WAITED;
  set_running(t, f, now);
  tell(APROF_EVENT_RUNNING, f, 0, now);
}

/* f->ending beside 1 + how: */
#define ENDING_REARMED 0x80u /* its key was armed again while it runs */
#define ENDING_KEYLESS 0x40u /* its key went to a new future while it runs */

/* How f ends whose body is left. */
static inline int body_verdict(const struct aprof_future *f, int how) {
  return likely(f->ending == 0) || f->ending >= ENDING_KEYLESS ? how : f->ending - 1;
}

/* What a reader needs if the process is killed before an end is counted at `c`: of what runs,
   before its id is taken away. See struct aprof_future. */
static inline void future_ends(struct aprof_block *b, const struct aprof_counters *c, int how) {
  b->ends = (uint64_t)how << APROF_ENDS_HOW | (&c->function.done)[how];
  publish_fence();
}

/* ... of what was at rest, behind that. */
static inline void future_ending(struct aprof_block *b, struct aprof_future *f, uint32_t lease,
                                 const struct aprof_counters *c, int how) {
  f->lease = lease;
  b->ends = (&c->function.done)[how];
  publish_fence();
  f->state = (uint8_t)(APROF_FUTURE_ENDING + how);
  publish_fence();
}

/* f, of this id until the caller claimed it, is over; its last segment is closed. */
void future_end(struct thread *t, struct aprof_future *f, uint64_t id, int how, uint64_t now);

/* ... where the claim is made here. False: another thread ended it. */
static inline bool future_over(struct thread *t, struct aprof_future *f, uint64_t id, int how,
                               uint64_t now) {
  future_ends(t->block, counters_of(t, f->node), how);
  if (unlikely(!future_claim(f, id)))
    return false;
  future_end(t, f, id, how, now);
  return true;
}

/* That of the create bracket around f's, whose index is f's key while it has none; or NULL. */
static inline struct aprof_future *tentative_around(const struct aprof_future *f) {
  struct aprof_future *around = record_at((uint32_t)f->key0);
  return (uint32_t)f->key0 != 0 && around->state == APROF_FUTURE_TENTATIVE ? around : NULL;
}

/* What runs on f's stack when f does: itself, or the body it awaits there. */
struct aprof_future *innermost(struct aprof_future *f);

/* ... of the bodies alone that f's key means: those that it called, none that has a key. */
struct aprof_future *innermost_own(struct aprof_future *f);

/* What lies on top of the stack that is active here: what runs, or was the last to
   suspend, or idles. NULL: nothing known. */
struct aprof_future *active_top(struct thread *t);

/* The bodies that run on the thread are over, from the innermost down; nothing runs then. */
void cancel_running(struct thread *t, uint64_t now);

/* f, which is aside, waits for nobody's return any more: it goes on by an event of its own. */
void goes_on_by_itself(struct aprof_future *f);

/* f's body was left unseen: whoever waits for that waits in vain. */
void forget_caller(struct aprof_future *f);

/* The bodies from `top` down to above f are cancelled; what ran has its exec
   closed already. */
void cancel_above(struct thread *t, struct aprof_future *top, struct aprof_future *f, uint64_t now);

/* f, which waits, and all above it on its stack are over; unless it is not of this id
   any more. */
void end_waiting(struct thread *t, struct aprof_future *f, uint64_t id, int how, uint64_t now);

/* Does f run, or what it awaits on its stack? Else it is suspended, or has not
   run yet, and can be ended from outside. */
bool is_busy(struct aprof_future *f);

/* end_waiting where f is not busy, and no other thread can begin to run it meanwhile. False,
   with nothing changed, where one of them runs, or may. */
bool end_at_rest(struct thread *t, struct aprof_future *f, uint64_t id, int how, uint64_t now);

/* f, which waits, is due anew, or at no time any more (0). Overdue, it has been queued since then:
   that stays so, and another wait begins. False, with nothing changed, where it does not rest. */
bool rearm_at_rest(struct thread *t, struct aprof_future *f, uint64_t id, uint64_t due,
                   uint64_t now);

/* The lease of what runs on f's stack. */
uint32_t runner_lease(struct thread *t, struct aprof_future *f, uint64_t id);

/* f runs on another thread: it is asked to end when its bracket closes there. Where that
   thread has just missed it, it is ended here. False: it does not. */
bool end_asked(struct thread *t, struct aprof_future *f, uint64_t id, int how);

/* f runs on another thread: its bracket finds `ending` when it closes there. False: f is over, or
   at rest without having seen it, and it is taken back. */
bool future_asked(struct thread *t, struct aprof_future *f, uint64_t id, uint8_t ending);

/* Everything above `f` on this stack is over: from `top` up the caller chain.
   False, with nothing changed, where f is not in that chain. */
bool unwind_to(struct thread *t, struct aprof_future *top, struct aprof_future *f, uint64_t now);

/* What runs here was left without an event: a missed one. It waits where it was
   born until an event of its own shows it again. */
SLOW void abandon_running(struct thread *t, uint64_t now);

/* The stack pointer of who called the event, or a little above where it was not jumped to. */
#define caller_stack() ((uintptr_t)__builtin_dwarf_cfa())

/* Is `inner`, a token's address, on the stack where t->suspended waits, above
   its token? */
bool on_suspended_stack(const struct thread *t, uintptr_t inner);

#endif
