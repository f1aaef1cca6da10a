/* SPDX-License-Identifier: MIT */
/* Waiting for another thread, without a lock. */
#ifndef APROF_RT_WAIT_H
#define APROF_RT_WAIT_H

#include <stdbool.h>

/* Between looks at what another thread is about to do, which may have lost its processor:
   ours is then better off with it. The first look is `tries` 0. `confined`: without a system
   call. Any thread, async-signal-safe. */
void wait_for_other(unsigned tries, bool confined);

#endif
