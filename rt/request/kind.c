/* SPDX-License-Identifier: MIT */
/*
 * Kinds: what requests of one label and function had, each counted once, when it is over.
 *
 * A thread adds to its part of a kind, which is its block's, by plain additions; so ends of
 * requests of one kind wait for no line of the cache that another thread has. Where there is no
 * memory for a part all threads add to the kind's own, atomically. What is new - a kind, a part, a
 * tier of one, a histogram - is made under rt.lock, and is found without it.
 */
#include "kind.h"

#include "rt/count/buckets.h"
#include "rt/file/arena.h"
#include "rt/sys/lock.h"
#include "slow.h"
#include "tier.h"

#define SLOTS 1024u /* of the tables, at most a quarter full */
#define TIER_CHUNK 32u

static struct aprof_kind *chunks[(APROF_KINDS + APROF_KIND_CHUNK - 1) / APROF_KIND_CHUNK];
static uint16_t slots[SLOTS]; /* numbers, by label and function; 0: free */
/* What was found last: the kind of a label at that address, to be compared with it; where those of
   a kind are counted whose function is another one in the end, and those without a label, by
   function, both as `found_word`. */
#define HINTS 64u
static uint16_t hints[HINTS];
static uint64_t moved[APROF_KINDS], unlabelled[HINTS];

void kind_reset(void) {
  memset(hints, 0, sizeof hints);
  memset(moved, 0, sizeof moved);
  memset(unlabelled, 0, sizeof unlabelled);
  memset(chunks, 0, sizeof chunks);
  memset(slots, 0, sizeof slots);
}

static uint32_t hash_of(const char *label, uint32_t function, uint32_t implicit) {
  uint32_t h = 2166136261u ^ (function << 1 | implicit);
  for (; label != NULL && *label != '\0'; label++)
    h = (h ^ (unsigned char)*label) * 16777619u;
  return h * 0x9e3779b1u >> 16;
}

/* rt.lock held, or it is there. */
static struct aprof_kind *place_of(uint32_t number, bool make) {
  struct aprof_kind **chunk = &chunks[number / APROF_KIND_CHUNK];
  struct aprof_kind *all = __atomic_load_n(chunk, __ATOMIC_ACQUIRE);
  if (all == NULL && make) {
    all = arena_chunk(APROF_CHUNK_KINDS, 0, number / APROF_KIND_CHUNK * APROF_KIND_CHUNK,
                      APROF_KIND_CHUNK, sizeof *all);
    if (all == NULL)
      return NULL;
    for (uint32_t i = 0; i < APROF_KIND_CHUNK; i++)
      all[i].epoch = all[i].shared.epoch = rt.header->reset_epoch;
    arena_publish(all, APROF_CHUNK_KINDS);
    __atomic_store_n(chunk, all, __ATOMIC_RELEASE);
  }
  return all != NULL ? all + number % APROF_KIND_CHUNK : NULL;
}

struct aprof_kind *kind_at(uint32_t number) {
  struct aprof_kind *k = place_of(number, false);
  if (unlikely(k == NULL)) { /* number 0 */
    rt_lock();
    k = place_of(number, true);
    if (k != NULL && rt.header->kinds == 0)
      __atomic_store_n(&rt.header->kinds, 1, __ATOMIC_RELEASE);
    rt_unlock();
  }
  return k;
}

/* The slot of that kind, or the free one where it would be. label NULL: it has none. */
static uint32_t slot_of(const char *label, uint32_t function, uint32_t implicit) {
  uint32_t slot = hash_of(label, function, implicit) % SLOTS, number;
  for (; (number = __atomic_load_n(&slots[slot], __ATOMIC_ACQUIRE)) != 0;
       slot = (slot + 1) % SLOTS) {
    const struct aprof_kind *k = place_of(number, false);
    if (k->function == function && k->flags == implicit &&
        (label == NULL ? k->label == 0 : k->label != 0 && strcmp(at_offset(k->label), label) == 0))
      break;
  }
  return slot;
}

static SLOW uint32_t kind_new(const char *label, uint32_t function, uint32_t implicit) {
  if (kind_at(0) == NULL || __atomic_load_n(&rt.header->kinds, __ATOMIC_RELAXED) >= APROF_KINDS)
    return 0; /* whatever is new has no room: none of it takes the lock */
  rt_lock();
  uint32_t slot = slot_of(label, function, implicit), number = slots[slot];
  if (number == 0 && rt.header->kinds < APROF_KINDS) {
    struct aprof_kind *k = place_of(rt.header->kinds, true);
    uint32_t text = k != NULL && label != NULL ? arena_string(label) : 0;
    if (k != NULL && (label == NULL || text != 0)) {
      number = rt.header->kinds;
      k->label = text;
      k->function = function;
      k->flags = implicit;
      __atomic_store_n(&slots[slot], (uint16_t)number, __ATOMIC_RELEASE);
      __atomic_store_n(&rt.header->kinds, number + 1, __ATOMIC_RELEASE);
    }
  }
  rt_unlock();
  return number;
}

