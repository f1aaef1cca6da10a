/* SPDX-License-Identifier: MIT */
/* A barrier on all processors that run the program, so that only the rare side of a protocol pays
   for it. */
#ifndef APROF_RT_BARRIER_H
#define APROF_RT_BARRIER_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Once, at attach: while there is one thread it costs little. */
void barrier_start(void);
/* What the program's other threads have stored up to now is seen by what this one reads behind it,
   though they have no fence. False: it is not, since a filter might forbid to ask the kernel. Any
   thread, async-signal-safe. */
bool barrier_everywhere(void);

#pragma GCC visibility pop

#endif
