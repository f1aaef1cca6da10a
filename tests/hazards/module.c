/* A shared object with futures, loaded and unloaded again and again. */
#include <aprof.h>

static volatile unsigned long ticks;

APROF_AWAIT static __attribute__((noinline)) void module_wait(void) { ticks++; }

APROF_ASYNC static __attribute__((noinline)) unsigned long module_future(unsigned n) {
  module_wait();
  return n;
}

unsigned long module_run(unsigned n) { return module_future(n) + module_future(n + 1); }
/* SPDX-License-Identifier: MIT */
