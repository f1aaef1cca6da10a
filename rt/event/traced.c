/* SPDX-License-Identifier: MIT */
/* What events do beside, where they are traced. In a file of its own: what fast events call is the
   same machine code with and without. */
#include "birth.h"
#include "rt/count/node.h"
#include "rt/request/member.h"
#include "rt/trace/moved.h"
#include "waker.h"

void born_told(struct thread *t, const struct aprof_future *f, uint64_t born) {
  trace_birth(t, f, born);
  if (f->flags & APROF_F_MEMBER)
    member_told(t, f, born);
}

/* Who woke f, as close_woken has it. */
static uint32_t waker_of(const struct aprof_future *f, uint64_t woken, uint32_t site) {
  uint32_t waker = woken < f->last && is_mark(woken) ? (uint32_t)woken : site;
  return waker != 0 && waker <= rt.header->sites ? waker : aprof_create_site(f);
}

uint64_t close_woken_traced(struct thread *t, struct aprof_future *f, uint64_t now) {
  uint64_t woken = __atomic_load_n(&f->wake_tick, __ATOMIC_RELAXED);
  uint32_t site = waker_of(f, woken, __atomic_load_n(&f->wake_site, __ATOMIC_RELAXED));
  uint64_t end = close_woken(t, f, now);
  if (woken > now)
    return end; /* due later */
  const struct node_entry *e =
      f->id != 0 ? node_beneath(t, future_function(f), site, APROF_NODE_WAKER) : NULL;
  trace_put(t, APROF_TRACE_READY, index_of(f), e != NULL ? e->node : 0, end);
  return end;
}
