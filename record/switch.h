/* SPDX-License-Identifier: MIT */
/*
 * The switch of the trace in a live profile, from outside.
 *
 * Purpose: who records is one at a time, says so in the header, and prolongs its lease: a process
 * whose recorder has died stops tracing by itself. No signal, no code of ours runs in it.
 * Cost: stores to the mapped header. Locking: control_lock of the profile.
 */
#ifndef APROF_RECORD_SWITCH_H
#define APROF_RECORD_SWITCH_H

#include <aprof/profile.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether nobody keeps the lock who is alive, or of whom that cannot be told; waits for two
   seconds. */
bool switch_lock(struct aprof_header *);
void switch_unlock(struct aprof_header *);

#define SWITCH_DONE 0u
#define SWITCH_BUSY UINT32_MAX /* somebody keeps control_lock */
/* Whether the process of that word (aprof_control_word) is of this one's PID namespace. */
bool switch_is_near(uint32_t word);
/* Switches the trace on, for this process, with rings of that size (0: as they are), whose memory
   is set aside first in the profile open as `fd`; also where it is this process's and has gone off.
   `share`: of requests alone, and of those that begin so much; NULL: everything. SWITCH_DONE,
   SWITCH_BUSY, or the word of who records. */
uint32_t switch_trace(int fd, struct aprof_header *, uint64_t size, uint64_t rate,
                      const double *share);
/* From now on that share of the requests that begin, up to 1. */
void switch_share(struct aprof_header *, double share);
/* Has requests logged that take `over` ns or more, from now on; to be called some times a second,
   as the log goes out by itself where nobody does. Several may: the shortest time holds. */
void switch_log(struct aprof_header *, uint64_t over, uint64_t rate);
/* To be called some times a second: it stays on for as long again. */
void switch_prolong(struct aprof_header *, uint64_t rate);
/* Whether it is on, and ours, still. */
bool switch_is_on(const struct aprof_header *);
/* Nothing is traced until it is switched on again, by who still is the one that records. False: the
   process goes on to trace for itself (trace:flight). */
bool switch_pause(struct aprof_header *);
void switch_off_trace(struct aprof_header *);

#endif
