/* SPDX-License-Identifier: MIT */
/*
 * Governed overhead: how much detail a thread keeps, so that its events cost no more
 * than the ceiling that `overhead:PERCENT` sets.
 *
 * Purpose: the steps of enum aprof_step, as the events ask for them. Each thread has
 * a step of its own, t->shed, and changes it itself, inside an event.
 * Cost: without the option a comparison in the general events and nothing in the fast
 * ones, whose sets for CLOCK_GOVERNED are the only ones that ask. With it, a look at the
 * clock every GOVERN_STRIDE events.
 * Locking: none.
 *
 * The ledger's equations hold at each step: what is shed is what is derived from a
 * segment (histogram, maximum), the path it is booked under, or the moments at which
 * the thread's time moves on; never a segment, and no count.
 */
#ifndef APROF_GOVERN_H
#define APROF_GOVERN_H

#include "rt/file/clock.h"

/* Beside enum aprof_clock_source, for fast events: one of a process with a ceiling, and
   whatever clock of a thread that sheds. */
#define CLOCK_GOVERNED 0x100u
#define CLOCK_SHED 0x200u

/* What fast events are to be compiled for in this process. */
static inline uint32_t clock_variant(uint32_t source) {
  return unlikely(rt.options.overhead != 0) ? source | CLOCK_GOVERNED : source;
}

/* The governor looks at this thread's events and time: sheds, or takes back. */
SLOW void govern(struct thread *t);
/* Its thread begins here, at step 0, with nothing known of its load. */
void govern_start(struct thread *t, uint64_t now);
/* ... ends, or its epoch has. */
void govern_stop(struct thread *t, uint64_t now);
/* Time of a thread whose clock has been shed. */
uint64_t govern_time(struct thread *t);

static inline uint64_t governed_clock(struct thread *t) {
  return likely(t->shed < APROF_STEP_COARSE) ? clock_read() : govern_time(t);
}

/* The node that a function's is looked for under, where `above` is its caller's. */
static inline uint32_t tree_parent(const struct thread *t, uint32_t above) {
  return likely(t->shed < APROF_STEP_TREE) ? above : 0;
}

/* What it times is measured. */
static inline bool keeps_maxima(const struct thread *t) {
  return likely(t->shed < APROF_STEP_COARSE);
}

/* True: it is the maximum now. */
static inline bool raise_max(const struct thread *t, uint64_t *maximum, uint64_t value) {
  if (value <= *maximum || !keeps_maxima(t))
    return false;
  *maximum = value;
  return true;
}

/* When a thread's events are timed; see event/timed.c. */
#define TIMED_FIRST 512u
#define TIMED_EVERY 262144u
#define TIMED_ROW 256u

void timing_start(struct thread *t); /* its thread begins an epoch */
void timing_row(struct thread *t);   /* its next events are to be timed; in an event */

#endif
