/* SPDX-License-Identifier: MIT */
/*
 * Some requests of all.
 *
 * A recorder that asks for a share sets APROF_TRACE_SHARED before threads begin to trace; each
 * takes that up with the trace (`partly`), so that it holds for all of it. The share itself may
 * change at any time: only requests that begin look at it. What is kept carries the trace's mark,
 * so a request from before it is none of them.
 *
 * Requests are taken by their number times the golden ratio: evenly spread over any stretch of
 * them, also over every second or tenth.
 */
#include "kept.h"

#include "rt/request/pool.h"

#define GOLDEN 0x9e3779b97f4a7c15u

static uint16_t mark_of(const struct thread *t) {
  return aprof_trace_mark(t->tracing);
}

static bool is_taken(uint64_t count, uint32_t share) {
  return share == UINT32_MAX || (uint32_t)(count * GOLDEN >> 32) < share;
}

/* What a request begins is kept with it. */
uint16_t trace_takes(const struct thread *t, uint64_t count, uint32_t parent) {
  struct aprof_header *h = rt.header;
  if (!t->partly)
    return mark_of(t);
  bool taken = parent != 0 ? trace_keeps(t, parent)
                           : is_taken(count, __atomic_load_n(&h->trace_share, __ATOMIC_RELAXED));
  if (taken)
    __atomic_fetch_add(&h->kept_requests, 1, __ATOMIC_RELAXED);
  return taken ? mark_of(t) : 0;
}

bool trace_keeps(const struct thread *t, uint32_t request) {
  return !t->partly || (request != 0 && request_at(request)->kept == mark_of(t));
}

bool trace_has(const struct thread *t, const struct aprof_future *f) {
  return !t->partly || trace_keeps(t, request_of(f));
}