static uint32_t kind_find(const char *label, const struct aprof_request *r) {
  uint32_t function = r->function, implicit = r->flags & APROF_REQUEST_IMPLICIT;
  uint32_t number = __atomic_load_n(&slots[slot_of(label, function, implicit)], __ATOMIC_ACQUIRE);
  return likely(number != 0) ? number : kind_new(label, function, implicit);
}

/* At most `most` characters of `label`, which may not end behind them. */
static bool is_label(const char *known, const char *label, size_t most) {
  size_t i = 0;
  while (i < most && label[i] != '\0' && label[i] == known[i])
    i++;
  return known[i] == '\0' && (i == most || label[i] == '\0');
}

static uint16_t *hint_of(const char *label) {
  return &hints[(uint32_t)((uintptr_t)label * 0x9e3779b97f4a7c15ull >> 58) % HINTS];
}

uint32_t kind_remembered(const struct aprof_request *r, const char *label, size_t most) {
  uint32_t number = __atomic_load_n(hint_of(label), __ATOMIC_ACQUIRE);
  const struct aprof_kind *k = number != 0 ? place_of(number, false) : NULL;
  return k != NULL && k->function == r->function &&
                 k->flags == (r->flags & APROF_REQUEST_IMPLICIT) && k->label != 0 &&
                 is_label(at_offset(k->label), label, most)
             ? number
             : 0;
}

uint32_t kind_labelled(const struct aprof_request *r, const char *label, const char *from) {
  uint32_t number = kind_find(label, r);
  if (from != NULL)
    __atomic_store_n(hint_of(from), (uint16_t)number, __ATOMIC_RELEASE);
  return number;
}

/* -- amounts --------------------------------------------------------------------- */

/* With a count for that bucket, or room among the first few. NULL: there is none. */
static SLOW struct aprof_buckets *larger(struct aprof_amount *amount, struct aprof_buckets *h,
                                         uint32_t bucket) {
  struct aprof_buckets *made = NULL;
  if (amount->histogram == 1 || (h != NULL && h->full))
    return NULL;
  rt_lock();
  if (rt.histograms &&
      (made = h == NULL ? buckets_new(0, false) : buckets_larger(h, bucket)) == NULL)
    buckets_lost();
  if (made != NULL && h != NULL)
    buckets_add_up(made, h);
  if (made != NULL || h == NULL)
    __atomic_store_n(&amount->histogram, made != NULL ? offset_of(made) : 1, __ATOMIC_RELEASE);
  if (made != NULL)
    amount->counts = made->octaves * (APROF_HISTOGRAM_BUCKETS / APROF_OCTAVES);
  if (h != NULL && made == NULL)
    h->full = 1;
  else if (h != NULL)
    buckets_free(h);
  rt_unlock();
  return made;
}

/* A value for whose bucket there is no count. */
static SLOW void amount_slow(struct aprof_amount *amount, uint64_t value) {
  if (value > APROF_MOST)
    value = 0; /* threads that race */
  uint32_t bucket = aprof_bucket_of(value);
  struct aprof_buckets *h = amount->histogram > 1 ? at_offset(amount->histogram) : NULL;
  amount->sum += value;
  amount->max = amount->max > value ? amount->max : value;
  if (bucket >= amount->counts && (h == NULL || h->octaves != 0 || h->few == APROF_FEW))
    h = larger(amount, h, bucket);
  if (h != NULL && h->octaves != 0) {
    buckets_count(h, bucket);
  } else if (h != NULL) {
    h->count[h->few] = (uint16_t)bucket;
    publish_fence();
    h->few++;
  }
}

/* Another value; `base`: rt_base(). */
static inline void amount_add(struct aprof_amount *amount, uint64_t value, char *base) {
  uint32_t bucket = aprof_bucket_of(value);
  if (unlikely(bucket >= amount->counts)) {
    amount_slow(amount, value);
    return;
  }
  amount->sum += value;
  if (unlikely(amount->max < value))
    amount->max = value;
  buckets_count((struct aprof_buckets *)(void *)(base + ((uint64_t)amount->histogram << 3)),
                bucket);
}

