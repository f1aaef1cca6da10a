/* SPDX-License-Identifier: MIT */
/* The profile's clock: the time stamp counter where it is invariant, else CLOCK_MONOTONIC, or a
   virtual one that the program advances itself. */
#include <time.h>
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

#include "clock.h"

#include "rt/rt.h"
#include "rt/sys/vdso.h"

static uint64_t monotonic_ns(void) {
  return vdso_clock(CLOCK_MONOTONIC);
}

uint64_t clock_slow(void) {
  if (rt.clock == APROF_CLOCK_VIRTUAL)
    return __atomic_load_n(&rt.header->virtual_now, __ATOMIC_RELAXED);
  return monotonic_ns();
}

static bool tsc_invariant(void) {
#if defined __x86_64__ || defined __i386__
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
#else
  return false;
#endif
}

/* -- how fast the counter runs -------------------------------------------------------- */
#define FIRST_NS 100000u      /* between two pairs, ... */
#define LONGEST_NS 3200000u   /* ... and at most, where they are not close enough for that */
#define MOST_READINGS 400000u /* of a clock that stands still: some 10 ms */

/* One moment on both clocks. */
struct pair {
  uint64_t tick, ns;
  uint64_t gap; /* ticks: `tick` is no further from the truth than half of it */
};

static uint64_t counter(void) {
#if defined __x86_64__ || defined __i386__
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

/* The thread may lose its processor between two readings: the closest of some count. */
static struct pair read_pair(void) {
  struct pair best = {0, 0, UINT64_MAX};
  for (int i = 0; i < 8; i++) {
    uint64_t before = counter(), ns = monotonic_ns(), after = counter();
    if (after - before < best.gap)
      best = (struct pair){before + (after - before) / 2, ns, after - before};
  }
  return best;
}

/* False: the clock stands still. */
static bool wait_until(uint64_t ns) {
  for (unsigned i = 0; i < MOST_READINGS; i++)
    if (monotonic_ns() >= ns)
      return true;
  return false;
}

/* ns per tick << 32 over a hundred microseconds: a first guess, for files that nobody can
   fit any more; and a moment at which to begin. 0: no such rate, for want of clocks that
   both move on, evenly. */
static uint64_t tsc_estimate(struct pair *begin) {
  struct pair first = read_pair();
  for (uint64_t length = FIRST_NS; length <= LONGEST_NS; length *= 2) {
    if (!wait_until(first.ns + length))
      return 0;
    *begin = read_pair();
    uint64_t ticks = begin->tick - first.tick, gaps = begin->gap / 2 + first.gap / 2;
    /* Within a percent; or within an eighth, where that is all that can be had. */
    if (begin->tick > first.tick && gaps < ticks / (length < LONGEST_NS ? 100 : 8))
      return (uint64_t)(((unsigned __int128)(begin->ns - first.ns) << 32) / ticks);
  }
  return 0;
}

uint32_t clock_planned(void) {
  uint32_t source = rt.options.clock;
  if (source == 0)
    source = tsc_invariant() ? APROF_CLOCK_TSC : APROF_CLOCK_MONOTONIC;
#if !(defined __x86_64__ || defined __i386__)
  if (source == APROF_CLOCK_TSC)
    source = APROF_CLOCK_MONOTONIC;
#endif
  return source;
}

void clock_start(struct aprof_header *header) {
  struct pair begin = {0, 0, 0};
  uint64_t rate = 1ull << 32;
  vdso_find();
  rt.clock = clock_planned();
  if (rt.clock == APROF_CLOCK_TSC && (rate = tsc_estimate(&begin)) == 0) {
    rt.clock = APROF_CLOCK_MONOTONIC; /* dearer, and right */
    rate = 1ull << 32;
  }
  clock_choose_usual();
  header->clock_source = rt.clock;
  header->estimated_mult = rate;
  header->fit_mult = rt.clock == APROF_CLOCK_TSC ? 0 : rate;
  header->virtual_now = rt.child_now != 0 ? rt.child_now : rt.header->virtual_now;
  rt.child_now = 0;
  header->mono0_ns = rt.clock == APROF_CLOCK_TSC ? begin.ns : monotonic_ns();
  header->tick0 = rt.clock == APROF_CLOCK_TSC         ? begin.tick
                  : rt.clock == APROF_CLOCK_MONOTONIC ? header->mono0_ns
                                                      : clock_read();
}

/* Fast events know their clock beforehand and tell nobody. */
void clock_choose_usual(void) {
  bool fast = rt.callback == NULL && rt.clock == clock_planned();
  __atomic_store_n(&rt.usual_epoch, fast ? &rt.header->usual : &epoch_never, __ATOMIC_RELAXED);
}

uint64_t clock_ticks(uint64_t ns) {
  uint64_t mult = rt.header->fit_mult ? rt.header->fit_mult : rt.header->estimated_mult;
  return (uint64_t)(((unsigned __int128)ns << 32) / (mult ? mult : 1));
}

uint64_t clock_coarse(void) {
  if (rt.clock == APROF_CLOCK_VIRTUAL)
    return clock_slow() / APROF_COARSE_NS;
  return vdso_clock(CLOCK_MONOTONIC_COARSE);
}

uint64_t clock_ns(uint64_t ticks) {
  uint64_t mult = rt.header->fit_mult ? rt.header->fit_mult : rt.header->estimated_mult;
  return (uint64_t)(((unsigned __int128)ticks * mult) >> 32);
}
