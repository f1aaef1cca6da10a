/*
 * The profile's clock: the time stamp counter where it is invariant, else
 * CLOCK_MONOTONIC, or a virtual one that the program advances itself.
 */
#define _GNU_SOURCE
#include <time.h>
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

#include "rt.h"

const uint32_t clock_never = UINT32_MAX;

static uint64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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

/* ns per tick << 32 over a hundred microseconds: a first guess, for files that
   nobody can fit any more. */
static uint64_t tsc_estimate(void) {
#if defined __x86_64__ || defined __i386__
  uint64_t ns = monotonic_ns(), ticks = __builtin_ia32_rdtsc(), passed;
  do
    passed = monotonic_ns() - ns;
  while (passed < 100000);
  ticks = __builtin_ia32_rdtsc() - ticks;
  return (uint64_t)(((unsigned __int128)passed << 32) / (ticks ? ticks : 1));
#else
  return 1ull << 32;
#endif
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
  uint32_t source = clock_planned();
  rt.clock = source;
  clock_choose_usual();
  header->clock_source = source;
  header->estimated_mult = 1ull << 32;
  header->fit_mult = source == APROF_CLOCK_TSC ? 0 : 1ull << 32;
  if (source == APROF_CLOCK_TSC)
    header->estimated_mult = tsc_estimate();
  header->virtual_now = rt.child_now != 0 ? rt.child_now : rt.header->virtual_now;
  rt.child_now = 0;
  header->mono0_ns = monotonic_ns();
  header->tick0 = clock_read();
}

/* Fast events know their clock beforehand and tell nobody. */
void clock_choose_usual(void) {
  bool fast = rt.callback == NULL && rt.clock == clock_planned();
  __atomic_store_n(&rt.usual_epoch, fast ? &rt.header->epoch : &clock_never, __ATOMIC_RELAXED);
}

uint64_t clock_ticks(uint64_t ns) {
  uint64_t mult = rt.header->fit_mult ? rt.header->fit_mult : rt.header->estimated_mult;
  return (uint64_t)(((unsigned __int128)ns << 32) / (mult ? mult : 1));
}

uint64_t clock_coarse(void) {
  struct timespec now;
  if (rt.clock == APROF_CLOCK_VIRTUAL)
    return clock_slow() / APROF_COARSE_NS;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_ns(uint64_t ticks) {
  uint64_t mult = rt.header->fit_mult ? rt.header->fit_mult : rt.header->estimated_mult;
  return (uint64_t)(((unsigned __int128)ticks * mult) >> 32);
}