/* Four that lie side by side. */
_Static_assert(offsetof(struct aprof_kind_part, waiting) ==
                       offsetof(struct aprof_kind_part, wall) + 3 * sizeof(struct aprof_amount) &&
                   offsetof(struct aprof_kind_tier, wall) ==
                       offsetof(struct aprof_kind_tier, calls) + 3 * sizeof(struct aprof_amount),
               "amounts are added to in their order");

/* ... of the part that threads share. */
static SLOW void amounts_share(struct aprof_amount *first, const uint64_t *values) {
  for (int i = 0; i < 4; i++) {
    uint64_t value = values[i] <= APROF_MOST ? values[i] : 0;
    request_add(&first[i].sum, value);
    request_raise(&first[i].max, value);
  }
}

static __attribute__((noinline)) void amounts_add(struct aprof_amount *first,
                                                  const uint64_t *values, bool own) {
  char *base = rt_base();
  if (unlikely(!own)) {
    amounts_share(first, values);
    return;
  }
  for (int i = 0; i < 4; i++)
    amount_add(first + i, values[i], base);
}

static SLOW void number_share(uint64_t *number, uint64_t amount) {
  request_add(number, amount);
}

static inline void number_add(uint64_t *number, uint64_t amount, bool own) {
  if (likely(own))
    *number += amount;
  else
    number_share(number, amount);
}

static void amounts_empty(struct aprof_amount *first) {
  for (struct aprof_amount *amount = first; amount < first + 4; amount++) {
    amount->sum = amount->max = 0;
    if (amount->histogram > 1)
      buckets_empty(at_offset(amount->histogram));
  }
}

/* -- tiers of a part ---------------------------------------------------------------- */

static struct aprof_kind_tier *tier_at(uint32_t offset) {
  return offset != 0 ? at_offset(offset) : NULL;
}

static struct aprof_kind_tier *tier_known(const struct aprof_kind_part *p, uint32_t tier) {
  struct aprof_kind_tier *of = tier_at(__atomic_load_n(&p->tiers, __ATOMIC_ACQUIRE));
  while (of != NULL && of->tier != tier)
    of = tier_at(__atomic_load_n(&of->next, __ATOMIC_ACQUIRE));
  return of;
}

static SLOW struct aprof_kind_tier *tier_new(struct aprof_block *b, struct aprof_kind_part *p,
                                             uint32_t tier) {
  rt_lock();
  struct aprof_kind_tier *of = tier_known(p, tier);
  if (of == NULL && b->tiers_left == 0) {
    char *chunk = arena_chunk(APROF_CHUNK_TIERS, 0, 0, TIER_CHUNK, sizeof *of);
    if (chunk != NULL) {
      b->tiers_from = offset_of(chunk);
      b->tiers_left = TIER_CHUNK;
    }
  }
  if (of == NULL && b->tiers_left != 0) {
    of = tier_at(b->tiers_from);
    of->tier = tier;
    of->next = p->tiers;
    __atomic_store_n(&p->tiers, b->tiers_from, __ATOMIC_RELEASE);
    b->tiers_from += sizeof *of >> 3;
    b->tiers_left--;
  }
  rt_unlock();
  return of;
}

static void book_tier(const struct thread *t, struct aprof_kind_part *p, const struct cell *c,
                      bool own) {
  struct aprof_kind_tier *of = tier_known(p, c->tier);
  if (unlikely(of == NULL) && (of = tier_new(t->block, p, c->tier)) == NULL)
    return;
  number_add(&of->count, 1, own);
  amounts_add(&of->calls, (const uint64_t[]){c->calls, c->exec, c->waiting, c->wall}, own);
}

/* -- parts ------------------------------------------------------------------------- */

/* From zero again, after a reset. rt.lock held. */
static void part_empty(struct aprof_kind_part *p, uint32_t epoch) {
  p->count = p->failed = p->after = p->after_exec = 0;
  amounts_empty(&p->wall);
  for (struct aprof_kind_tier *of = tier_at(p->tiers); of != NULL; of = tier_at(of->next)) {
    of->count = 0;
    amounts_empty(&of->calls);
  }
  __atomic_store_n(&p->epoch, epoch, __ATOMIC_RELEASE);
}

