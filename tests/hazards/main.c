/*
 * PROGRAM HAZARD [COUNT]: runs the hazard, prints one number, then runs a thousand
 * futures more: they must all be in the totals, whatever happened before.
 */
#include "hazard.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void (*hook)(void);
size_t stack_size = 32768;
bool destroy_suspended;
unsigned count = 100;

void must(bool ok, const char *what) {
  if (ok)
    return;
  perror(what);
  exit(99);
}

unsigned next_random(unsigned *state, unsigned below) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % below;
}

static unsigned long sink; /* of all threads */

APROF_AWAIT static __attribute__((noinline)) void short_wait(void) {
  __atomic_fetch_add(&sink, 1, __ATOMIC_RELAXED);
}

APROF_ASYNC static __attribute__((noinline)) unsigned long smaller_future(unsigned n) {
  short_wait();
  return n * 3ul;
}

APROF_ASYNC __attribute__((noinline)) unsigned long small_future(unsigned n) {
  unsigned long sum = smaller_future(n);
  short_wait();
  return sum + n;
}

/* What the totals are searched for. */
APROF_ASYNC static __attribute__((noinline)) unsigned long epilogue(unsigned n) {
  short_wait();
  return small_future(n);
}

static unsigned long no_hazard(void) { return work(count); }

static const struct hazard plain[] = {{"none", no_hazard, false}, {NULL, NULL, false}};

static const struct hazard *find(const char *name) {
  const struct hazard *const all[] = {plain,          signal_hazards, fork_hazards,
                                      thread_hazards, race_hazards,   exit_hazards,
                                      file_hazards};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (const struct hazard *h = all[i]; h->name != NULL; h++)
      if (strcmp(h->name, name) == 0)
        return h;
  return NULL;
}

int main(int argc, char **argv) {
  const struct hazard *h = argc > 1 ? find(argv[1]) : NULL;
  if (h == NULL) {
    fprintf(stderr, "usage: %s HAZARD [COUNT]\n", argv[0]);
    return 98;
  }
  if (argc > 2)
    count = (unsigned)strtoul(argv[2], NULL, 10);
  if (h->simple_only && !work_is_simple)
    return 77;
  unsigned long result = h->run();
  hook = NULL;
  for (unsigned i = 0; i < 1000; i++)
    result += epilogue(i);
  printf("%s %lu\n", h->name, result);
  return 5; /* a status of its own: that, too, must come through */
}
/* SPDX-License-Identifier: MIT */
