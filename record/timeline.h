/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side of a recording: samples of threads and switches, with the code that they ran.
 *
 * In: what the kernel says of threads, in ns of CLOCK_MONOTONIC, and what code the process has.
 * Out: frames of it in the recording, in ticks of the profile: pairs of both clocks, taken all
 * along, join them. Each file of a recording has all code that its addresses may lie in. Cost: a
 * copy of each record. Locking: none.
 */
#ifndef APROF_RECORD_TIMELINE_H
#define APROF_RECORD_TIMELINE_H

#include "read/clock.h"
#include "trace-write.h"

struct timeline;

/* `sample_ns`: of processor time, for which a sample stands; 0: there are none. `rate`: ns per tick
   << 32, until two pairs tell. */
struct timeline *timeline_new(uint64_t sample_ns, uint32_t flags, uint64_t rate);
void timeline_free(struct timeline *);
/* What is added goes there from now on: all code there is, again. */
void timeline_to(struct timeline *, struct trace_writer *);

/* One moment on both clocks. */
void timeline_clock(struct timeline *, struct clock_pair);
/* `frame`: as many addresses as it says; of its tick, which is made of `ns`, nothing is taken. */
void timeline_add(struct timeline *, const struct trace_kernel *, uint64_t ns,
                  const uint64_t *frame);
/* Of its tick, which is that of now, and its length nothing is taken. */
void timeline_code(struct timeline *, const struct trace_code *, const char *path);
void timeline_named(struct timeline *, uint64_t start, uint64_t end, const char *name);
/* What else is known of all of it: records that are missing, in all; flags. */
void timeline_says(struct timeline *, uint64_t lost, uint32_t flags);
/* Writes what is there. */
void timeline_flush(struct timeline *);

#endif
