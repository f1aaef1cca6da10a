/* SPDX-License-Identifier: MIT */
/*
 * The trace, replayed: what the events in the rings of this very process add up to.
 *
 * Purpose: the sums of the segments between events must be what the runtime has counted, in ticks,
 * for each node of each block. Written against trace.h and profile.h alone.
 * Cost: each event once. Locking: none; the process is quiet while it is asked.
 */
#ifndef TESTS_RANDOM_REPLAY_H
#define TESTS_RANDOM_REPLAY_H

#include "aprof/profile.h"
#include "aprof/trace.h"

#include <stdbool.h>
#include <stdio.h>

/* Switches the trace on, for good; from here on all is replayed. */
void replay_begin(struct aprof_header *header);
/* ... where it has been on from the start. */
void replay_from_start(struct aprof_header *header);
/* Takes what has come since: to be called often enough that threads' events come in order. */
void replay_follow(void);
/* How many numbers differ from those counted since replay_begin; each is told, NULL: none is. */
unsigned replay_differs(FILE *file);

#endif
