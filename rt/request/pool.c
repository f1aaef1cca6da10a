/* SPDX-License-Identifier: MIT */
/* Small records, by number; see pool.h. */
#include "pool.h"

#include "rt/file/arena.h"
#include "rt/sys/heads.h"
#include "rt/sys/lock.h"

struct pool requests = {.type = APROF_CHUNK_REQUESTS,
                        .size = sizeof(struct aprof_request),
                        .link =
                            offsetof(struct aprof_request, root)}; /* asked of the living only */
struct pool shares = {.type = APROF_CHUNK_SHARES,
                      .size = sizeof(struct aprof_share),
                      .link = offsetof(struct aprof_share, tier)}; /* and a number above that */
_Static_assert(POOL_CHUNK * POOL_CHUNKS <= 1u << 24, "a number above a tier");
_Static_assert(sizeof(struct aprof_request) == 128 && sizeof(struct aprof_share) == 64,
               "lines of the cache");

/* As many new ones as a thread takes at once, which then lie side by side: of lines that are
   written in turn by two threads a processor that fetches them in pairs has the one of another's.
 */
#define BATCH 8u

void pool_reset(struct pool *pool, uint32_t most) {
  pool->head = 0;
  pool->made = 0;
  pool->most = most < POOL_CHUNK * POOL_CHUNKS - 1 ? most : POOL_CHUNK * POOL_CHUNKS - 1;
  memset(pool->chunk, 0, sizeof pool->chunk);
}

/* One that never was, and those up to `*last`, at most so many; its chunk, if that is the first of
   it. */
static SLOW uint32_t pool_new(struct pool *pool, uint32_t batch, uint32_t *last) {
  uint32_t number = 0;
  if (__atomic_load_n(&pool->made, __ATOMIC_RELAXED) >= pool->most)
    return 0; /* each one that is lost would take the lock */
  rt_lock();
  if (pool->made < pool->most) {
    uint32_t next = pool->made + 1, i = next / POOL_CHUNK;
    if (pool->chunk[i] == NULL) {
      char *chunk = arena_chunk(pool->type, 0, i * POOL_CHUNK, POOL_CHUNK, pool->size);
      __atomic_store_n(&pool->chunk[i], chunk, __ATOMIC_RELEASE);
    }
    if (pool->chunk[i] != NULL) {
      *last = next | (batch - 1);
      *last = *last < pool->most ? *last : pool->most;
      number = next;
      __atomic_store_n(&pool->made, *last, __ATOMIC_RELAXED);
    }
  }
  rt_unlock();
  return number;
}

/* That of requests, which each takes and gives back, lies with what each counts: threads wait for
   one line less, and for none in which they look up a record. */
static uint64_t *head_of(struct pool *pool) {
  return pool == &requests ? &rt.header->free_requests : &pool->head;
}

static uint32_t *link_in(const void *pool, uint32_t link) {
  return pool_link(pool, link >> pool_shift(pool));
}

static inline uint32_t take(struct pool *pool) {
  return head_take(head_of(pool), link_in, pool) >> pool_shift(pool);
}

static inline void give(struct pool *pool, uint32_t number) {
  head_give(head_of(pool), number << pool_shift(pool), pool_link(pool, number));
}

uint32_t request_take(void) {
  uint32_t number = take(&requests), last;
  return likely(number != 0) ? number : pool_new(&requests, 1, &last);
}

void request_give(uint32_t number) {
  give(&requests, number);
}

void pool_give(struct pool *pool, uint32_t number) {
  give(pool, number);
}

uint32_t spare_new(struct pool *pool, struct spare *spare) {
  uint32_t number = take(pool), last;
  if (number == 0 && (number = pool_new(pool, BATCH, &last)) != 0)
    for (; last > number; last--)
      spare_give(pool, spare, last);
  if (unlikely(number == 0))
    __atomic_fetch_add(&rt.header->lost_shares, 1, __ATOMIC_RELAXED);
  return number;
}

void spare_return(struct pool *pool, struct spare *spare) {
  for (uint32_t number; (number = spare->first >> pool_shift(pool)) != 0;) {
    spare->first = *pool_link(pool, number);
    pool_give(pool, number);
  }
  spare->count = 0;
}
