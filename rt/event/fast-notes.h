/* SPDX-License-Identifier: MIT */
/*
 * What fast events tell the trace: nothing, but in the set for threads that are traced, which is
 * made of the same sources; see fast-traced.c.
 *
 * Purpose: the events of the ring that the general ones put there, in their order. Cost: inline,
 * some twenty instructions each, or a call where some requests alone are traced; none in the sets
 * that are not traced. Locking: only inside an
 * event.
 */
#ifndef APROF_FAST_NOTES_H
#define APROF_FAST_NOTES_H

#include "birth.h"
#include "rt/request/member.h"
#include "rt/trace/moved.h"
#include "rt/trace/ring.h"

#define ALWAYS static inline __attribute__((always_inline, no_instrument_function))

#ifdef FAST_TRACED
#define NOTES true
#else
#define NOTES false
#endif
#ifdef FAST_SOME
#define SOME true
#else
#define SOME false
#endif

/* Of some requests alone it is asked, each time, whose it is: no inline code. */
ALWAYS void note_put(struct thread *t, enum aprof_trace_kind kind, uint32_t index, uint32_t node,
                     uint64_t tick) {
  if (SOME)
    trace_put(t, kind, index, node, tick);
  else
    ring_put(t, kind, tick, aprof_trace_what(index, node));
}
ALWAYS void note_more(struct thread *t, uint64_t a, uint64_t b) {
  if (SOME)
    trace_more(t, a, b);
  else
    ring_put(t, APROF_TRACE_MORE, a, b);
}

/* It writes the trace that is on, whose lease is not over: trace_goes_on has nothing to do. */
ALWAYS bool noted(const struct thread *t, const struct aprof_block *b) {
  const struct aprof_header *h = rt.header;
  return likely(t->noting == __atomic_load_n(&h->traces, __ATOMIC_RELAXED)) &&
         likely(b->last < __atomic_load_n(&h->trace_until, __ATOMIC_RELAXED));
}

/* f is or does that, at that node, from then on. */
ALWAYS void note_index(struct thread *t, enum aprof_trace_kind kind, uint32_t index, uint32_t node,
                       uint64_t tick) {
  if (!NOTES)
    return;
  if (node >> APROF_TRACE_NODE_BITS != 0)
    __builtin_unreachable(); /* nodes_cap */
  note_put(t, kind, index, node, tick);
}
ALWAYS void note(struct thread *t, enum aprof_trace_kind kind, const struct aprof_future *f,
                 uint32_t node, uint64_t tick) {
  if (NOTES)
    note_index(t, kind, index_of(f), node, tick);
}

/* No future runs here from now on. */
ALWAYS void note_rests(struct thread *t, uint64_t tick) {
  if (SOME)
    trace_rests(t, tick);
  if (!NOTES || SOME || likely(t->told == t->rest))
    return;
  t->told = t->rest;
  note_index(t, rests_as(t), 0, 0, tick);
}

/* f is counted from now on; `known`: its creator lives. Where `member` is false it is part of no
   request. */
ALWAYS void note_born(struct thread *t, const struct aprof_future *f, bool known, bool member,
                      uint64_t born) {
  if (!NOTES)
    return;
  note(t, APROF_TRACE_BORN, f, f->node, born);
  note_more(t, born_a(f), born_b(f, known ? f->parent : 0));
  if (member && unlikely(f->flags & APROF_F_MEMBER))
    member_told(t, f, born);
}

/* f, which is queued or waits, is going to have that node. */
ALWAYS void note_named(struct thread *t, const struct aprof_future *f, uint32_t node) {
  if (!NOTES || likely(f->node == node))
    return;
  note(t, APROF_TRACE_NAMED, f, node, f->last);
  note_more(t, 0, f->await);
}

#endif
