/* SPDX-License-Identifier: MIT */
/*
 * Grace periods: is another thread in an event, and when has each been in none?
 *
 * Cost: a few loads; thread_settles waits, and may ask the kernel. Any thread, in an event or under
 * rt.lock.
 */
#ifndef APROF_RT_GRACE_H
#define APROF_RT_GRACE_H

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

#define BLOCKS 4096u /* threads at once; all blocks of a profile */
/* By number. Those who lease and give back write them: event/thread.c. */
extern struct aprof_block *thread_blocks[BLOCKS]; /* rt.lock to add */
extern struct thread *thread_holders[BLOCKS];     /* who leased each last; atomic */

/* Waits, for a bounded time, until the thread of this lease has left the event that it is in, or
   waits itself: no thread waits while it begins to run a future. False: it stands still in the
   event. */
bool thread_settles(struct thread *t, uint32_t lease);
/* ... has left the event that it was in when its sequence was that. */
bool thread_leaves(struct thread *t, uint32_t lease, uint64_t sequence);
uint64_t thread_sequence(uint32_t lease); /* odd in an event, but where it waits */
/* Is the thread of this lease still in an event that began in an epoch before the current one? */
bool thread_lags(uint32_t lease);
bool thread_in_event(uint32_t lease); /* ... is in one, at this moment */
/* A mark for this moment. What no event can find any more is used again once no thread can still
   look at it, which marks tell: since `outside`, each thread has been in no event for a moment.
   Marks are compared by their difference. The caller itself looks at no such thing any more.
   rt.lock held. */
uint32_t threads_mark(uint32_t *outside);
static inline bool mark_before(uint32_t a, uint32_t b) {
  return (int32_t)(a - b) < 0;
}
static inline void thread_waits(struct thread *t, bool waits) {
  __atomic_store_n(&t->waits, waits, __ATOMIC_SEQ_CST);
}
/* For the time between two looks at a word that another thread's event writes, in which that one
   may wait for us. It is over before the look: who takes the word away again waits for us, too. */
void thread_waits_between(struct thread *t, unsigned tries);
#define WAITS_MOST 200000u /* such looks: longer than thread_settles */
/* More than one thread has had events. */
static inline bool threads_share(void) {
  return __atomic_load_n(&rt.header->blocks, __ATOMIC_ACQUIRE) > 1;
}

/* The first thread may be in an event that takes it for the only one. That it has no processor
   lasts for long on a busy machine, but it may also have ended there. */
void thread_first_settles(struct thread *t);
void grace_reset(void); /* in a forked child: there are no other threads */

#pragma GCC visibility pop

#endif
