/* SPDX-License-Identifier: MIT */
/*
 * Kinds: what requests of one label and function had, each counted once, when it is over.
 *
 * Any thread adds to any kind, atomically. What is new - a kind, a tier of one, a histogram - is
 * made under rt.lock, and is found without it.
 */
#include "kind.h"

#include "rt/count/histogram.h"
#include "rt/file/arena.h"
#include "rt/sys/lock.h"
#include "slow.h"
#include "tier.h"

#define KIND_CHUNK 32u
#define SLOTS 1024u /* of the tables, at most a quarter full */
#define TIER_CHUNK 16u

static struct aprof_kind *chunks[(APROF_KINDS + KIND_CHUNK - 1) / KIND_CHUNK];
static uint16_t slots[SLOTS];           /* numbers, by label and function; 0: free */
static uint32_t tiers_from, tiers_left; /* offset / 8 of unused ones; rt.lock */
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
  tiers_from = tiers_left = 0;
}

static const char *text_at(uint32_t string) {
  return rt_base() + ((uint64_t)string << 3);
}

static uint32_t hash_of(const char *label, uint32_t function, uint32_t implicit) {
  uint32_t h = 2166136261u ^ (function << 1 | implicit);
  for (; label != NULL && *label != '\0'; label++)
    h = (h ^ (unsigned char)*label) * 16777619u;
  return h * 0x9e3779b1u >> 16;
}

/* rt.lock held, or it is there. */
static struct aprof_kind *place_of(uint32_t number, bool make) {
  struct aprof_kind **chunk = &chunks[number / KIND_CHUNK];
  struct aprof_kind *all = __atomic_load_n(chunk, __ATOMIC_ACQUIRE);
  if (all == NULL && make) {
    all = arena_chunk(APROF_CHUNK_KINDS, 0, number / KIND_CHUNK * KIND_CHUNK, KIND_CHUNK,
                      sizeof *all);
    if (all == NULL)
      return NULL;
    for (uint32_t i = 0; i < KIND_CHUNK; i++)
      all[i].epoch = rt.header->reset_epoch;
    arena_publish(all, APROF_CHUNK_KINDS);
    __atomic_store_n(chunk, all, __ATOMIC_RELEASE);
  }
  return all != NULL ? all + number % KIND_CHUNK : NULL;
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
        (label == NULL ? k->label == 0 : k->label != 0 && strcmp(text_at(k->label), label) == 0))
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
                 is_label(text_at(k->label), label, most)
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

static SLOW uint32_t histogram_of(struct aprof_amount *amount) {
  rt_lock();
  if (amount->histogram == 0) {
    uint32_t made = rt.histograms ? buckets_new_whole() : 0;
    if (made == 0 && rt.histograms)
      __atomic_fetch_add(&rt.header->lost_histograms, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&amount->histogram, made != 0 ? made : 1, __ATOMIC_RELEASE);
  }
  rt_unlock();
  return amount->histogram;
}

