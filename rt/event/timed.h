/* SPDX-License-Identifier: MIT */
/* Events that are timed as they happen; see timed.c. */
#ifndef APROF_RT_TIMED_H
#define APROF_RT_TIMED_H

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

/* What fast events go on in. While the thread's events are timed, this makes the fast event once
   more between two looks at the clock; else it is the general one. Idling has no fast events: gates
   hold these. */
#define TIMED_EVENTS(row, with)                                                                    \
  APROF_GATE_enter(row, with) APROF_GATE_leave(row, with) APROF_GATE_suspend(row, with)            \
      APROF_GATE_resume(row, with) APROF_GATE_create_begin(row, with)                              \
          APROF_GATE_create_key(row, with) APROF_GATE_create_end(row, with)                        \
              APROF_GATE_run_begin(row, with) APROF_GATE_run_end(row, with)                        \
                  APROF_GATE_wake(row, with) APROF_GATE_end(row, with)                             \
                      APROF_GATE_idle_begin(row, with) APROF_GATE_idle_end(row, with)              \
                          APROF_GATE_span_begin(row, with) APROF_GATE_span_end(row, with)
#define DECLARE(with, role, name, parameters, arguments) void timed_##name parameters;
TIMED_EVENTS(DECLARE, 0)
#undef DECLARE

extern struct aprof_gate timed_usual; /* what is timed: the events of the profile's clock */

#pragma GCC visibility pop

#endif
