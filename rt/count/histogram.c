/* SPDX-License-Identifier: MIT */
/*
 * Histograms, made at their first value: one per thread block, function, place and quantity, shared
 * by all nodes of the tree that agree in those.
 *
 * One begins with room for few values, and then has buckets up to the octave of the greatest one,
 * rounded up: most functions of a thread are called a few times, and the time of one has a
 * few octaves at most. It grows by another one in its place, under rt.lock. Nodes that count into
 * the one before find that out when they meet a value that this has no bucket for; until the last
 * of them has, both are there, and then what the old one has counted is added to the new one.
 *
 * Counts have 16 bits. What is carried over goes, once in 65536, to a table beside it.
 */
#include "histogram.h"

#include "buckets.h"
#include "govern.h"
#include "node.h"
#include "rt/file/map.h"
#include "rt/sys/lock.h"

static struct map table; /* from key_of() to an offset / 8 */

void histogram_reset(void) {
  table = (struct map){NULL};
  buckets_reset();
}

/* -- which one --------------------------------------------------------------------- */

/* Which histogram: block 12 bits, quantity 4, function site 24, place's site 24. Of
   one site there may be an await and a waker, which are different quantities. */
static uint64_t key_of(const struct thread *t, uint32_t node, uint32_t which) {
  const struct aprof_node *n = node_at(node);
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

/* `older` is in nobody's counters any more; all that grew from it are found from the newest. */
static void forget_older(struct aprof_buckets *newest, struct aprof_buckets *older) {
  struct aprof_buckets *h = newest;
  while (h->older != offset_of(older))
    h = at_offset(h->older);
  h->older = older->older;
  buckets_free(older);
}

/* Counters that had `before`, or none, count into the newest one. */
static void moves(uint64_t *where, struct aprof_buckets *before, struct aprof_buckets *newest) {
  bool last = before != NULL && --before->users == 0;
  if (last)
    buckets_add_up(newest, before);
  newest->users++;
  publish_fence();
  *where = (uintptr_t)newest->count - APROF_BUCKETS_BEFORE(newest->two);
  if (last)
    forget_older(newest, before);
}

static struct aprof_buckets *newest_of(uint64_t key, bool two) {
  if (table.directory == NULL && !map_start(&table))
    return NULL;
  uint32_t known = map_find(&table, key);
  if (known != 0)
    return at_offset(known);
  struct aprof_buckets *h = buckets_new(0, two);
  if (h == NULL || map_add(&table, key, offset_of(h)))
    return h;
  buckets_free(h);
  return NULL;
}

static struct aprof_buckets *grown(uint64_t key, struct aprof_buckets *h, uint32_t bucket) {
  struct aprof_buckets *larger = buckets_larger(h, bucket);
  if (larger == NULL) {
    h->full = 1;
    return NULL;
  }
  larger->older = offset_of(h);
  map_change(&table, key, offset_of(larger));
  return larger;
}

/* Threads that shed theirs have it all the same: fast events ask for it. */
static bool has_place(const struct thread *t, const struct aprof_buckets *h, uint32_t bucket) {
  return likely(h->octaves != 0) ? bucket >> 4 < h->octaves
                                 : h->few < APROF_FEW && t->shed == APROF_STEP_NONE;
}

/* The one where these counters, which have `before` or none, count a value of that bucket. */
static SLOW struct aprof_buckets *find_place(struct thread *t, uint32_t node, uint32_t which,
                                             uint64_t *where, struct aprof_buckets *before,
                                             uint32_t bucket) {
  uint64_t key = key_of(t, node, which);
  rt_lock();
  struct aprof_buckets *h = newest_of(key, which == OF_ENDED);
  if (h == NULL) {
    *where = 1;
    buckets_lost();
  } else if (!has_place(t, h, bucket)) {
    bool said = h->full;
    struct aprof_buckets *larger = said ? NULL : grown(key, h, bucket);
    if (larger == NULL && !said)
      buckets_lost();
    if (larger != NULL && h->users == 0) /* new, or from zero again */
      forget_older(larger, h);
    h = larger;
  }
  if (h != NULL && h != before)
    moves(where, before, h);
  rt_unlock();
  return h;
}

/* The least value that has no bucket there. */
static uint64_t reach(const struct aprof_buckets *h) {
  return h->octaves == 0 ? 0 : (uint64_t)1 << ((h->octaves < 64 ? h->octaves : 63) - 1);
}

static uint64_t limit(const struct aprof_buckets *h, uint64_t most) {
  uint64_t end = reach(h);
  return most < end ? most + 1 : end;
}

uint64_t histogram_slice_limit(const struct aprof_counters *c) {
  return c->function.slice_buckets > 1 ? reach(buckets_named(c->function.slice_buckets, false)) : 0;
}

static uint64_t *where_of(struct aprof_counters *c, enum histogram_of which) {
  switch (which) {
  case OF_ENDED:
    return &c->function.ended_buckets;
  case OF_SLICE:
    return &c->function.slice_buckets;
  case OF_QUEUED:
    return &c->function.queued_buckets;
  default:
    return &c->await.buckets;
  }
}

static void set_limit(struct aprof_counters *c, uint32_t node, enum histogram_of which,
                      const struct aprof_buckets *h) {
  uint64_t most;
  switch (which) {
  case OF_ENDED:
    c->function.ended_limit = limit(h, c->function.wall_max);
    break;
  case OF_SLICE: /* slice.c does */
    break;
  case OF_QUEUED:
    c->function.queued_limit = reach(h);
    break;
  case OF_WAITING:
    most = await_in_span(node) ? 0 : limit(h, c->await.max);
    c->await.limit = await_is_apart(node) ? 0 : most;
    if (c->await.apart != 0)
      c->await.apart = 1 + most - c->await.limit;
    break;
  }
}

static uint32_t bucket_of(uint64_t value) {
  if (unlikely((int64_t)value < 0)) /* threads that race */
    return 0;
  return aprof_bucket_of(value < APROF_MOST ? value : APROF_MOST);
}

void histogram_value(struct thread *t, uint32_t node, enum histogram_of which,
                     struct aprof_counters *c, uint64_t value, uint64_t wall) {
  uint64_t *where = where_of(c, which);
  if (*where == 1 || counters_lost(c))
    return; /* no memory for it; or they stand for any node, and must not learn one's histogram */
  if (unlikely(!rt.histograms)) {
    *where = 1;
    return;
  }
  uint32_t bucket = bucket_of(value), second = which == OF_ENDED ? bucket_of(wall) : bucket;
  uint32_t highest = bucket > second ? bucket : second;
  struct aprof_buckets *h = *where != 0 ? buckets_named(*where, which == OF_ENDED) : NULL;
  if (h == NULL || !has_place(t, h, highest)) {
    if (h != NULL && h->full) /* counted once, and not looked for again */
      return;
    h = find_place(t, node, which, where, h, highest);
    if (h == NULL)
      return;
  }
  if (likely(t->shed == APROF_STEP_NONE)) {
    if (h->octaves != 0) {
      buckets_count(h, bucket << h->two);
      if (h->two)
        buckets_count(h, second << 1 | 1);
    } else {
      h->count[h->few << h->two] = (uint16_t)bucket;
      h->count[(h->few << h->two) + h->two] = (uint16_t)second;
      publish_fence();
      h->few++;
    }
  }
  set_limit(c, node, which, h);
}

void histogram_take_back(struct thread *t, struct aprof_counters *c, uint64_t length) {
  uint32_t bucket = bucket_of(length);
  if (c->function.slice_buckets <= 1 || unlikely(t->shed != APROF_STEP_NONE))
    return; /* no step between the two */
  struct aprof_buckets *h = buckets_named(c->function.slice_buckets, false);
  for (uint32_t i = h->few; i-- > 0;)
    if (h->count[i] == bucket) {
      h->count[i] = h->count[--h->few];
      return;
    }
  if (bucket >> 4 >= h->octaves)
    return;
  uint32_t none = 0,
           *carried = h->carried != 0 ? (uint32_t *)at_offset(h->carried) + bucket : &none;
  if (h->count[bucket] == 0 && *carried == 0)
    return;
  *carried -= h->count[bucket]-- == 0;
}

/* -- from zero again --------------------------------------------------------------- */

static void forget(uint64_t key, uint32_t offset, void *block) {
  if (key >> 52 != (*(uint32_t *)block & 0xfff))
    return;
  struct aprof_buckets *h = at_offset(offset);
  while (h->older != 0)
    forget_older(h, at_offset(h->older));
  buckets_empty(h);
}

/* A block's counters start from zero again, and have no histograms: the same ones will be found for
   the same places. By the thread that leases the block. */
void histogram_forget(uint32_t block) {
  rt_lock();
  map_each(&table, forget, &block);
  rt_unlock();
}
