/* SPDX-License-Identifier: MIT */
/*
 * A trace of some requests: which, and what is told of the others; see kept.c.
 *
 * Purpose: a request is decided on when it begins, and all of it is traced, or nothing but which
 * threads it holds. Cost: where everything is traced, a test; else two loads an event. Locking:
 * none. Inside an event.
 */
#ifndef APROF_RT_KEPT_H
#define APROF_RT_KEPT_H

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

/* All where t traces. */

/* Of a request that begins, the so-manieth, where `parent` ran: what its record says as `kept`. */
uint16_t trace_takes(const struct thread *t, uint64_t count, uint32_t parent);
/* Whether that request is in the trace; 0: what is part of none. */
bool trace_keeps(const struct thread *t, uint32_t request);
bool trace_has(const struct thread *t, const struct aprof_future *f);

#pragma GCC visibility pop

#endif
