/* SPDX-License-Identifier: MIT */
/* Futures of equal keys, all but the first of each: queues of entries; see key.c. rt.lock held, but
   for look-ups. */
#ifndef APROF_RT_KEY_QUEUE_H
#define APROF_RT_KEY_QUEUE_H

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

#define ENTRIES 14u

/* Of 128 bytes, in chunks of its own; numbered like futures. */
union cell {
  struct queue {
    uint32_t first, last;    /* cells of entries */
    uint32_t entries, ended; /* in all of them; of these, seen to end */
  } queue;
  struct entries {
    uint32_t next;
    uint16_t from, until;
    uint64_t entry[ENTRIES]; /* serial << 32 | index */
  } entries;
  uint32_t next; /* free */
  char size[128];
};

static inline union cell *cell_at(uint32_t index) {
  return (union cell *)future_at(index);
}

static inline uint64_t entry_of(const struct aprof_future *f) {
  return f->id << 32 | index_of(f);
}

/* The future of an entry, while it lives in this epoch and can still be found by a key. */
HINT static inline struct aprof_future *entered(uint64_t entry) {
  struct aprof_future *f = future_at((uint32_t)entry);
  uint64_t id = f->id;
  return id != 0 && (uint32_t)id == entry >> 32 &&
                 (uint16_t)(id >> 48) == (uint16_t)rt.header->epoch && (f->flags & APROF_F_KEYED)
             ? f
             : NULL;
}

uint32_t cell_new(void); /* zeroed; 0: no memory */
void cell_free(uint32_t index);
/* False: no memory. */
bool queue_append(struct queue *q, uint64_t entry);

/* Drops what has ended: at the front, and everywhere once it is half of all, so that each entry is
   moved a few times in its life and cells come free as fast as they are taken. True: some entries
   are left. */
bool queue_trim(struct queue *q);

void queues_reset(void);

#pragma GCC visibility pop

#endif
