/* SPDX-License-Identifier: MIT */
/* Ticks to nanoseconds; see clock.h. */
#include "clock.h"

#include "util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined __x86_64__ || defined __i386__
#include <x86intrin.h>
#endif

/* Readings that are so far apart tell how fast the clock goes. */
#define APART_NS 1000000u

uint64_t profile_clock(const struct aprof_header *header) {
  if (header->clock_source == APROF_CLOCK_VIRTUAL)
    return header->virtual_now;
#if defined __x86_64__ || defined __i386__
  if (header->clock_source == APROF_CLOCK_TSC)
    return __rdtsc();
#endif
  return clock_monotonic();
}

bool clock_same_boot(const struct aprof_header *header) {
  char boot[sizeof header->boot_id] = "";
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (!file)
    return false;
  if (!fgets(boot, sizeof boot, file))
    boot[0] = 0;
  fclose(file);
  boot[strcspn(boot, "\n")] = 0;
  char recorded[sizeof header->boot_id];
  memcpy(recorded, header->boot_id, sizeof recorded);
  recorded[sizeof recorded - 1] = 0;
  recorded[strcspn(recorded, "\n")] = 0;
  return boot[0] && !strcmp(boot, recorded);
}

/* Stores the first fit for all later readers; returns the one that counts. A
   profile that we may not write keeps none: then ours holds for us alone. */
static uint64_t freeze(int fd, uint64_t rate) {
  struct stat st;
  /* Another's file may be cut at any moment, which a mapping does not survive. */
  if (fstat(fd, &st) || (uint64_t)st.st_size < APROF_HEADER_SIZE || st.st_uid != geteuid())
    return rate;
  struct aprof_header *header =
      mmap(NULL, APROF_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (header == MAP_FAILED)
    return rate;
  uint64_t found = 0;
  if (!__atomic_compare_exchange_n(&header->fit_mult, &found, rate, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE))
    rate = found;
  munmap(header, APROF_HEADER_SIZE);
  return rate;
}

struct clock_pair clock_pair(const struct aprof_header *header) {
  struct clock_pair best = {0, 0};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 8; i++) {
    uint64_t before = clock_monotonic(), reading = profile_clock(header), after = clock_monotonic();
    if (after - before < least) {
      least = after - before;
      best = (struct clock_pair){reading, before + (after - before) / 2};
    }
  }
  return best;
}

uint64_t clock_tick_at(const struct clock_pair *before, const struct clock_pair *now, uint64_t rate,
                       uint64_t mono) {
  __int128 ticks, ns = (__int128)mono - now->mono;
  if (before->mono && now->mono >= before->mono + APART_NS && now->tick > before->tick)
    ticks = ns * (__int128)(now->tick - before->tick) / (__int128)(now->mono - before->mono);
  else
    ticks = ns * ((__int128)1 << 32) / (__int128)(rate ? rate : 1);
  ticks += now->tick;
  return ticks > 0 ? (uint64_t)ticks : 0;
}

/* ns per tick << 32; 0: the clocks did not both move on. */
static uint64_t rate_between(struct clock_pair a, struct clock_pair b) {
  if (b.tick <= a.tick || b.mono <= a.mono)
    return 0;
  unsigned __int128 rate = ((unsigned __int128)(b.mono - a.mono) << 32) / (b.tick - a.tick);
  return rate <= UINT64_MAX ? (uint64_t)rate : 0;
}

/* A pair that is at least APROF_FIT_NS younger than another. */
static struct clock_pair pair_after(const struct aprof_header *header, struct clock_pair first) {
  struct clock_pair now = clock_pair(header);
  if (now.mono >= first.mono && now.mono - first.mono < APROF_FIT_NS) {
    struct timespec rest = {.tv_nsec = (long)(APROF_FIT_NS - (now.mono - first.mono))};
    nanosleep(&rest, NULL);
    now = clock_pair(header);
  }
  return now;
}

/* Rates of one counter. */
static bool agree(uint64_t a, uint64_t b) {
  return a && b && a - a / 100 < b && b - b / 100 < a;
}

/*
 * The rate between the profile's first pair of readings and now: an age of the process, and
 * much better than its own estimate, which took a tenth of a millisecond. Where the two are
 * apart, one of them is wrong: the estimate, or the counter did not run on evenly meanwhile
 * (suspended, moved to another machine), and then it is no fit. What the counter does
 * now tells which. 0: no fit.
 */
static uint64_t fit(const struct aprof_header *header) {
  struct clock_pair first = {header->tick0, header->mono0_ns}, now = pair_after(header, first);
  uint64_t rate = rate_between(first, now);
  if (!rate || !header->estimated_mult || agree(rate, header->estimated_mult))
    return rate;
  return agree(rate, rate_between(now, pair_after(header, now))) ? rate : 0;
}

uint64_t clock_rate(int fd, const char *what, const struct aprof_header *header, bool live) {
  if (header->clock_source != APROF_CLOCK_TSC)
    return (uint64_t)1 << 32;
  if (header->fit_mult)
    return header->fit_mult;
  if (live || clock_same_boot(header)) {
    uint64_t rate = fit(header);
    if (rate)
      return freeze(fd, rate);
  }
  if (header->estimated_mult)
    return header->estimated_mult;
  complain("%s is damaged: nothing in it tells how fast its clock ran", what);
  return 0;
}
