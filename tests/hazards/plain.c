/* Futures that are nothing but calls: nested, recursive, with awaits between. */
#include "hazard.h"

const bool children_may_exit = true;
const bool work_is_simple = true;

static volatile unsigned long ticks;

APROF_AWAIT static __attribute__((noinline)) void pass(void) { ticks++; }

APROF_ASYNC static __attribute__((noinline)) unsigned long leaf(unsigned n) {
  call_hook();
  pass();
  return n;
}

APROF_ASYNC static __attribute__((noinline)) unsigned long branch(unsigned depth, unsigned n) {
  if (depth == 0)
    return leaf(n);
  unsigned long sum = branch(depth - 1, n);
  pass();
  return sum + branch(depth - 1, n + depth);
}

unsigned long work(unsigned rounds) {
  unsigned long sum = 0;
  for (unsigned i = 0; i < rounds; i++)
    sum += branch(4, i);
  return sum;
}
/* SPDX-License-Identifier: MIT */
