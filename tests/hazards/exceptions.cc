// Futures that end by exceptions, caught some frames below.
#include "hazard.h"

#include <stdexcept>

extern "C" const bool children_may_exit = true;
extern "C" const bool work_is_simple = false;

namespace {

volatile unsigned long ticks;

APROF_AWAIT __attribute__((noinline)) void pass() { ticks = ticks + 1; }

struct on_exit_of_scope {
  unsigned long *sum;
  ~on_exit_of_scope() { *sum += small_future(1); }
};

APROF_ASYNC __attribute__((noinline)) unsigned long thrower(unsigned n) {
  call_hook();
  pass();
  if (n % 3 == 0)
    throw std::runtime_error("planned");
  return n;
}

APROF_ASYNC __attribute__((noinline)) unsigned long middle(unsigned n, unsigned long *sum) {
  on_exit_of_scope cleanup{sum};
  unsigned long result = thrower(n);
  pass();
  return result + thrower(n + 1);
}

} // namespace

extern "C" unsigned long work(unsigned rounds) {
  unsigned long sum = 0;
  for (unsigned i = 0; i < rounds * 8; i++) {
    try {
      sum += middle(i, &sum);
    } catch (const std::exception &) {
      sum += 100;
    }
  }
  return sum;
}
/* SPDX-License-Identifier: MIT */
