/* SPDX-License-Identifier: MIT */
/* Waits that ended before their future ran; see waker.h. */
#include "waker.h"

#include "rt/count/beneath.h"

uint64_t close_woken(struct thread *t, struct aprof_future *f, uint64_t now) {
  uint64_t woken = __atomic_exchange_n(&f->wake_tick, 0, __ATOMIC_RELAXED);
  uint32_t waker = __atomic_exchange_n(&f->wake_site, 0, __ATOMIC_RELAXED);
  if (woken > now)
    return now; /* due later: it came before its time */
  if (woken < f->last) {
    if (is_mark(woken))
      waker = (uint32_t)woken;
    woken = f->last;
  }
  close_queued_since(t, f, woken, now);
  if (waker == 0 || unlikely(waker > rt.header->sites)) /* of one put aside meanwhile: aside_for */
    waker = f->create_site;
  if (likely(f->id != 0)) /* one that is over has been claimed: nobody ran for that wake */
    count_beneath(t, f->node, waker, APROF_NODE_WAKER, elapsed(woken, now));
  return woken;
}
