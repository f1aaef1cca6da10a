/* SPDX-License-Identifier: MIT */
/* Waiting for another thread; see wait.h. */
#include "wait.h"

#include <time.h>

#include "kernel.h"

static inline void spin_pause(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#endif
}

#define YIELDS 50u /* ... else it may not get one by that */
#define SPINS 200u /* a slow path is over by then, where its thread has a processor */

void wait_for_other(unsigned tries, bool confined) {
  static const struct timespec moment = {.tv_nsec = 50000};
  if (tries % SPINS != SPINS - 1)
    spin_pause();
  else if (!confined && tries < YIELDS * SPINS)
    sys_call(SYS_sched_yield);
  else if (!confined) /* whoever is waited for may have a lower priority, and no processor */
    sys_call(SYS_nanosleep, &moment, NULL);
}
