/* SPDX-License-Identifier: MIT */
/*
 * From keys to futures; see key.c. Any thread, inside an event.
 *
 * Words of (hash, record) in segments of a directory: fast events look at the first
 * place that a key can have, everything else is behind these functions.
 */
#ifndef APROF_RT_KEY_H
#define APROF_RT_KEY_H

#include "key-segments.h"
#include "rt/file/directory.h"

#pragma GCC visibility push(hidden)

extern struct directory *key_directory; /* of key segments; atomic, never NULL */

/* A key's first place are its lowest bits, its segment the highest. A product's bit depends on no
   higher one of its factors: so the second word is multiplied, too (turned, it left futures of one
   object and many addresses at one place). Equal steps from address to address stay equal in a
   product by a constant, and may become long runs of places; not so in this one. */
static inline uint32_t key_hash(uint64_t key0, uint64_t key1) {
  uint64_t both = key0 + key1 * (uint64_t)-0x61c8864f;
  return (uint32_t)(both * (both ^ 0x9e3779b97f4a7c15ull) >> 32);
}

struct key_search {
  uint64_t key0, key1;
  uint32_t ns, hash;          /* APROF_NS_ANY: of any namespace */
  struct aprof_future *after; /* looks behind this one, or NULL */
  bool oldest, free;          /* the oldest, that no bracket holds; else the first */
  uint32_t lease;             /* ... or one of this thread's does */
  bool queued;                /* some stand in a queue */
  struct aprof_future *found;
  uint32_t cell, place; /* where it stands in its queue; 0: in none */
  uint64_t entry;
};
struct aprof_future *key_search(struct key_search *s);

static inline struct key_search key_searching(uint64_t key0, uint64_t key1, uint32_t ns) {
  return (struct key_search){key0, key1, ns, .hash = key_hash(key0, key1)};
}

/* The first of the key (after: NULL), and those behind it one by one: thousands of equal
   keys cost as many steps. */
struct aprof_future *key_next(struct key_search *s, struct aprof_future *after);
static inline struct aprof_future *key_find(uint64_t key0, uint64_t key1, uint32_t ns) {
  struct key_search s = key_searching(key0, key1, ns);
  return key_next(&s, NULL);
}

/* The id of f, found by this key; 0: another thread has just ended it. */
static inline uint64_t key_id(const struct aprof_future *f, uint64_t key0, uint64_t key1) {
  uint64_t id = __atomic_load_n(&f->id, __ATOMIC_ACQUIRE); /* before the key is looked at */
  return likely(f->key0 == key0 && f->key1 == key1 && (f->flags & APROF_F_KEYED)) ? id : 0;
}

/* Of equal keys the first in is the first out. The oldest that no bracket holds: `taken`, no other
   thread takes it, and its `open` is 1. Rather than that: `rather`, which may be NULL, if it is one
   of these; or an older one of `lease`, which is not taken. If others hold them all, any. */
struct aprof_future *key_take(const struct thread *t, struct key_search *wanted,
                              struct aprof_future *rather, bool *taken);

/* Where a future of that hash can be put, the first such place: its segment and what stands there.
   NULL: some future may have the key, or there is no room. */
uint64_t *key_vacancy(uint32_t hash, struct key_segment **segment, uint64_t *seen);
/* That word, of hash and record, which may stand in a segment that is being replaced; the record,
   which another thread may have by now, is not looked at. False: no memory. */
bool key_put(uint64_t word);
/* The record's key and namespace are set; KEYED is set by this. False without memory:
   the future lives, but no key finds it. */
bool key_insert(struct aprof_future *f);
bool key_insert_equal(struct aprof_future *f); /* others may have the key, and keep it */
bool key_insert_again(struct aprof_future *f); /* it has given its key up and has it back */
void key_remove(struct aprof_future *f);
/* No look-up finds f by this key any more; false: it stands among equal ones, and is left
   there. The record, which may be another thread's to write, is not touched. */
bool key_withdraw(const struct aprof_future *f, uint64_t key0, uint64_t key1);
void key_reset(void);

#pragma GCC visibility pop

#endif
