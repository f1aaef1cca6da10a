/* SPDX-License-Identifier: MIT */
/*
 * Tiers of a request, and a future's stack of open brackets.
 *
 * A bracket counts, in calls and wall, where its tier had none open on that stack: the mask in the
 * share says so, and each bracket keeps what it was before, as it keeps the tier. So a bracket that
 * closes puts back what it found, whatever was jumped over above it.
 */
#include "tier.h"

#include "rt/file/arena.h"

struct bracket {
  uint32_t below, link; /* link: while it is free */
  uint32_t owner;       /* index of the future */
  uint8_t tier, before;
  bool outermost, pad;
  uint64_t open, begin;
  uint64_t waited, calls, wall;
  uint64_t spare;
};

struct pool cells = {
    .type = APROF_CHUNK_PRIVATE, .size = sizeof(struct cell), .link = offsetof(struct cell, link)};
static struct pool brackets = {.type = APROF_CHUNK_PRIVATE,
                               .size = sizeof(struct bracket),
                               .link = offsetof(struct bracket, link)};
_Static_assert(sizeof(struct cell) == 64 && sizeof(struct bracket) == 64, "lines of the cache");

#define CELLS_MOST (64u * 1024u)
#define BRACKETS_MOST UINT16_MAX /* share.created */

void tier_reset(void) {
  pool_reset(&cells, CELLS_MOST);
  pool_reset(&brackets, BRACKETS_MOST);
}

/* -- cells ------------------------------------------------------------------- */

static struct cell *cell_among(uint32_t first, uint32_t until, uint32_t tier) {
  for (uint32_t n = first; n != until && n != 0; n = cell_at(n)->next)
    if (cell_at(n)->tier == tier)
      return cell_at(n);
  return NULL;
}

