/* SPDX-License-Identifier: MIT */
/* The calling-context tree: append only, one for the process. Found through a cache per thread;
   here is what happens on a miss. Only what is new takes the lock. */
#include <string.h>

#include "node.h"

#include "rt/file/arena.h"
#include "rt/file/map.h"
#include "rt/sys/lock.h"

static struct map paths; /* from (parent, site and kind) to a node */

static uint64_t path(uint32_t parent, uint32_t site, uint32_t kind) {
  return (uint64_t)parent << 32 | site << 3 | kind;
}

void node_reset(void) {
  memset(rt.node_segments, 0, sizeof rt.node_segments);
  paths = (struct map){NULL};
}

static struct aprof_node *segment_for(uint32_t node) {
  struct aprof_node **segment = &rt.node_segments[node / NODE_CHUNK];
  if (*segment == NULL)
    *segment = arena_chunk(APROF_CHUNK_NODES, 0, node / NODE_CHUNK * NODE_CHUNK, NODE_CHUNK,
                           sizeof **segment);
  return *segment;
}

/* A recursion folds onto the first occurrence of its function on the path; one of a span, onto that
   in its own function. */
static uint32_t folded(uint32_t parent, uint32_t site, uint32_t kind) {
  for (uint32_t n = parent; n != 0; n = node_at(n)->parent) {
    if (kind == APROF_NODE_SPAN && node_at(n)->is_await != APROF_NODE_SPAN)
      break;
    if (node_at(n)->site == site)
      return n;
  }
  return 0;
}

static uint32_t node_new(uint32_t parent, uint32_t site, uint32_t kind) {
  uint32_t node = rt.header->nodes + 1;
  struct aprof_node *n;
  if (kind == APROF_NODE_DELAYED && rt.header->delays++ >= APROF_DELAYS) {
    rt.header->delays = APROF_DELAYS;
    return OTHER_AWAIT; /* who asks counts it */
  }
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
  bool ok = segment_for(OTHER_NODE) != NULL && map_start(&paths);
  if (ok) {
    node_at(OTHER_AWAIT)->parent = OTHER_NODE;
    node_at(OTHER_AWAIT)->is_await = 1;
    rt.header->nodes = OTHER_AWAIT;
  }
  rt_unlock();
  return ok;
}

/* A path seen for the first time, unless another thread was faster. */
static SLOW uint32_t node_add(uint32_t parent, uint32_t site, uint32_t kind) {
  rt_lock();
  uint32_t node = map_find(&paths, path(parent, site, kind));
  if (node == 0) {
    bool folds = kind == APROF_NODE_FUNCTION || kind == APROF_NODE_SPAN;
    node = folds ? folded(parent, site, kind) : 0;
    if (node != 0)
      __atomic_fetch_add(&rt.header->folded_nodes, 1, __ATOMIC_RELAXED);
    else
      node = node_new(parent, site, kind);
    if (kind != APROF_NODE_DELAYED || node != OTHER_AWAIT)
      map_add(&paths, path(parent, site, kind), node);
  }
  rt_unlock();
  return node;
}

uint32_t node_of_site_slow(uint32_t parent, uint32_t site, uint32_t kind) {
  uint32_t node = map_find(&paths, path(parent, site, kind));
  return likely(node != 0) ? node : node_add(parent, site, kind);
}

/* Where a thread counts when there is no memory for its own counters: never
   read, so that the hot path needs no test. */
struct aprof_counters nowhere[NODE_SEGMENT];

bool counters_lost(const struct aprof_counters *c) {
  return c >= nowhere && c < nowhere + NODE_SEGMENT;
}

bool node_in_background(uint32_t await) {
  uint32_t site = node_site(await), above = node_site(function_node(node_at(await)->parent));
  if (site == 0 || above == 0)
    return false;
  const struct aprof_psite *place = site_record(site), *function = site_record(above);
  bool its_own = function->model == APROF_MODEL_STACK || place->kind == APROF_SITE_CREATE ||
                 site == above || site == function->alias;
  return (place->flags & APROF_BACKGROUND) || (its_own && (function->flags & APROF_BACKGROUND));
}

static bool at_tiered_create(uint32_t await) {
  uint32_t site = node_site(await);
  return site != 0 && site_record(site)->kind == APROF_SITE_CREATE && site_record(site)->tier != 0;
}

bool await_is_apart(uint32_t await) {
  return node_begins_request(await) || at_tiered_create(await);
}

bool await_in_span(uint32_t await) {
  return node_at(node_at(await)->parent)->is_await == APROF_NODE_SPAN;
}

/* With the fast events' shortcuts: a wait that ends finds its function there. OTHER_AWAIT has none:
   its waits are of any function. */
struct aprof_counters *await_known(struct thread *t, uint32_t await) {
  if (unlikely(await == 0))
    await = OTHER_AWAIT; /* only where threads race for a future: not known, then */
  struct aprof_counters *a = counters_of(t, await);
  if (a->await.function != 0 || counters_lost(a))
    return a;
  struct aprof_counters *c = counters_of(t, node_at(await)->parent);
  bool lacks = counters_lost(c) || await == OTHER_AWAIT;
  a->await.own = own_site(node_site(node_at(await)->parent));
  a->await.site = node_site(await);
  a->await.node = await;
  a->await.function = lacks ? 0 : (uintptr_t)c;
  if (!lacks)
    a->await.apart = node_in_background(await) || at_tiered_create(await);
  return a;
}

