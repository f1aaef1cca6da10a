/* SPDX-License-Identifier: MIT */
/* Ticks of the profile's clock; see clock.c. Any thread, async-signal-safe. */
#ifndef APROF_RT_CLOCK_H
#define APROF_RT_CLOCK_H

#include "rt/rt.h"

uint64_t clock_slow(void);
void clock_start(struct aprof_header *header);
static inline uint64_t clock_read(void) {
#if defined __x86_64__ || defined __i386__
  if (likely(rt.clock == APROF_CLOCK_TSC))
    return __builtin_ia32_rdtsc();
#endif
  return clock_slow();
}
uint32_t clock_planned(void);      /* enum aprof_clock_source of the profile to come */
void clock_choose_usual(void);     /* rt.usual_epoch by what is known now */
uint64_t clock_ns(uint64_t ticks); /* an amount of ticks; by the best rate known */
uint64_t clock_ticks(uint64_t ns); /* ... and the other way round */
uint64_t clock_coarse(void);       /* moves on with the kernel's tick; in no unit */

/* None where another thread wrote the one without an order between the two. */
static inline uint64_t elapsed(uint64_t since, uint64_t until) {
  return likely(until >= since) ? until - since : 0;
}

/* Time does not run backwards for a future that comes from another thread. */
static inline uint64_t not_before(uint64_t now, const struct aprof_future *f) {
  return likely(now >= f->last) ? now : f->last;
}

#endif
