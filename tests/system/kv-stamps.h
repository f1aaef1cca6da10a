/* SPDX-License-Identifier: MIT */
/*
 * What the programs of the key-value server know of their own times, by no means of the profiler.
 *
 * Each bracket has four stamps: outside of it on either side, and inside. So what the profiler says
 * is no less than from the inner to the inner, and no more than from the outer to the outer,
 * wherever the thread loses its processor. At the end a line for each kind and tier:
 *
 *   stamps KIND TIER COUNT INNER OUTER GAP
 *
 * sums of ns, and the median of what is between a bracket's outer and inner stamps.
 */
#ifndef KV_STAMPS_H
#define KV_STAMPS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KINDS = 4, GAPS = 20000 };
enum tier { PARSING, HANDLE, FORMATTER, DB, ACCOUNTING, TOTAL, TIERS };
static const char *const kinds[KINDS] = {"create", "read", "update", "delete"};
static const char *const tiers[TIERS] = {"parsing", "handle",     "formatter",
                                         "db",      "accounting", "_total"};

struct bracket {
  uint64_t outer[2], inner[2];
};

static struct sums {
  unsigned count;
  uint64_t inner, outer;
} sums[KINDS][TIERS];
static uint64_t gaps[GAPS];
static unsigned gap_count;

static inline uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Around a call, in whose body INSIDE and LEAVES stand first and last. */
#define AROUND(bracket, call)                                                                      \
  do {                                                                                             \
    (bracket).outer[0] = now();                                                                    \
    call;                                                                                          \
    (bracket).outer[1] = now();                                                                    \
  } while (0)
#define INSIDE(bracket) ((bracket).inner[0] = now())
#define LEAVES(bracket) ((bracket).inner[1] = now())

static inline int kind_of(const char *name) {
  for (int i = 0; i < KINDS; i++)
    if (strcmp(name, kinds[i]) == 0)
      return i;
  abort();
}

/* One that never was has no stamps. */
static inline void stamps_book(int kind, const struct bracket bracket[TIERS]) {
  for (int i = 0; i < TIERS; i++) {
    const struct bracket *b = &bracket[i];
    if (b->outer[0] == 0)
      continue;
    uint64_t outer = b->outer[1] - b->outer[0], inner = b->inner[1] - b->inner[0];
    sums[kind][i].count++;
    sums[kind][i].inner += inner;
    sums[kind][i].outer += outer;
    if (gap_count < GAPS)
      gaps[gap_count++] = outer - inner;
  }
}

static int by_size(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static inline void stamps_print(const char *path) {
  FILE *out = fopen(path, "w");
  if (out == NULL)
    abort();
  qsort(gaps, gap_count, sizeof *gaps, by_size);
  for (int i = 0; i < KINDS; i++)
    for (int j = 0; j < TIERS; j++)
      if (sums[i][j].count != 0)
        fprintf(out, "stamps %s %s %u %llu %llu %llu\n", kinds[i], tiers[j], sums[i][j].count,
                (unsigned long long)sums[i][j].inner, (unsigned long long)sums[i][j].outer,
                (unsigned long long)gaps[gap_count / 2]);
  fclose(out);
}

#endif
