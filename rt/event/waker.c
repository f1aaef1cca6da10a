/* SPDX-License-Identifier: MIT */
/* Waits that ended before their future ran; see waker.h. */
#include "waker.h"

uint32_t count_beneath(struct thread *t, uint32_t above, uint32_t site, uint32_t kind,
                       uint64_t length) {
  struct node_entry *e = node_beneath(t, above, site, kind);
  if (unlikely(e == NULL))
    return 0;
  struct aprof_counters *c = e->counters;
  c->await.count++;
  c->await.waiting += length;
  raise_max(t, &c->await.max, length);
  histogram_add(t, e->node, OF_WAITING, c, length);
  return e->node;
}

static inline __attribute__((always_inline)) uint64_t
close_ready(struct thread *t, struct aprof_future *f, uint64_t now, bool told) {
  uint64_t woken = __atomic_exchange_n(&f->wake_tick, 0, __ATOMIC_RELAXED);
  uint32_t waker = __atomic_load_n(&f->wake_site, __ATOMIC_RELAXED), at = 0;
  __atomic_store_n(&f->wake_site, 0, __ATOMIC_RELAXED); /* of two that meet here one is nobody's */
  if (woken > now)
    return now; /* due later: it came before its time */
  if (woken < f->last) {
    if (is_mark(woken))
      waker = (uint32_t)woken;
    woken = f->last;
  }
  uint32_t node = future_function(f);
  close_queued_at(t, f, node, woken, now);
  if (waker == 0 || unlikely(waker > rt.header->sites)) /* of one put aside meanwhile: aside_for */
    waker = aprof_create_site(f);
  if (likely(f->id != 0)) /* one that is over has been claimed: nobody ran for that wake */
    at = count_beneath(t, node, waker, APROF_NODE_WAKER, elapsed(woken, now));
  if (told)
    trace_put(t, APROF_TRACE_READY, index_of(f), at, woken);
  return woken;
}

uint64_t close_woken(struct thread *t, struct aprof_future *f, uint64_t now) {
  return close_ready(t, f, now, false);
}
uint64_t close_woken_traced(struct thread *t, struct aprof_future *f, uint64_t now) {
  return close_ready(t, f, now, true);
}
