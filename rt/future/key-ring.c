/* SPDX-License-Identifier: MIT */
/*
 * Rings of equal keys.
 *
 * Many futures of one tuple go round in a ring: a create puts one in last, a run takes the first
 * that is at rest, and what has ended leaves at the front. No step looks at all of them, and none
 * takes a lock. A ring has one hash at a time, which it keeps while something is in it.
 *
 * An entry is put in by two steps, each by compare and swap: its place, which is the tail's, and
 * the tail, which any thread may move on that sees the place taken. An end clears no place. What
 * stands at the tail's and has ended is of an older lap; what lives there was put in just now. That
 * tells the two apart because there are fewer than RING entries when a place is looked at, and
 * because no entry comes twice: its serial is new.
 */
#include "key-ring.h"

#define APPENDS 64u /* others are put in meanwhile, again and again */
#define HEAD ((uint64_t)1 << 24)
#define HASH ((uint64_t)UINT16_MAX << 8)

struct ring key_rings[RINGS];

void rings_reset(void) {
  for (uint32_t i = 0; i < RINGS; i++)
    if (key_rings[i].state != 0) /* no memory is touched that never was */
      memset(&key_rings[i], 0, sizeof key_rings[i]);
}

static uint64_t state_of(const struct ring *r) {
  return __atomic_load_n(&r->state, __ATOMIC_SEQ_CST);
}

static bool state_moves(struct ring *r, uint64_t from, uint64_t to) {
  return swapped(&r->state, &from, to, SEQ_CST);
}

/* Both go round at the word's end, and the count is RING at most: nothing carries. */
static uint64_t tail_of(uint64_t state) {
  return (state + (uint8_t)state * HEAD) / HEAD;
}
static uint64_t tail_moved(uint64_t state) {
  return state + 1;
}
static uint64_t head_moved(uint64_t state) {
  return state + HEAD - 1;
}

static bool is_of(uint64_t state, uint32_t hash) {
  return (uint16_t)(state >> 8) == hash >> 16;
}

static bool lives(uint64_t entry) {
  return entry != 0 && entered(entry) != NULL;
}

/* The entry stands at the place of this tail. Its ring is of this hash still, or it was taken back.
 */
static bool published(struct ring *r, uint64_t *place, uint64_t entry, uint32_t hash,
                      uint64_t tail) {
  for (;;) {
    uint64_t state = state_of(r);
    if (!is_of(state, hash)) {
      swapped(place, &entry, 0, SEQ_CST);
      return false;
    }
    if (tail_of(state) != tail || state_moves(r, state, tail_moved(state)))
      return true;
  }
}

static void trim(struct ring *r) {
  for (;;) {
    uint64_t state = state_of(r);
    if ((uint8_t)state == 0 || ring_future(r, state, 0) != NULL)
      return;
    state_moves(r, state, head_moved(state));
  }
}

void ring_trim(uint32_t hash) {
  if (ring_holds(hash))
    trim(ring_for(hash));
}

void ring_forget(uint32_t hash, const struct aprof_future *f) {
  struct ring *r = ring_for(hash);
  for (uint32_t i = 0; i < RING; i++) {
    uint64_t entry = entry_of(f);
    if (__atomic_load_n(&r->entry[i], __ATOMIC_RELAXED) == entry)
      swapped(&r->entry[i], &entry, 0, SEQ_CST);
  }
}

bool ring_append(uint32_t hash, const struct aprof_future *f) {
  struct ring *r = ring_for(hash);
  uint64_t entry = entry_of(f);
  for (unsigned i = 0; i < APPENDS; i++) {
    uint64_t state = state_of(r), tail = tail_of(state);
    uint8_t count = (uint8_t)state;
    uint64_t *place = &r->entry[tail % RING], seen = __atomic_load_n(place, __ATOMIC_SEQ_CST);
    if (state_of(r) != state)
      continue;
    if (count == RING || (!is_of(state, hash) && count != 0)) {
      /* What ended with its epoch may be there still, or at the same moment as another one. */
      trim(r);
      if (state_of(r) == state)
        return false;
    } else if (lives(seen))
      state_moves(r, state, tail_moved(state));
    else if (!is_of(state, hash))
      state_moves(r, state, (state & ~HASH) | (uint64_t)(hash >> 16) << 8);
    else if (swapped(place, &seen, entry, SEQ_CST))
      return published(r, place, entry, hash, tail);
  }
  return false;
}