struct cell *cell_of(struct aprof_request *r, uint32_t tier) {
  uint32_t first = __atomic_load_n(&r->cells, __ATOMIC_ACQUIRE), until = 0;
  struct cell *c = cell_among(first, 0, tier);
  if (likely(c != NULL))
    return c;
  uint32_t mine = pool_take(&cells);
  if (mine == 0) {
    __atomic_fetch_add(&rt.header->lost_shares, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  *cell_at(mine) = (struct cell){.tier = tier};
  do { /* another thread may be faster */
    if ((c = cell_among(first, until, tier)) != NULL) {
      pool_give(&cells, mine);
      return c;
    }
    cell_at(mine)->next = until = first;
  } while (!__atomic_compare_exchange_n(&r->cells, &first, mine, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE));
  return cell_at(mine);
}

void cells_give(struct aprof_request *r) {
  for (uint32_t n = r->cells, next; n != 0; n = next) {
    next = cell_at(n)->next;
    pool_give(&cells, n);
  }
  r->cells = 0;
}

/* -- brackets ----------------------------------------------------------------- */

static struct bracket *bracket_at(uint32_t number) {
  return pool_at(&brackets, number);
}

static struct aprof_request *live_of(const struct aprof_share *s) {
  struct aprof_request *r = s->request != 0 ? request_at(s->request) : NULL;
  return r != NULL && request_lives(r) ? r : NULL;
}

uint32_t bracket_push(struct aprof_share *s, uint32_t tier, uint64_t now) {
  uint32_t number = pool_take(&brackets);
  if (number == 0) {
    __atomic_fetch_add(&rt.header->lost_shares, 1, __ATOMIC_RELAXED);
    return 0;
  }
  *bracket_at(number) = (struct bracket){.below = s->brackets,
                                         .owner = s->owner,
                                         .tier = (uint8_t)tier,
                                         .before = s->tier,
                                         .outermost = !(s->open >> tier & 1),
                                         .open = s->open,
                                         .begin = now};
  struct aprof_request *r = live_of(s);
  if (r != NULL && bracket_at(number)->outermost) {
    struct cell *c = cell_of(r, tier);
    if (c != NULL)
      request_add(&c->calls, 1);
  }
  s->tier = (uint8_t)tier;
  s->open |= 1ull << tier;
  s->brackets = number;
  return number;
}

bool bracket_is_open(const struct aprof_share *s, uint32_t number) {
  uint32_t n = s->brackets;
  while (n != 0 && n != number)
    n = bracket_at(n)->below;
  return n != 0;
}

/* It counts as far as it lay in the share's request. */
static void count_wall(struct aprof_request *r, const struct aprof_share *s,
                       const struct bracket *b, uint64_t now) {
  uint64_t from = b->begin > s->joined ? b->begin : s->joined;
  struct cell *c = b->outermost && now > from ? cell_of(r, b->tier) : NULL;
  if (c != NULL)
    request_add(&c->wall, now - from);
}

static void pop_one(struct aprof_share *s, uint64_t now) {
  uint32_t number = s->brackets;
  struct bracket *b = bracket_at(number);
  struct aprof_request *r = live_of(s);
  struct bracket was = *b;
  if (!__atomic_compare_exchange_n(&s->brackets, &number, was.below, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED))
    return; /* a thread that raced for its future has closed it */
  if (r != NULL)
    count_wall(r, s, &was, now);
  s->tier = was.before;
  s->open = was.open;
  pool_give(&brackets, number);
}

void bracket_pop(struct aprof_share *s, uint32_t number, uint64_t now) {
  while (s->brackets != 0 && s->brackets != number)
    pop_one(s, now);
}

void bracket_pop_with(struct aprof_share *s, uint32_t number, uint64_t now) {
  bracket_pop(s, number, now);
  if (s->brackets != 0)
    pop_one(s, now);
}

void brackets_part(const struct aprof_share *s, uint64_t now) {
  struct aprof_request *r = live_of(s);
  for (uint32_t n = s->brackets; n != 0 && r != NULL; n = bracket_at(n)->below)
    count_wall(r, s, bracket_at(n), now);
}

/* -- waits at a create with a tier: a bracket that is on no stack adds them up -------------------
 */

void create_waited(struct aprof_share *s, uint32_t tier, uint64_t waited) {
  if (s->created == 0) {
    s->created = (uint16_t)pool_take(&brackets);
    if (s->created == 0) {
      __atomic_fetch_add(&rt.header->lost_shares, 1, __ATOMIC_RELAXED);
      return;
    }
    *bracket_at(s->created) = (struct bracket){.owner = s->owner, .tier = (uint8_t)tier};
  }
  struct bracket *b = bracket_at(s->created);
  b->waited += waited;
  if (!(s->open >> tier & 1)) { /* calls and wall are of entries from outside */
    b->calls++;
    b->wall += waited;
  }
}

void create_book(struct aprof_share *s, struct aprof_request *r) {
  const struct bracket *b = bracket_at(s->created);
  struct cell *c = r != NULL ? cell_of(r, b->tier) : NULL;
  if (c != NULL) {
    struct cell *own = s->tier != 0 ? cell_of(r, s->tier) : NULL;
    request_add(&c->waiting, b->waited);
    request_add(&c->calls, b->calls);
    request_add(&c->wall, b->wall);
    if (own != NULL)
      request_add(&own->waiting, 0 - b->waited);
  }
  pool_give(&brackets, s->created);
  s->created = 0;
}

/* -- names -------------------------------------------------------------------- */

uint32_t tier_number(const char *name) {
  uint32_t *names = rt.header->tier_names, n = 1;
  for (; n < APROF_TIERS - 1 && names[n] != 0; n++)
    if (strcmp(rt_base() + ((uint64_t)names[n] << 3), name) == 0)
      return n;
  if (n == APROF_TIERS - 1) {
    if (names[n] == 0)
      names[n] = arena_string("(other)");
    return n;
  }
  __atomic_store_n(&names[n], arena_string(name), __ATOMIC_RELEASE);
  return names[n] != 0 ? n : 0;
}
