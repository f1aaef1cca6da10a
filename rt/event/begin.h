/* SPDX-License-Identifier: MIT */
/* Every general event begins and ends here, and those that are the same whether they are. */
#ifndef APROF_RT_BEGIN_H
#define APROF_RT_BEGIN_H

#include "end.h"
#include "nested.h"
#include "rt/request/member.h"
#include "rt/trace/ring.h"
#include "thread.h"

/* An event of this thread begins: its thread, or NULL where it cannot be
   recorded (nothing to profile, or inside another event). */
static inline struct thread *event_begin_as(bool birth) {
  struct thread *t = aprof_self;
  if (unlikely(t->seen != __atomic_load_n(&rt.header->usual, __ATOMIC_RELAXED)) &&
      (t = thread_sees(birth)) == NULL)
    return NULL;
  struct aprof_block *b = t->block;
  if (unlikely(b->sequence & 1) && !event_recover(t))
    return NULL;
  b->sequence++; /* in one instruction: a handler's events in between are not forgotten */
  publish_fence();
  cur_apart(t);
  b->general_events++;
  t->filters = FILTERS_UNASKED;
  if (unlikely(t->tracing != 0))
    trace_goes_on(t);
  if (running_is_lost(t))
    running_lost(t);
  if (unlikely(b->sequence >= t->check_at))
    govern(t);
  return t;
}

static inline struct thread *event_begin(void) {
  return event_begin_as(false);
}

/* An event of few steps, which asks for nothing that general ones see to first: it is none, but
   where some of that is due, or its thread is timed or traced. */
static inline struct thread *event_begin_light_as(bool birth) {
  struct thread *t = aprof_self;
  struct aprof_block *b = t->block;
  if (!thread_usual(t, 0) || unlikely(b->sequence & 1) || unlikely(t->tracing != 0) ||
      unlikely(b->sequence + 1 >= t->check_at) ||
      (b->state == APROF_THREAD_RUNNING && running_is_lost(t)))
    return event_begin_as(birth);
  b->sequence++;
  publish_fence();
  cur_apart(t);
  return t;
}
static inline struct thread *event_begin_light(void) {
  return event_begin_light_as(false);
}
/* ... turns out to be a general one. */
static inline void event_unusual(struct thread *t) {
  t->block->general_events += t->filters == FILTERS_OUTSIDE;
  t->filters = FILTERS_UNASKED;
}

static inline void event_end(struct thread *t) {
  if (unlikely(t->finishing != 0))
    request_settle(t);
  t->filters = FILTERS_OUTSIDE;
  cur_joined(t);
  publish_fence();
  t->block->sequence++;
}

#endif
