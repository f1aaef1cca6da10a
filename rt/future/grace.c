/* SPDX-License-Identifier: MIT */
/* Grace periods; see grace.h. */
#include "grace.h"

#include "rt/sys/barrier.h"
#include "rt/sys/confine.h"
#include "rt/sys/wait.h"

#define SETTLE_TRIES 100000u /* a thread that lost its processor in an event gets it back */
#define FIRST_TRIES 20u      /* so many times that: about a second */
#define SETTLE_PAUSES 50u    /* about a microsecond */
#define SPINS 150u           /* before wait_for_other asks for more than a pause */

struct aprof_block *thread_blocks[BLOCKS];
struct thread *thread_holders[BLOCKS];

static struct {
  uint64_t sequence; /* at the last mark */
  uint32_t outside;  /* the last mark since which it was in no event for a moment */
} seen[BLOCKS];
static uint32_t mark;
static bool settled_once; /* no thread takes itself for the only one any more; atomic */

void grace_reset(void) {
  memset(thread_blocks, 0, sizeof thread_blocks);
  memset(thread_holders, 0, sizeof thread_holders);
  memset(seen, 0, sizeof seen);
  mark = 0;
  settled_once = false;
}

/* Odd in an event. Its owner writes it by plain stores; at a moment, and at a later one. */
HINT static uint64_t sequence_of(const struct aprof_block *b) {
  return __atomic_load_n(&b->sequence, __ATOMIC_ACQUIRE);
}

bool thread_leaves(struct thread *t, uint32_t lease, uint64_t sequence) {
  uint32_t number = (uint16_t)lease % BLOCKS;
  const struct thread *other = __atomic_load_n(&thread_holders[number], __ATOMIC_ACQUIRE);
  const struct aprof_block *b = thread_blocks[number];
  bool left = !(sequence & 1) || other == NULL || b == t->block;
  thread_waits(t, true);
  for (unsigned tries = 0; !left && tries < SETTLE_TRIES; tries++) {
    left = sequence_of(b) != sequence || __atomic_load_n(&other->waits, __ATOMIC_ACQUIRE);
    if (!left)
      wait_for_other(tries, tries < SPINS || was_confined_lately());
  }
  thread_waits(t, false);
  return left;
}

void thread_waits_between(struct thread *t, unsigned tries) {
  thread_waits(t, true);
  wait_for_other(tries, was_confined_lately());
  thread_waits(t, false);
}

/* An event shows that it has begun by a store alone, which may become visible after what
   the event reads has been read: behind a barrier on all processors it has, or a little later. */
bool thread_settles(struct thread *t, uint32_t lease) {
  const struct aprof_block *b = thread_blocks[(uint16_t)lease % BLOCKS];
  if (b == NULL || b == t->block)
    return true;
  thread_waits(t, true);
  for (unsigned i = 0, pauses = barrier_everywhere() ? 0 : SETTLE_PAUSES; i < pauses; i++)
    wait_for_other(i, true);
  return thread_leaves(t, lease, sequence_of(b));
}

uint64_t thread_sequence(uint32_t lease) {
  uint32_t number = (uint16_t)lease % BLOCKS;
  const struct aprof_block *b = thread_blocks[number];
  const struct thread *other = __atomic_load_n(&thread_holders[number], __ATOMIC_ACQUIRE);
  __atomic_thread_fence(__ATOMIC_ACQUIRE); /* what was read before is no newer */
  uint64_t sequence = b != NULL ? sequence_of(b) : 0;
  bool waits = other != NULL && __atomic_load_n(&other->waits, __ATOMIC_ACQUIRE);
  return waits ? sequence & ~(uint64_t)1 : sequence;
}

HINT bool thread_in_event(uint32_t lease) {
  const struct aprof_block *b = thread_blocks[(uint16_t)lease % BLOCKS];
  return b != NULL && (sequence_of(b) & 1);
}

HINT bool thread_lags(uint32_t lease) {
  const struct aprof_block *b = thread_blocks[(uint16_t)lease % BLOCKS];
  return b != NULL && (sequence_of(b) & 1) &&
         __atomic_load_n(&b->epoch, __ATOMIC_RELAXED) !=
             __atomic_load_n(&rt.header->epoch, __ATOMIC_RELAXED);
}

void thread_first_settles(struct thread *t) {
  for (unsigned i = 0; i < FIRST_TRIES && !__atomic_load_n(&settled_once, __ATOMIC_ACQUIRE); i++)
    if (thread_settles(t, 1))
      break;
  __atomic_store_n(&settled_once, true, __ATOMIC_RELEASE);
}

uint32_t threads_mark(uint32_t *outside) {
  uint32_t count = rt.header->blocks, now = ++mark;
  *outside = now;
  for (uint32_t n = 1; n <= count && n < BLOCKS; n++) {
    const struct aprof_block *b = thread_blocks[n];
    uint64_t sequence = b != NULL ? sequence_of(b) : 0;
    if (!(sequence & 1) || b == aprof_self->block)
      seen[n].outside = now;
    else if (sequence != seen[n].sequence)
      seen[n].outside = now - 1; /* it has begun this event since the last mark */
    seen[n].sequence = sequence;
    if (mark_before(seen[n].outside, *outside))
      *outside = seen[n].outside;
  }
  return now;
}
