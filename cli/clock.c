/* Ticks to nanoseconds; see clock.h. */
#include "clock.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uint64_t monotonic(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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

/* A pair of readings as close together as a few tries make them. */
static void read_pair(const struct aprof_header *header, uint64_t *tick, uint64_t *mono) {
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 8; i++) {
    uint64_t before = monotonic(), reading = profile_clock(header), after = monotonic();
    if (after - before < best) {
      best = after - before;
      *tick = reading;
      *mono = before + (after - before) / 2;
    }
  }
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

/* A rate measured between the profile's first pair of readings and now. */
static uint64_t fit(const struct aprof_header *header) {
  uint64_t tick = 0, mono = 0;
  read_pair(header, &tick, &mono);
  if (mono < header->mono0_ns)
    return 0;
  uint64_t age = mono - header->mono0_ns;
  if (age < APROF_FIT_NS) {
    struct timespec rest = {.tv_nsec = (long)(APROF_FIT_NS - age)};
    nanosleep(&rest, NULL);
    read_pair(header, &tick, &mono);
  }
  if (tick <= header->tick0 || mono <= header->mono0_ns)
    return 0;
  unsigned __int128 ns = mono - header->mono0_ns;
  unsigned __int128 rate = (ns << 32) / (tick - header->tick0);
  return rate <= UINT64_MAX ? (uint64_t)rate : 0;
}

/* The header's own estimate may be rough, but a fit far from it means that the
   counter did not run on evenly (suspend, migration): then it is no fit. */
static bool agrees(uint64_t rate, uint64_t estimate) {
  if (!rate)
    return false;
  return !estimate || (rate > estimate - estimate / 8 && rate < estimate + estimate / 8);
}

uint64_t clock_rate(int fd, const char *what, const struct aprof_header *header, bool live) {
  if (header->clock_source != APROF_CLOCK_TSC)
    return (uint64_t)1 << 32;
  if (header->fit_mult)
    return header->fit_mult;
  if (live || clock_same_boot(header)) {
    uint64_t rate = fit(header);
    if (agrees(rate, header->estimated_mult))
      return freeze(fd, rate);
  }
  if (header->estimated_mult)
    return header->estimated_mult;
  complain("%s is damaged: nothing in it tells how fast its clock ran", what);
  return 0;
}

static void at_least(uint64_t *tick, uint64_t other) {
  if (other > *tick)
    *tick = other;
}

uint64_t clock_greatest(const struct profile *p) {
  uint64_t greatest = p->header.exit_tick;
  for (size_t i = 0; i < p->blocks.count; i++)
    at_least(&greatest, ((const struct aprof_block *)p->blocks.run[i].elements)->last);
  for (size_t i = 0; i < p->futures.count; i++) {
    const struct aprof_future *f = p->futures.run[i].elements;
    for (uint32_t n = p->futures.run[i].count; n--; f++) {
      if (!f->id)
        continue;
      at_least(&greatest, f->last);
      at_least(&greatest, f->created_tick);
    }
  }
  return greatest;
}
