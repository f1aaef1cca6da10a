/* SPDX-License-Identifier: MIT */
/* Waits that a wake or the clock ended before their future ran; see waker.c. Inside an event. */
#ifndef APROF_RT_WAKER_H
#define APROF_RT_WAKER_H

#include "rt/trace/ring.h"
#include "segments.h"

/* Another time of that length, in ticks, at `site` beneath the function whose node is `above`;
   `kind`: enum aprof_node_kind. Its node; 0: there is no room. Inside an event. */
uint32_t count_beneath(struct thread *t, uint32_t above, uint32_t site, uint32_t kind,
                       uint64_t length);

/* f was woken, or due, before its wait ends: books the time since then as queued, also
   at its waker. Returns the tick at which the wait ended. */
__attribute__((noinline)) uint64_t close_woken(struct thread *t, struct aprof_future *f,
                                               uint64_t now);
/* ... and tells the trace: not by a test, so that what is not traced has no instruction more. */
__attribute__((noinline)) uint64_t close_woken_traced(struct thread *t, struct aprof_future *f,
                                                      uint64_t now);

/* f's wait ends now, at its await. A wake from elsewhere splits it. */
static inline void close_waiting(struct thread *t, struct aprof_future *f, uint64_t now) {
  uint64_t end = now;
  if (unlikely(f->wake_tick != 0))
    end = traces(t) ? close_woken_traced(t, f, now) : close_woken(t, f, now);
  close_wait(t, f, end, false);
}

static inline void close_off_thread(struct thread *t, struct aprof_future *f, uint64_t now) {
  if (f->state == APROF_FUTURE_QUEUED)
    close_queued(t, f, now);
  else if (f->state == APROF_FUTURE_ASIDE)
    close_wait(t, f, now, false);
  else
    close_waiting(t, f, now);
}

#endif
