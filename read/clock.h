/* SPDX-License-Identifier: MIT */
/*
 * Ticks to nanoseconds, and what "now" means for a profile.
 *
 * Purpose: fits the tick rate of a profile that nobody has fitted yet, and
 * freezes it in the profile, so that no later reader converts differently.
 * Cost: may wait until the profile is APROF_FIT_NS old.
 * Locking: the fit is stored by compare and swap; whoever was first wins.
 */
#ifndef APROF_READ_CLOCK_H
#define APROF_READ_CLOCK_H

#include "util.h"

#include <aprof/profile.h>

/* ns per tick << 32 of the profile open as `fd`, whose header is `header`;
   0 with a message where nothing tells the rate. */
uint64_t clock_rate(int fd, const char *what, const struct aprof_header *header, bool live);

/* The reading of the clock that the profile uses, now. */
uint64_t profile_clock(const struct aprof_header *header);

/* One moment on both clocks, as close together as a few tries make them. */
struct clock_pair {
  uint64_t tick, mono;
};
struct clock_pair clock_pair(const struct aprof_header *);
/* The tick at `mono`, before, between or behind two moments: by the line through both, or by `rate`
   (ns per tick << 32) where they are too close, or `before` is none (mono 0). */
uint64_t clock_tick_at(const struct clock_pair *before, const struct clock_pair *now, uint64_t rate,
                       uint64_t mono);

/* Whether the profile was made since this machine was last started. */
bool clock_same_boot(const struct aprof_header *header);

static inline uint64_t clock_to_ns(uint64_t ticks, uint64_t rate) {
  unsigned __int128 ns = ((unsigned __int128)ticks * rate) >> 32;
  return ns < BEYOND ? (uint64_t)ns : BEYOND;
}

#endif
