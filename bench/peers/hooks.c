/* SPDX-License-Identifier: MIT */
/*
 * The least that -finstrument-functions can be used for: each event's function and time in
 * a ring. Linked to call.c; compiled without the option.
 */
#include <stdint.h>
#include <x86intrin.h>

enum { RING = 1 << 14 };

static __thread struct event {
  void *function;
  uint64_t tick; /* lowest bit: left */
} ring[RING];
static __thread unsigned at;

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller) {
  (void)caller;
  ring[at++ % RING] = (struct event){function, __rdtsc() & ~UINT64_C(1)};
}

void __cyg_profile_func_exit(void *function, void *caller) {
  (void)caller;
  ring[at++ % RING] = (struct event){function, __rdtsc() | 1};
}
