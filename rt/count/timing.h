/* SPDX-License-Identifier: MIT */
/*
 * When a thread's events are timed; see event/timed.c.
 */
#ifndef APROF_RT_TIMING_H
#define APROF_RT_TIMING_H

#include "rt/rt.h"

#define TIMED_FIRST 512u
#define TIMED_EVERY 262144u
#define TIMED_ROW 256u

void timing_start(struct thread *t); /* its thread begins an epoch */
void timing_row(struct thread *t);   /* its next events are to be timed; in an event */

#endif
