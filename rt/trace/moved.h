/* SPDX-License-Identifier: MIT */
/*
 * What a trace tells of futures that come and go in mid-life.
 *
 * Purpose: births, of those also that were there before; where they are left out again; what
 * they are when they go elsewhere, or for good. Cost:
 * that of their events. Locking: none. Inside an event, where traces(t).
 */
#ifndef APROF_RT_MOVED_H
#define APROF_RT_MOVED_H

#include "ring.h"

#pragma GCC visibility push(hidden)

/* What BORN has in MORE; `parent`: index of its creator, 0: none, or it is over. */
static inline uint64_t born_a(const struct aprof_future *f) {
  return (uint32_t)f->id | (uint64_t)aprof_create_site(f) << 32;
}
static inline uint64_t born_b(const struct aprof_future *f, uint32_t parent) {
  return parent | (f->id >> 32 & 0xffff) << APROF_TRACE_FUTURE_BITS;
}
/* f was born then, or was left out until then; and, behind its JOIN, what it does. */
void trace_birth(struct thread *t, const struct aprof_future *f, uint64_t tick);
void trace_does(struct thread *t, const struct aprof_future *f, uint64_t tick);
/* f, if it waits, is queued since somebody woke it, or it was due, if that is over by now. */
void trace_ready(struct thread *t, const struct aprof_future *f, uint64_t now);
/* f is left out from now on. */
void trace_leaves(struct thread *t, const struct aprof_future *f, uint64_t tick);

#pragma GCC visibility pop

#endif
