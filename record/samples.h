/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side of a recording, into its story.
 *
 * In: frames of a trace that timeline.h has written, which are hostile. Out: story.kernel: samples,
 * each with the segment that ran on its thread at that moment, switches, and code. Addresses have
 * no names yet: see native.h. Cost: n log n in the samples, linear in the segments. Locking: none.
 */
#ifndef APROF_RECORD_SAMPLES_H
#define APROF_RECORD_SAMPLES_H

#include "story.h"
#include "trace-read.h"

/* What a switch may be before it is settled, beside enum story_on. */
enum { SAMPLES_LOST = STORY_ON_STATES, SAMPLES_WATCHED };

/* Of a story that is finished. Threads that had no event are added to it. */
void samples_read(struct trace *, struct story *);
/* Puts in order what was added to story.kernel, and finds each sample's segment. */
void samples_settle(struct story *);

#endif
