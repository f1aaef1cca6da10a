/* SPDX-License-Identifier: MIT */
/*
 * Small records of one size, by number from 1; and those of requests and shares, which are such.
 *
 * Purpose: made in chunks of the profile, given out and taken back by any thread without a lock;
 * only what is new takes one. See pool.c. Inside an event.
 */
#ifndef APROF_RT_POOL_H
#define APROF_RT_POOL_H

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

#define POOL_CHUNK 256u
#define POOL_CHUNKS 1024u

struct pool {
  uint32_t made;       /* rt.lock */
  uint32_t most;       /* of them; a multiple of POOL_CHUNK needs no more memory */
  uint32_t type, size; /* enum aprof_chunk_type; bytes of one */
  uint32_t link;       /* where in a free one the number of the next stands */
  char *chunk[POOL_CHUNKS];
  uint64_t head; /* of the free ones, but of requests; see heads.h */
};

void pool_give(struct pool *pool, uint32_t number);
void pool_reset(struct pool *pool, uint32_t most);
static inline void *pool_at(const struct pool *pool, uint32_t number) {
  return pool->chunk[(number / POOL_CHUNK) % POOL_CHUNKS] +
         (size_t)(number % POOL_CHUNK) * pool->size;
}
/* ... where it is known what they are. */
#define POOL_AT(pool, type, number)                                                                \
  ((type *)(void *)(pool)->chunk[((number) / POOL_CHUNK) % POOL_CHUNKS] + (number) % POOL_CHUNK)

/* -- a few of them that a thread keeps for itself ---------------------------------- */

#define SPARES 16u

extern struct pool requests, shares;

/* A thread that races for a future may still write its share when that was given back: the number of
   the next one lies above what a tier can be in that word, so what is written there ends the list. */
static inline uint32_t pool_shift(const struct pool *pool) {
  return pool == &shares ? 8 : 0;
}
static inline uint32_t *pool_link(const struct pool *pool, uint32_t number) {
  return (uint32_t *)(void *)((char *)pool_at(pool, number) + pool->link);
}

/* What is new comes with some that lie behind it. 0: there is no room, which is counted. */
uint32_t spare_new(struct pool *pool, struct spare *spare);
static inline uint32_t spare_take(struct pool *pool, struct spare *spare) {
  uint32_t number = spare->first >> pool_shift(pool);
  if (unlikely(number == 0))
    return spare_new(pool, spare);
  spare->first = *pool_link(pool, number);
  spare->count--;
  return number;
}

/* A thread that ends stands in for nobody by then, and gives to everybody. */
static inline void spare_give(struct pool *pool, struct spare *spare, uint32_t number) {
  if (unlikely(spare->count >= SPARES) || unlikely(aprof_self == &thread_nobody)) {
    pool_give(pool, number);
    return;
  }
  *pool_link(pool, number) = spare->first;
  publish_fence(); /* a handler may jump out of here */
  spare->first = number << pool_shift(pool);
  spare->count++;
}
void spare_return(struct pool *pool, struct spare *spare); /* all of a thread that ends */

/* -- requests and shares --------------------------------------------------------- */

uint32_t request_take(void); /* as it was given back, or zero; 0: there is no room */
void request_give(uint32_t number);

static inline struct aprof_request *request_at(uint32_t number) {
  return POOL_AT(&requests, struct aprof_request, number);
}
/* f's share, or NULL: it has what is plain. */
static inline struct aprof_share *share_of(const struct aprof_future *f) {
  uint32_t word = __atomic_load_n(&f->request, __ATOMIC_RELAXED); /* of another thread's, perhaps */
  return word & APROF_SHARE ? POOL_AT(&shares, struct aprof_share, word & ~APROF_SHARE) : NULL;
}
/* The number of f's request; 0: it is part of none. */
static inline uint32_t request_of(const struct aprof_future *f) {
  uint32_t word = __atomic_load_n(&f->request, __ATOMIC_RELAXED);
  return word & APROF_SHARE ? POOL_AT(&shares, struct aprof_share, word & ~APROF_SHARE)->request
                            : word;
}
/* Begun without a root; not so where `number` is 0. */
static inline bool request_is_implicit(uint32_t number) {
  return number != 0 && (request_at(number)->flags & APROF_REQUEST_IMPLICIT);
}
static inline bool request_lives(const struct aprof_request *r) {
  return __atomic_load_n(&r->state, __ATOMIC_ACQUIRE) == APROF_REQUEST_LIVE;
}
static inline void request_add(uint64_t *sum, uint64_t amount) {
  if (amount != 0)
    __atomic_fetch_add(sum, amount, __ATOMIC_RELAXED);
}
static inline void request_raise(uint64_t *most, uint64_t value) {
  uint64_t seen = __atomic_load_n(most, __ATOMIC_RELAXED);
  while (seen < value && !swapped(most, &seen, value, RELAXED))
    ;
}

#pragma GCC visibility pop

#endif
