/*
 * Histograms, made at their first value: one per thread block, function, place
 * and quantity, shared by all nodes of the tree that agree in those.
 */
#include <string.h>

#include "rt.h"

#define PER_CHUNK 8u /* of 8 KB */

struct histogram_slot {
  uint64_t key;
  uint32_t offset, unused;
};

static struct histogram_slot *table; /* open addressing; rt.lock */
static uint32_t table_size, table_used;
static uint32_t free_from, free_left; /* offset / 8 of unused ones */

void histogram_reset(void) {
  table = NULL;
  table_size = table_used = 0;
  free_from = free_left = 0;
}

static struct histogram_slot *table_slot(struct histogram_slot *in, uint32_t size, uint64_t key) {
  uint32_t slot = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 40) & (size - 1);
  while (in[slot].key != 0 && in[slot].key != key)
    slot = (slot + 1) & (size - 1);
  return &in[slot];
}

static bool table_grow(void) {
  uint32_t size = table_size ? table_size * 2 : 256;
  struct histogram_slot *grown = arena_chunk(APROF_CHUNK_PRIVATE, 0, 0, size, sizeof *grown);
  if (grown == NULL)
    return false;
  for (uint32_t i = 0; i < table_size; i++)
    if (table[i].key != 0)
      *table_slot(grown, size, table[i].key) = table[i];
  table = grown;
  table_size = size;
  return true;
}

static uint32_t histogram_new(void) {
  if (free_left == 0) {
    char *chunk = arena_chunk(APROF_CHUNK_HISTOGRAMS, 0, 0, PER_CHUNK,
                              sizeof(struct aprof_histogram));
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

/* A block's counters start from zero again, so do their histograms: the same ones
   will be found for the same places. By the thread that leases the block. */
void histogram_forget(uint32_t block) {
  rt_lock();
  for (uint32_t i = 0; i < table_size; i++)
    if (table[i].key != 0 && table[i].key >> 52 == (block & 0xfff))
      memset(rt_base() + ((uint64_t)table[i].offset << 3), 0, sizeof(struct aprof_histogram));
  rt_unlock();
}

/* Which histogram: block 12 bits, quantity 4, function site 24, place's site 24. Of
   one site there may be an await and a waker, which are different quantities. */
static uint64_t key_of(const struct thread *t, uint32_t node, uint32_t which) {
  const struct aprof_node *n = &rt.node_segments[node / NODE_CHUNK][node % NODE_CHUNK];
  uint64_t function = n->site, await = 0;
  if (n->is_await) {
    await = n->site;
    function = node_site(n->parent);
  }
  if (n->is_await > APROF_NODE_AWAIT)
    which += n->is_await - APROF_NODE_AWAIT;
  return (uint64_t)(t->index & 0xfff) << 52 | (uint64_t)which << 48 |
         (function & 0xffffff) << 24 | (await & 0xffffff);
}

uint64_t *histogram_slow(struct thread *t, uint32_t node, uint32_t which, uint32_t *offset) {
  uint32_t found = 1;
  if (!rt.histograms) {
    *offset = found;
    return NULL;
  }
  if (counters_lost((const struct aprof_counters *)(const void *)offset))
    return NULL; /* they stand for any node: they must not learn one's histogram */
  rt_lock();
  if (table_used * 4 < table_size * 3 || table_grow()) {
    struct histogram_slot *slot = table_slot(table, table_size, key_of(t, node, which));
    if (slot->key == 0) {
      uint32_t fresh = histogram_new();
      if (fresh != 0) {
        *slot = (struct histogram_slot){key_of(t, node, which), fresh, 0};
        table_used++;
      }
    }
    if (slot->key != 0)
      found = slot->offset;
  }
  *offset = found;
  rt_unlock();
  if (found == 1) {
    __atomic_fetch_add(&rt.header->lost_histograms, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  return (uint64_t *)(rt_base() + ((uint64_t)found << 3));
}