static SLOW void amount_raise(struct aprof_amount *amount, uint64_t value) {
  uint64_t seen = __atomic_load_n(&amount->max, __ATOMIC_RELAXED);
  while (seen < value && !__atomic_compare_exchange_n(&amount->max, &seen, value, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

/* Another value. Any thread. */
static inline __attribute__((always_inline)) void amount_add(struct aprof_amount *amount,
                                                             uint64_t value, char *base) {
  if (unlikely(value > APROF_MOST))
    value = 0; /* threads that race */
  if (value != 0) {
    __atomic_fetch_add(&amount->sum, value, __ATOMIC_RELAXED);
    if (unlikely(__atomic_load_n(&amount->max, __ATOMIC_RELAXED) < value))
      amount_raise(amount, value);
  }
  uint32_t histogram = __atomic_load_n(&amount->histogram, __ATOMIC_ACQUIRE);
  if (unlikely(histogram == 0))
    histogram = histogram_of(amount);
  if (likely(histogram > 1)) {
    uint64_t *buckets = (uint64_t *)(void *)(base + ((uint64_t)histogram << 3));
    __atomic_fetch_add(&buckets[aprof_bucket_of(value)], 1, __ATOMIC_RELAXED);
  }
}

/* Four that lie side by side. */
_Static_assert(offsetof(struct aprof_kind, waiting) ==
                       offsetof(struct aprof_kind, wall) + 3 * sizeof(struct aprof_amount) &&
                   offsetof(struct aprof_kind_tier, wall) ==
                       offsetof(struct aprof_kind_tier, calls) + 3 * sizeof(struct aprof_amount),
               "amounts are added to in their order");
static __attribute__((noinline)) void amounts_add(struct aprof_amount *first,
                                                  const uint64_t *values) {
  char *base = rt_base();
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
    amount_add(first + i, values[i], base);
}

static void amount_empty(struct aprof_amount *amount) {
  amount->sum = amount->max = 0;
  if (amount->histogram > 1)
    memset(rt_base() + ((uint64_t)amount->histogram << 3), 0, sizeof(struct aprof_histogram));
}

/* -- tiers of a kind ---------------------------------------------------------------- */

static struct aprof_kind_tier *tier_at(uint32_t offset) {
  return offset != 0 ? (struct aprof_kind_tier *)(void *)(rt_base() + ((uint64_t)offset << 3))
                     : NULL;
}

static struct aprof_kind_tier *tier_known(const struct aprof_kind *k, uint32_t tier) {
  struct aprof_kind_tier *of = tier_at(__atomic_load_n(&k->tiers, __ATOMIC_ACQUIRE));
  while (of != NULL && of->tier != tier)
    of = tier_at(__atomic_load_n(&of->next, __ATOMIC_ACQUIRE));
  return of;
}

static SLOW struct aprof_kind_tier *tier_new(struct aprof_kind *k, uint32_t tier) {
  rt_lock();
  struct aprof_kind_tier *of = tier_known(k, tier);
  if (of == NULL && tiers_left == 0) {
    char *chunk = arena_chunk(APROF_CHUNK_TIERS, 0, 0, TIER_CHUNK, sizeof *of);
    if (chunk != NULL) {
      arena_publish(chunk, APROF_CHUNK_TIERS);
      tiers_from = (uint32_t)((uint64_t)(chunk - rt_base()) >> 3);
      tiers_left = TIER_CHUNK;
    }
  }
  if (of == NULL && tiers_left != 0) {
    of = tier_at(tiers_from);
    of->tier = tier;
    of->next = k->tiers;
    __atomic_store_n(&k->tiers, tiers_from, __ATOMIC_RELEASE);
    tiers_from += sizeof *of >> 3;
    tiers_left--;
  }
  rt_unlock();
  return of;
}

static void book_tier(struct aprof_kind *k, const struct cell *c) {
  struct aprof_kind_tier *of = tier_known(k, c->tier);
  if (unlikely(of == NULL) && (of = tier_new(k, c->tier)) == NULL)
    return;
  request_add(&of->count, 1);
  amounts_add(&of->calls, (const uint64_t[]){c->calls, c->exec, c->waiting, c->wall});
}

/* -- what a request had ------------------------------------------------------------ */

/* A reset came since it was last added to. */
static SLOW void kind_empty(struct aprof_kind *k) {
  uint32_t epoch = rt.header->reset_epoch;
  rt_lock();
  if (k->epoch != epoch) {
    struct aprof_amount *all[] = {&k->wall, &k->exec, &k->queued, &k->waiting};
    k->count = k->failed = k->after = k->after_exec = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      amount_empty(all[i]);
    for (struct aprof_kind_tier *of = tier_at(k->tiers); of != NULL; of = tier_at(of->next)) {
      of->count = 0;
      amount_empty(&of->calls);
      amount_empty(&of->exec);
      amount_empty(&of->waiting);
      amount_empty(&of->wall);
    }
    slow_forget(k);
    __atomic_store_n(&k->epoch, epoch, __ATOMIC_RELEASE);
  }
  rt_unlock();
}

static struct aprof_kind *kind_current(uint32_t number) {
  struct aprof_kind *k = kind_at(number);
  if (k != NULL && unlikely(__atomic_load_n(&k->epoch, __ATOMIC_ACQUIRE) !=
                            __atomic_load_n(&rt.header->reset_epoch, __ATOMIC_ACQUIRE)))
    kind_empty(k);
  return k;
}

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
  return kind_found(r, k != NULL ? text_at(k->label) : NULL, found);
}

uint32_t kind_book(const struct aprof_request *r, uint64_t now) {
  uint32_t number = kind_of(r);
  struct aprof_kind *k = kind_current(number);
  if (k == NULL) {
    __atomic_fetch_add(&rt.header->lost_requests, 1, __ATOMIC_RELAXED);
    return 0;
  }
  struct spent s = {.wall = r->stopped > r->begin_tick ? r->stopped - r->begin_tick : 0,
                    .exec = r->exec,
                    .queued = r->queued,
                    .waiting = r->total - r->exec - r->queued};
  request_add(&k->count, 1);
  request_add(&k->failed, (r->flags & APROF_REQUEST_FAILED) != 0);
  amounts_add(&k->wall, (const uint64_t[]){s.wall, s.exec, s.queued, s.waiting});
  for (uint32_t n = r->cells; n != 0; n = cell_at(n)->next)
    book_tier(k, cell_at(n));
  slow_keep(k, number, r, &s, now);
  return number;
}

void kind_after(uint32_t number, bool ran, uint64_t exec) {
  struct aprof_kind *k = kind_current(number);
  if (k == NULL)
    return;
  request_add(&k->after, ran);
  request_add(&k->after_exec, exec);
}
