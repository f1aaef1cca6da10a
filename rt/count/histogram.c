/* SPDX-License-Identifier: MIT */
/* Histograms, made at their first value: one per thread block, function, place and quantity, shared
   by all nodes of the tree that agree in those. */
#include <string.h>

#include "histogram.h"

#include "node.h"
#include "rt/file/arena.h"
#include "rt/file/map.h"
#include "rt/sys/lock.h"

#define PER_CHUNK 4u /* of 8 KB */

static struct map table;              /* from key_of() to an offset */
static uint32_t free_from, free_left; /* offset / 8 of unused ones */

void histogram_reset(void) {
  table = (struct map){NULL};
  free_from = free_left = 0;
}

/* The last quarter of the profile's memory is kept for what sums are made of. */
static bool may_grow(void) {
  return rt.header->used < rt.capacity / 4 * 3;
}

uint32_t histogram_new(void) {
  if (free_left == 0) {
    char *chunk = may_grow() ? arena_chunk(APROF_CHUNK_HISTOGRAMS, 0, 0, PER_CHUNK,
                                           sizeof(struct aprof_histogram))
                             : NULL;
    if (chunk == NULL)
      return 0;
    if ((uint64_t)(chunk + PER_CHUNK * sizeof(struct aprof_histogram) - rt_base()) >> 35 != 0)
      return 0; /* no offset reaches it */
    arena_publish(chunk, APROF_CHUNK_HISTOGRAMS);
    free_from = (uint32_t)((uint64_t)(chunk - rt_base()) >> 3);
    free_left = PER_CHUNK;
  }
  uint32_t offset = free_from;
  free_from += sizeof(struct aprof_histogram) >> 3;
  free_left--;
  return offset;
}

static void forget(uint64_t key, uint32_t offset, void *block) {
  if (key >> 52 == (*(uint32_t *)block & 0xfff))
    memset(rt_base() + ((uint64_t)offset << 3), 0, sizeof(struct aprof_histogram));
}

/* A block's counters start from zero again, so do their histograms: the same ones
   will be found for the same places. By the thread that leases the block. */
void histogram_forget(uint32_t block) {
  rt_lock();
  map_each(&table, forget, &block);
  rt_unlock();
}

/* Which histogram: block 12 bits, quantity 4, function site 24, place's site 24. Of
   one site there may be an await and a waker, which are different quantities. */
static uint64_t key_of(const struct thread *t, uint32_t node, uint32_t which) {
  const struct aprof_node *n = &rt.node_segments[node / NODE_CHUNK][node % NODE_CHUNK];
  uint64_t function = n->site, await = 0;
  if (n->is_await) {
    await = n->site;
    function = node_site(function_node(n->parent));
  }
  if (n->is_await > APROF_NODE_AWAIT)
    which += n->is_await - APROF_NODE_AWAIT;
  return (uint64_t)(t->index & 0xfff) << 52 | (uint64_t)which << 48 | (function & 0xffffff) << 24 |
         (await & 0xffffff);
}

/* Where they are mapped, for the fast events, beside the offset in the same counters. */
static void show_buckets(uint32_t *offset, uint32_t node, uint32_t which, uint64_t mapped) {
#define COUNTERS_OF(member)                                                                        \
  ((struct aprof_counters *)(void *)((char *)offset - offsetof(struct aprof_counters, member)))
  struct aprof_counters *c;
  switch (which) {
  case OF_EXEC: /* made just before that of wall */
    break;
  case OF_WALL:
    c = COUNTERS_OF(function.wall_histogram);
    if (c->function.exec_histogram <= 1)
      break;
    c->function.exec_buckets = (uintptr_t)(rt_base() + ((uint64_t)c->function.exec_histogram << 3));
    c->function.wall_buckets = mapped;
    break;
  case OF_SLICE:
    COUNTERS_OF(function.slice_histogram)->function.slice_buckets = mapped;
    break;
  case OF_QUEUED:
    COUNTERS_OF(function.queued_histogram)->function.queued_buckets = mapped;
    break;
  case OF_WAITING:
    if (await_ends_fast(node))
      COUNTERS_OF(await.histogram)->await.buckets = mapped;
    break;
  }
#undef COUNTERS_OF
}

uint64_t *histogram_slow(struct thread *t, uint32_t node, uint32_t which, uint32_t *offset) {
  uint32_t found = 1;
  if (!rt.histograms) {
    *offset = found;
    return NULL;
  }
  if (counters_lost((const struct aprof_counters *)(const void *)offset))
    return NULL; /* they stand for any node: they must not learn one's histogram */
  uint64_t key = key_of(t, node, which);
  rt_lock();
  if (table.directory != NULL || map_start(&table)) {
    uint32_t known = map_find(&table, key);
    if (known == 0 && (known = histogram_new()) != 0 && !map_add(&table, key, known))
      known = 0;
    if (known != 0)
      found = known;
  }
  *offset = found;
  if (found != 1)
    show_buckets(offset, node, which, (uintptr_t)(rt_base() + ((uint64_t)found << 3)));
  rt_unlock();
  if (found == 1) {
    __atomic_fetch_add(&rt.header->lost_histograms, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  return (uint64_t *)(rt_base() + ((uint64_t)found << 3));
}
