/* SPDX-License-Identifier: MIT */
/* The futures of a few tuples of which many are equal, in the order they were made; see key-ring.c.
   Any thread, inside an event. */
#ifndef APROF_RT_KEY_RING_H
#define APROF_RT_KEY_RING_H

#include "key-queue.h"

#pragma GCC visibility push(hidden)

#define RING 128u /* entries; a power of two */

/* state: head << 24 | upper half of the hash << 8 | count. What lies from the head on was put in
   and may have ended. A head comes again after 2^40 steps, which take a day: a thread that was
   halted between two looks for so long may take the one for the other. */
struct ring {
  uint64_t state, entry[RING];
};
#define RINGS 16u
extern struct ring key_rings[RINGS];

static inline struct ring *ring_for(uint32_t hash) {
  return &key_rings[hash % RINGS];
}

/* How many entries it has of that hash, or of one that differs in the middle only. */
static inline uint32_t ring_count(uint64_t state, uint32_t hash) {
  return (uint16_t)(state >> 8) == hash >> 16 ? (uint8_t)state : 0;
}
static inline bool ring_holds(uint32_t hash) {
  return ring_count(__atomic_load_n(&ring_for(hash)->state, __ATOMIC_ACQUIRE), hash) != 0;
}

/* The future of the entry that lies `at` behind the first; NULL: it has ended. */
HINT static inline struct aprof_future *ring_future(const struct ring *r, uint64_t state,
                                                    uint32_t at) {
  uint64_t entry = __atomic_load_n(&r->entry[((state >> 24) + at) % RING], __ATOMIC_ACQUIRE);
  return entry != 0 ? entered(entry) : NULL;
}

/* Last in the ring of its hash, which is KEYED. False, with nothing changed: that is full, or has
   those of another hash. */
bool ring_append(uint32_t hash, const struct aprof_future *f);

/* Those at its front that have ended leave it. */
void ring_trim(uint32_t hash);

/* f, which has given its key up and lives, leaves the middle of a ring. */
void ring_forget(uint32_t hash, const struct aprof_future *f);

void rings_reset(void);

#pragma GCC visibility pop

#endif
