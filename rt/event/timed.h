/* SPDX-License-Identifier: MIT */
/* Events that are timed as they happen; see timed.c. */
#ifndef APROF_RT_TIMED_H
#define APROF_RT_TIMED_H

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

/* What fast events go on in: slow_NAME, but where the thread is traced the fast one that tells the
   trace. Idling has no fast events: gates hold these. slow_NAME is the general one; while the
   thread's events are timed it makes the fast one once more between two looks at the clock. So it
   does while a root's end is pending (member.c), where what runs stays what it was. */
#define QUIET_EVENTS(row, with)                                                                    \
  APROF_GATE_create_begin(row, with) APROF_GATE_create_key(row, with)                              \
      APROF_GATE_create_end(row, with) APROF_GATE_due(row, with) APROF_GATE_wake(row, with)        \
          APROF_GATE_end(row, with)
#define OTHER_EVENTS(row, with)                                                                    \
  APROF_GATE_enter(row, with) APROF_GATE_leave(row, with) APROF_GATE_suspend(row, with)            \
      APROF_GATE_resume(row, with) APROF_GATE_run_begin(row, with) APROF_GATE_run_end(row, with)   \
          APROF_GATE_idle_begin(row, with) APROF_GATE_idle_end(row, with)                          \
              APROF_GATE_span_begin(row, with) APROF_GATE_span_end(row, with)
#define TIMED_EVENTS(row, with) QUIET_EVENTS(row, with) OTHER_EVENTS(row, with)
#define DECLARE(with, role, name, parameters, arguments)                                           \
  typedef void name##_event parameters;                                                            \
  void timed_##name parameters;                                                                    \
  void slow_##name parameters;
TIMED_EVENTS(DECLARE, 0)
#undef DECLARE

extern struct aprof_gate timed_usual;  /* what is timed: the events of the profile's clock */
extern struct aprof_gate traced_usual; /* those that tell the trace: fast-traced.c, */
extern struct aprof_gate some_usual;   /* or of some requests: fast-some.c */

#pragma GCC visibility pop

#endif
