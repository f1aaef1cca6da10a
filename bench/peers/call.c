/* SPDX-License-Identifier: MIT */
/*
 * What other tools take for two events: a call of a function that they instrument, which
 * is entered and left. Compiled once per tool; nothing else here is instrumented.
 *
 *     call [batches=N]
 */
#include "../measure.h"

#if defined __clang__
#define WATCHED __attribute__((noinline, xray_always_instrument))
#else
#define WATCHED __attribute__((noinline, noclone))
#endif

WATCHED static long leaf(long value) {
  __asm__ volatile("" : "+r"(value));
  return value;
}

UNWATCHED int main(int argc, char **argv) {
  int batches = argc > 1 && strncmp(argv[1], "batches=", 8) == 0 ? atoi(argv[1] + 8) : 4001;
  struct meter meter = measure_start(0, batches, NULL, stdout);
  MEASURE(&meter, "call", leaf(i));
  return 0;
}
