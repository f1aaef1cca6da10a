/* SPDX-License-Identifier: MIT */
/* Which thread may run a future; see owner.c. Inside an event. */
#ifndef APROF_RT_OWNER_H
#define APROF_RT_OWNER_H

#include "grace.h"
#include "rt/rt.h"

/* Gives the lease back that this thread took away last, if it is still away. */
void future_unhold(struct thread *t);
/* f's lease; 0: a thread is ending f. Waits while that is not sure: the thread that took the lease
   away may have meant the future that had the record before. */
uint32_t future_lease(struct thread *t, const struct aprof_future *f, uint64_t id);
/* This thread is about to run f, of this id. False: another thread is ending it, or runs it.
   `opened`: it is one of equal ones, of which this thread has just opened it (key_take). */
bool future_take(struct thread *t, struct aprof_future *f, uint64_t id, bool opened);
/* That of a job for a pool's threads, which whoever made it takes from nobody like any other: then
   no taker has to wait for that one. Where it would be 0, its maker's. */
static inline uint32_t lease_of_none(const struct thread *t) {
  uint32_t none = t->lease & ~(uint32_t)UINT16_MAX;
  return none != 0 ? none : t->lease;
}

/* f runs on this thread from now on, whoever had its lease. */
SLOW void future_migrated(struct thread *t, struct aprof_future *f);
/* f is at rest, and no thread begins to run it any more; its lease is gone. False, with nothing
   changed: it runs, or may. */
bool future_hold(struct thread *t, struct aprof_future *f, uint64_t id);
/* The lease of what runs on f's stack. */
uint32_t runner_lease(struct thread *t, struct aprof_future *f, uint64_t id);

/* What ran here was ended by another thread, and its record may be another future's. */
static inline bool running_is_lost(const struct thread *t) {
  const struct aprof_future *f = t->cur; /* without a lease: somebody is about to end it */
  return f != NULL && unlikely(f->id == 0 || (f->lease != t->lease && f->lease != 0) ||
                               f->state != APROF_FUTURE_RUNNING);
}

#endif
