/* SPDX-License-Identifier: MIT */
/*
 * Takes events out of the rings of a profile, while they are written.
 *
 * In: the file of a profile, live or left. Out: the events of each block that are new, whole, and
 * in order; how many were overwritten first. Nothing is written, and nobody waits.
 * Cost: one small read for each thread, and a copy of what is new. Locking: none.
 */
#ifndef APROF_RECORD_DRAIN_H
#define APROF_RECORD_DRAIN_H

#include <aprof/profile.h>
#include <aprof/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct drain_ring {
  uint32_t block;
  uint64_t at;        /* of its struct aprof_block, in the file */
  uint64_t next;      /* number of the first event that is not fetched */
  uint64_t taken;     /* events that were fetched, in all */
  uint64_t missed;    /* events that were overwritten first, in all */
  uint64_t unwritten; /* events for which there was no ring, in all */
  uint64_t limit;     /* events from this number on are not asked for */
};

struct drain {
  int fd;
  struct drain_ring *ring;
  uint32_t rings, room;
  uint64_t seen; /* offset behind the last chunk that was looked at */
  double fill;   /* of the fullest ring, when it was fetched from last: 1 is all of it */
};

/* Sets aside what memory the threads that there are will want of the profile for rings of `size`
   bytes each, or less, when they trace, and says so in its header: so they need not wait for it
   inside their next event. Not more than an eighth of what this process may have; where it cannot
   be had each thread asks for itself. */
void drain_make_room(int fd, struct aprof_header *, uint64_t size);

void drain_begin(struct drain *, int fd);
/* Finds rings of new threads. */
void drain_look(struct drain *);
/* How many events there are to be fetched, from the first one ever on. */
uint64_t drain_head(const struct drain *, const struct drain_ring *);
/* Up to `room` new events of that ring: how many, of which the first has *number. Numbers between
   the event fetched before and that one are missing. */
size_t drain_fetch(struct drain *, struct drain_ring *, struct aprof_trace_event *to, size_t room,
                   uint64_t *number);
void drain_end(struct drain *);

#endif
