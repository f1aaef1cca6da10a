/* SPDX-License-Identifier: MIT */
/*
 * How bench/ times what takes a few nanoseconds: many short batches, of which the median
 * counts, beside two reads of the time stamp counter in the same run.
 *
 * Purpose: one way of measuring for our events and for those of other tools, so that the
 * rows of a table can be compared. The loop is part of each number.
 * Output: a line per row, tabs between: name, ns, multiple of two reads, and the spread
 * (half of what the middle half of the batches spans, in percent of the median).
 * Locking: a meter belongs to one thread; with several, `together` starts each row at once.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define UNWATCHED __attribute__((no_instrument_function)) /* by the tools that are measured */

enum { BATCH = 64 };

struct meter {
  int batches;
  uint64_t *ticks;             /* of each batch */
  pthread_barrier_t *together; /* NULL: one thread */
  FILE *out;                   /* NULL: says nothing */
  double ns_per_tick, two_reads;
};

static inline UNWATCHED int measure_ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static inline UNWATCHED void measure_report(struct meter *m, const char *name) {
  size_t n = (size_t)m->batches;
  qsort(m->ticks, n, sizeof *m->ticks, measure_ascending);
  double median = (double)m->ticks[n / 2] / BATCH;
  double spread = (double)(m->ticks[n * 3 / 4] - m->ticks[n / 4]) / BATCH;
  if (m->two_reads == 0)
    m->two_reads = median;
  if (m->out != NULL)
    fprintf(m->out, "%s\t%.3f\t%.4f\t%.1f\n", name, median * m->ns_per_tick, median / m->two_reads,
            50 * spread / median);
}

#define MEASURE(m, name, statement)                                                                \
  do {                                                                                             \
    if ((m)->together != NULL)                                                                     \
      pthread_barrier_wait((m)->together);                                                         \
    for (int batch = 0; batch < (m)->batches; batch++) {                                           \
      uint64_t begin = __rdtsc();                                                                  \
      for (int i = 0; i < BATCH; i++) {                                                            \
        statement;                                                                                 \
      }                                                                                            \
      (m)->ticks[batch] = __rdtsc() - begin;                                                       \
    }                                                                                              \
    measure_report(m, name);                                                                       \
  } while (0)

/* How long a tick is, by 20 ms of both clocks. */
static inline UNWATCHED double measure_ns_per_tick(void) {
  struct timespec a, z;
  clock_gettime(CLOCK_MONOTONIC, &a);
  uint64_t begin = __rdtsc();
  do
    clock_gettime(CLOCK_MONOTONIC, &z);
  while ((z.tv_sec - a.tv_sec) * 1000000000L + z.tv_nsec - a.tv_nsec < 20000000);
  return (double)((z.tv_sec - a.tv_sec) * 1000000000L + z.tv_nsec - a.tv_nsec) /
         (double)(__rdtsc() - begin);
}

/* A meter for this thread, which stays on `processor` from now on, with the rows that
   everything is compared with. Its memory is the program's until it ends. */
static inline UNWATCHED struct meter measure_start(int processor, int batches,
                                                   pthread_barrier_t *together, FILE *out) {
  struct meter m = {.batches = batches, .together = together, .out = out};
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
  m.ns_per_tick = measure_ns_per_tick();
  m.ticks = malloc((size_t)batches * sizeof *m.ticks);
  if (m.ticks == NULL || batches < 4)
    abort();
  memset(m.ticks, 0, (size_t)batches * sizeof *m.ticks);
  volatile uint64_t sink;
  MEASURE(&m, "2 x rdtsc", sink = __rdtsc(); sink = __rdtsc());
  (void)sink;
  struct timespec now;
  MEASURE(&m, "2 x clock_gettime", clock_gettime(CLOCK_MONOTONIC, &now);
          clock_gettime(CLOCK_MONOTONIC, &now));
  return m;
}

#endif
