/* SPDX-License-Identifier: MIT */
/*
 * What a trace of some requests tells of futures that come and go.
 *
 * Purpose: births, of those also that were there before; where they are left out again. Cost:
 * that of their events. Locking: none. Inside an event, where traces(t).
 */
#ifndef APROF_RT_MOVED_H
#define APROF_RT_MOVED_H

#include "ring.h"

#pragma GCC visibility push(hidden)

/* f was born then, or was left out until then; and, behind its JOIN, what it does. */
void trace_birth(struct thread *t, const struct aprof_future *f, uint64_t tick);
void trace_does(struct thread *t, const struct aprof_future *f, uint64_t tick);
/* f is left out from now on. */
void trace_leaves(struct thread *t, const struct aprof_future *f, uint64_t tick);

#pragma GCC visibility pop

#endif