static SLOW uint64_t parts_new(struct thread *t, uint32_t chunk) {
  if (t->block == NULL)
    return 1;
  rt_lock();
  struct aprof_kind_part *p = arena_chunk(APROF_CHUNK_KIND_PARTS, t->index,
                                          chunk * APROF_KIND_CHUNK, APROF_KIND_CHUNK, sizeof *p);
  uint64_t at = p != NULL ? (uintptr_t)p : 1;
  t->block->kind_parts[chunk] = t->kind_parts[chunk] = at;
  rt_unlock();
  return at;
}

static SLOW void empty(struct aprof_kind *k, struct aprof_kind_part *p) {
  uint32_t epoch = rt.header->reset_epoch;
  rt_lock();
  if (k->epoch != epoch) {
    slow_forget(k);
    part_empty(&k->shared, epoch);
    __atomic_store_n(&k->epoch, epoch, __ATOMIC_RELEASE);
  }
  if (p->epoch != epoch)
    part_empty(p, epoch);
  rt_unlock();
}

/* The thread's own one, or the one that is shared, of the current epoch. */
static struct aprof_kind_part *part_of(struct thread *t, struct aprof_kind *k, uint32_t number) {
  struct aprof_kind_part *p = &k->shared;
  uint64_t at = t->kind_parts[number / APROF_KIND_CHUNK];
  if (unlikely(at == 0))
    at = parts_new(t, number / APROF_KIND_CHUNK);
  if (likely(at != 1))
    p = (struct aprof_kind_part *)(uintptr_t)at + number % APROF_KIND_CHUNK;
  uint32_t epoch = __atomic_load_n(&rt.header->reset_epoch, __ATOMIC_ACQUIRE);
  if (unlikely(p->epoch != epoch) ||
      unlikely(__atomic_load_n(&k->epoch, __ATOMIC_ACQUIRE) != epoch))
    empty(k, p);
  return p;
}

/* -- what a request had ------------------------------------------------------------ */

static uint64_t found_word(const struct aprof_request *r, uint32_t number) {
  return (uint64_t)r->function << 32 | (uint64_t)(r->flags & APROF_REQUEST_IMPLICIT) << 16 | number;
}

static SLOW uint32_t kind_found(const struct aprof_request *r, const char *label, uint64_t *found) {
  uint32_t number = kind_find(label, r);
  if (number != 0)
    __atomic_store_n(found, found_word(r, number), __ATOMIC_RELEASE);
  return number;
}

/* By what it was labelled last, and the function that it had in the end. */
static uint32_t kind_of(const struct aprof_request *r) {
  uint64_t *found = &unlabelled[r->function % HINTS];
  const struct aprof_kind *k = NULL;
  if (!r->no_label) {
    k = r->kind != 0 ? place_of(r->kind, false) : NULL;
    if (k == NULL ||
        (k->function == r->function && k->flags == (r->flags & APROF_REQUEST_IMPLICIT)))
      return r->kind;
    found = &moved[r->kind];
  }
  uint64_t word = __atomic_load_n(found, __ATOMIC_ACQUIRE);
  if (likely(word >> 16 == found_word(r, 0) >> 16) && likely((uint16_t)word != 0))
    return (uint16_t)word;
  return kind_found(r, k != NULL ? at_offset(k->label) : NULL, found);
}

uint32_t kind_book(struct thread *t, const struct aprof_request *r, uint64_t now) {
  uint32_t number = kind_of(r);
  struct aprof_kind *k = kind_at(number);
  if (k == NULL) {
    __atomic_fetch_add(&rt.header->lost_requests, 1, __ATOMIC_RELAXED);
    return 0;
  }
  struct spent s = {.wall = r->stopped > r->begin_tick ? r->stopped - r->begin_tick : 0,
                    .exec = r->exec,
                    .queued = r->queued,
                    .waiting = r->total - r->exec - r->queued};
  struct aprof_kind_part *p = part_of(t, k, number);
  bool own = p != &k->shared;
  number_add(&p->count, 1, own);
  number_add(&p->failed, (r->flags & APROF_REQUEST_FAILED) != 0, own);
  amounts_add(&p->wall, (const uint64_t[]){s.wall, s.exec, s.queued, s.waiting}, own);
  for (uint32_t n = r->cells; n != 0; n = cell_at(n)->next)
    book_tier(t, p, cell_at(n), own);
  slow_keep(k, number, r, &s, now);
  return number;
}

void kind_after(uint32_t number, bool ran, uint64_t exec) {
  struct aprof_kind *k = kind_at(number);
  if (k == NULL)
    return;
  struct aprof_kind_part *p = part_of(aprof_self, k, number);
  number_add(&p->after, ran, p != &k->shared);
  number_add(&p->after_exec, exec, p != &k->shared);
}