/*
 * A thread's cache of paths is as large as it has use for: a program of hundreds of functions, in
 * which few are called twice in a row, would find nothing in a small one, and each of its events
 * would be a general one. Each entry has two places, side by side.
 */
static bool is_free(const struct node_entry *e) {
  return e->site == NULL;
}

static struct node_entry *place_for(struct thread *t, uint32_t place, struct aprof_site *site) {
  struct node_entry *e = node_entry_for(t, place, site), *beside = node_entry_beside(e);
  if (is_free(e) || (e->site == site && e->place == place))
    return e;
  if (beside->site == site && beside->place == place)
    return beside;
  t->cache_shared++;
  *beside = *e; /* the older one goes */
  return e;
}

/* Four times, once an eighth of its entries has had to share the first place. Under the lock, since
   who takes a module away looks at all threads' entries. */
static SLOW void cache_grow(struct thread *t) {
  uint32_t count = t->paths / (uint32_t)sizeof *t->cache + 1;
  t->cache_shared = 0;
  if (count >= NODE_CACHE_MOST || rt.header->used > rt.capacity / 4 * 3)
    return; /* the rest is for what sums are made of */
  rt_lock();
  const struct node_entry *old = t->cache;
  struct node_entry *larger = arena_chunk(APROF_CHUNK_PRIVATE, 0, 0, 4 * count, sizeof *larger);
  if (larger != NULL) {
    t->cache = larger;
    t->paths = (uint32_t)((4 * count - 1) * sizeof *larger);
    for (uint32_t i = 0; i < count; i++)
      if (!is_free(&old[i]))
        *place_for(t, old[i].place, old[i].site) = old[i];
  }
  rt_unlock();
}

void node_cache_clear(struct thread *t) {
  t->cache_shared = 0;
  if (t->cache == NULL) { /* memory that is new, or wiped: its pages come as they are needed */
    t->cache = t->first_cache;
    t->paths = sizeof t->first_cache - sizeof *t->first_cache;
    return;
  }
  memset(t->cache, 0, t->paths + sizeof *t->cache);
}

struct node_entry *node_keep(struct thread *t, uint32_t place, struct aprof_site *site,
                             uint32_t node) {
  if (unlikely(t->cache_shared > t->paths / (8 * sizeof *t->cache)))
    cache_grow(t);
  struct node_entry *e = place_for(t, place, site);
  *e = (struct node_entry){
      .site = site, .place = place, .node = node, .counters = counters_of(t, node)};
  if (counters_lost(e->counters))
    e->site = NULL; /* looked for again each time */
  else if (!(place & 1))
    function_known(e->counters, node);
  return e;
}

struct node_entry *node_slow(struct thread *t, uint32_t parent, struct aprof_site *site,
                             bool is_await) {
  uint32_t node = node_of_site_slow(parent, site_id(site), is_await);
  if (is_await)
    await_known(t, node);
  return node_keep(t, parent << 1 | is_await, site, node);
}

/* At an odd address. */
struct node_entry *root_slow(struct thread *t, uint32_t parent, struct aprof_site *site) {
  struct aprof_site *key = (struct aprof_site *)((uintptr_t)site + 1);
  struct node_entry *e = node_cached(t, parent << 1, key);
  if (likely(e != NULL) && site_known(site))
    return e;
  return node_keep(t, parent << 1, key, node_of_site_slow(parent, site_id(site), false));
}

struct node_entry *span_slow(struct thread *t, uint32_t parent, struct aprof_site *site) {
  uint32_t node = node_of_site_slow(parent, site_id(site), APROF_NODE_SPAN);
  return node_at(node)->is_await == APROF_NODE_SPAN ? node_keep(t, parent << 1, site, node) : NULL;
}

void node_shared(uint32_t node) {
  if (node != 0) /* 0: a worker's slice */
    __atomic_store_n(&node_at(node)->shared, rt.header->epoch, __ATOMIC_RELAXED);
}

/* By any thread, under rt.lock: no thread is in an event of a site that went away, so
   none writes it again meanwhile. */
void node_forget_sites(struct aprof_counters **segments) {
  for (uint32_t n = 1; n <= rt.header->nodes; n++) {
    struct aprof_counters *segment = segments[n / NODE_SEGMENT];
    uint32_t kind = node_at(n)->is_await;
    if (segment != NULL && (kind == APROF_NODE_FUNCTION || kind == APROF_NODE_SPAN))
      __atomic_store_n(&segment[n % NODE_SEGMENT].function.last_site, 0, __ATOMIC_RELAXED);
  }
}

/* -- counters ----------------------------------------------------------------- */

struct aprof_counters *counters_slow(struct thread *t, uint32_t node) {
  uint32_t segment = node / NODE_SEGMENT;
  rt_lock();
  struct aprof_counters *c =
      arena_chunk(APROF_CHUNK_COUNTERS, t->index, segment * NODE_SEGMENT, NODE_SEGMENT, sizeof *c);
  if (c != NULL)
    t->segments[segment] = c;
  rt_unlock();
  if (c == NULL) {
    __atomic_fetch_add(&rt.header->lost_events, 1, __ATOMIC_RELAXED);
    c = nowhere;
  }
  return c + node % NODE_SEGMENT;
}
