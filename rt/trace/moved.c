/* SPDX-License-Identifier: MIT */
/* Futures that come to a request that is traced, leave it, or are forgotten, in mid-life; see
 * moved.h. */
#include "moved.h"

#include "rt/count/node.h"

void trace_birth(struct thread *t, const struct aprof_future *f, uint64_t tick) {
  const struct aprof_future *parent = future_at(f->parent);
  bool known = f->parent != 0 && aprof_is_parent(parent, f);
  trace_put(t, APROF_TRACE_BORN, index_of(f), function_node(f->node), tick);
  trace_more(t, born_a(f), born_b(f, known ? f->parent : 0));
}

void trace_does(struct thread *t, const struct aprof_future *f, uint64_t tick) {
  if (f == running(t))
    trace(t, APROF_TRACE_RUNNING, f, f->node, tick);
  else if (f->state == APROF_FUTURE_ASIDE)
    trace(t, APROF_TRACE_ASIDE, f, f->await, tick);
  else if (f->state == APROF_FUTURE_WAITING)
    trace(t, APROF_TRACE_WAITING, f, f->await, tick);
}

void trace_ready(struct thread *t, const struct aprof_future *f, uint64_t now) {
  uint64_t wake = __atomic_load_n(&f->wake_tick, __ATOMIC_RELAXED);
  if (f->state == APROF_FUTURE_WAITING && wake != 0 && wake <= now)
    trace(t, APROF_TRACE_READY, f, 0, wake > f->last ? wake : f->last);
}

void trace_leaves(struct thread *t, const struct aprof_future *f, uint64_t tick) {
  trace_put_any(t, APROF_TRACE_JOIN, index_of(f), 0, tick);
  trace_more(t, 0, APROF_TRACE_LEFT);
  if (f == running(t) && f->state == APROF_FUTURE_RUNNING)
    trace_held(t, f->node, tick);
}
