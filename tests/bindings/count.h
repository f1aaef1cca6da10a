/*
 * What the programs of this folder say of themselves: a line for each function
 * whose activations are futures, as the test makes the same lines of the totals.
 *
 *   count NAME CREATED DONE CANCELLED LIVE WAITS
 *
 * Waits are those that came to an end: it was resumed, or its end came while it
 * waited. The program counts where things happen, by no means of the profiler.
 */
#ifndef BINDINGS_COUNT_H
#define BINDINGS_COUNT_H

#include <stdio.h>

struct count {
  const char *name;
  unsigned created, done, cancelled, waits;
};

static inline void count_print(const struct count *count) {
  printf("count %s %u %u %u %u %u\n", count->name, count->created, count->done, count->cancelled,
         count->created - count->done - count->cancelled, count->waits);
}

#endif
/* SPDX-License-Identifier: MIT */
