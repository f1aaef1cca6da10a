/* SPDX-License-Identifier: MIT */
/*
 * Places that are watched while a process is recorded, and when each was come by: their frames.
 *
 * In: hits with their time on CLOCK_MONOTONIC, as the kernel has it. Out: frames with ticks of the
 * recording, made of two readings of both clocks around them, so that they lie between the events
 * that they happened between. Cost: 16 bytes a hit. Locking: none.
 */
#ifndef APROF_RECORD_HITS_H
#define APROF_RECORD_HITS_H

#include "trace-write.h"

struct hits;

struct hits *hits_new(const struct aprof_header *, uint64_t rate);
void hits_free(struct hits *);

/* `label`: what requests that come by are marked with, or ""; `name`: as the place was asked for,
   then what else it is called; `flags`: enum trace_probe_flags. Its number. */
uint32_t hits_add_probe(struct hits *, struct trace_writer *, uint32_t flags, const char *label,
                        const char *const *name, size_t names);
void hits_add(struct hits *, struct trace_writer *, uint32_t probe, int tid, uint64_t time);
/* What is not written yet, once that is old enough; `all`: whatever its age. */
void hits_write(struct hits *, struct trace_writer *, bool all);
/* The places once more, into another file. */
void hits_again(const struct hits *, struct trace_writer *);

#endif
