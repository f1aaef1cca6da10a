/*
 * The calling-context tree: append only, one for the process. Found through a
 * cache per thread; here is what happens on a miss.
 */
#include <string.h>

#include "rt.h"

/* Where paths go that there is no room for: a function and an await beneath it. */
#define OTHER_NODE 1u
#define OTHER_AWAIT 2u

struct node_slot {
  uint32_t parent, site_and_kind, node;
};

static struct node_slot *table; /* open addressing by (parent, site); rt.lock */
static uint32_t table_size, table_used;

void node_reset(void) {
  memset(rt.node_segments, 0, sizeof rt.node_segments);
  table = NULL;
  table_size = table_used = 0;
}

static struct aprof_node *node_at(uint32_t node) {
  return &rt.node_segments[node / NODE_CHUNK][node % NODE_CHUNK];
}

static uint32_t slot_of(uint32_t parent, uint32_t key, uint32_t size) {
  uint64_t h = ((uint64_t)parent << 32 | key) * 0x9e3779b97f4a7c15ull;
  return (uint32_t)(h >> 40) & (size - 1);
}

static struct node_slot *table_slot(struct node_slot *in, uint32_t size, uint32_t parent,
                                    uint32_t key) {
  uint32_t slot = slot_of(parent, key, size);
  while (in[slot].node != 0 && (in[slot].parent != parent || in[slot].site_and_kind != key))
    slot = (slot + 1) & (size - 1);
  return &in[slot];
}

static bool table_grow(void) {
  uint32_t size = table_size ? table_size * 2 : 1024;
  struct node_slot *grown = arena_chunk(APROF_CHUNK_PRIVATE, 0, 0, size, sizeof *grown);
  if (grown == NULL)
    return false;
  for (uint32_t i = 0; i < table_size; i++)
    if (table[i].node != 0)
      *table_slot(grown, size, table[i].parent, table[i].site_and_kind) = table[i];
  table = grown;
  table_size = size;
  return true;
}

static struct aprof_node *segment_for(uint32_t node) {
  struct aprof_node **segment = &rt.node_segments[node / NODE_CHUNK];
  if (*segment == NULL) {
    struct aprof_node *fresh = arena_chunk(APROF_CHUNK_NODES, 0, node / NODE_CHUNK * NODE_CHUNK,
                                           NODE_CHUNK, sizeof *fresh);
    if (fresh == NULL)
      return NULL;
    arena_publish(fresh, APROF_CHUNK_NODES);
    *segment = fresh;
  }
  return *segment;
}

/* A recursion folds onto the first occurrence of its function on the path. */
static uint32_t folded(uint32_t parent, uint32_t site) {
  for (uint32_t n = parent; n != 0; n = node_at(n)->parent)
    if (node_at(n)->site == site)
      return n;
  return 0;
}

static uint32_t node_new(uint32_t parent, uint32_t site, uint32_t kind) {
  uint32_t node = rt.header->nodes + 1;
  struct aprof_node *n;
  if (site == 0 || node >= rt.nodes_cap || segment_for(node) == NULL) {
    __atomic_fetch_add(&rt.header->other_nodes, 1, __ATOMIC_RELAXED);
    return kind != APROF_NODE_FUNCTION ? OTHER_AWAIT : OTHER_NODE;
  }
  n = node_at(node);
  n->parent = parent;
  n->is_await = kind;
  publish_fence();
  n->site = site;
  __atomic_store_n(&rt.header->nodes, node, __ATOMIC_RELEASE);
  return node;
}

/* (other) must exist before it is needed. */
bool node_start(void) {
  rt_lock();
  bool ok = segment_for(OTHER_NODE) != NULL && table_grow();
  if (ok) {
    node_at(OTHER_AWAIT)->parent = OTHER_NODE;
    node_at(OTHER_AWAIT)->is_await = 1;
    rt.header->nodes = OTHER_AWAIT;
  }
  rt_unlock();
  return ok;
}

static uint32_t find_locked(uint32_t parent, uint32_t site, uint32_t kind) {
  uint32_t key = site << 2 | kind;
  if (table_used * 4 >= table_size * 3 && !table_grow())
    return kind != APROF_NODE_FUNCTION ? OTHER_AWAIT : OTHER_NODE;
  struct node_slot *slot = table_slot(table, table_size, parent, key);
  if (slot->node != 0)
    return slot->node;
  uint32_t node = kind != APROF_NODE_FUNCTION ? 0 : folded(parent, site);
  if (node != 0)
    __atomic_fetch_add(&rt.header->folded_nodes, 1, __ATOMIC_RELAXED);
  else
    node = node_new(parent, site, kind);
  *slot = (struct node_slot){parent, key, node};
  table_used++;
  return node;
}

uint32_t node_of_site_slow(uint32_t parent, uint32_t site, uint32_t kind) {
  rt_lock();
  uint32_t node = find_locked(parent, site, kind);
  rt_unlock();
  return node;
}

/* Where a thread counts when there is no memory for its own counters: never
   read, so that the hot path needs no test. */
static struct aprof_counters nowhere[NODE_SEGMENT];

bool counters_lost(const struct aprof_counters *c) {
  return c >= nowhere && c < nowhere + NODE_SEGMENT;
}

/* The fast events' shortcuts: a wait that ends finds its function there. */
struct aprof_counters *await_known(struct thread *t, uint32_t await) {
  struct aprof_counters *a = counters_of(t, await);
  if (a->await.function != 0 || counters_lost(a))
    return a;
  struct aprof_counters *c = counters_of(t, node_at(await)->parent);
  a->await.site = node_site(await);
  a->await.node = await;
  a->await.function = counters_lost(c) ? 0 : (uintptr_t)c;
  return a;
}

struct node_entry *node_slow(struct thread *t, uint32_t parent, struct aprof_site *site,
                             bool is_await) {
  uint32_t id = site_id(site);
  uint32_t place = parent << 1 | is_await;
  struct node_entry *e = node_entry_for(t, place, site);
  e->node = node_of_site_slow(parent, id, is_await);
  e->site = site;
  e->place = place;
  e->callee = NULL; /* was beneath another place */
  e->counters = counters_of(t, e->node);
  if (is_await)
    await_known(t, e->node);
  if (counters_lost(e->counters))
    e->site = NULL; /* looked for again each time */
  return e;
}

/* By any thread, under rt.lock: no thread is in an event of a site that went away, so
   none writes it again meanwhile. */
void node_forget_sites(struct aprof_counters **segments) {
  for (uint32_t n = 1; n <= rt.header->nodes; n++) {
    struct aprof_counters *segment = segments[n / NODE_SEGMENT];
    if (segment != NULL && node_at(n)->is_await == APROF_NODE_FUNCTION)
      __atomic_store_n(&segment[n % NODE_SEGMENT].function.last_site, 0, __ATOMIC_RELAXED);
  }
}

/* -- counters ----------------------------------------------------------------- */

struct aprof_counters *counters_slow(struct thread *t, uint32_t node) {
  uint32_t segment = node / NODE_SEGMENT;
  rt_lock();
  struct aprof_counters *c =
      arena_chunk(APROF_CHUNK_COUNTERS, t->index, segment * NODE_SEGMENT, NODE_SEGMENT, sizeof *c);
  if (c != NULL) {
    arena_publish(c, APROF_CHUNK_COUNTERS);
    t->segments[segment] = c;
  }
  rt_unlock();
  if (c == NULL) {
    __atomic_fetch_add(&rt.header->lost_events, 1, __ATOMIC_RELAXED);
    c = nowhere;
  }
  return c + node % NODE_SEGMENT;
}
