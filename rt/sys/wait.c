/* SPDX-License-Identifier: MIT */
/* Waiting for another thread; see wait.h. */
#include "wait.h"

#include <sys/syscall.h>
#include <time.h>

#include "raw.h"

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
    raw_call(SYS_sched_yield, 0, 0, 0, 0);
  else if (!confined) /* whoever is waited for may have a lower priority, and no processor */
    raw_call(SYS_nanosleep, (long)&moment, 0, 0, 0);
}
