/* SPDX-License-Identifier: MIT */
/* Events inside events; see nested.c. */
#ifndef APROF_RT_NESTED_H
#define APROF_RT_NESTED_H

#include "rt/rt.h"

/* An event found its thread inside another one. True: that one was left for good, the
   thread's records are sound again. False: this is a handler, the event is dropped. */
bool event_recover(struct thread *t);
/* ... is known to have been left. */
void event_left(struct thread *t);
/* Is this a handler that may have interrupted an event, or a callback inside one? */
bool event_interrupted(struct thread *t);

#endif
