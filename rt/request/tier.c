/* SPDX-License-Identifier: MIT */
/*
 * Tiers of a request, and a future's stack of open brackets.
 *
 * What a future has in tiers adds up in cells of its own, by plain additions: they go over to its
 * request when the future is booked there, all at once where that has none so far.
 *
 * A bracket counts, in calls and wall, where its tier had none open on that stack: the mask in the
 * share says so, and each bracket keeps what it was before, as it keeps the tier. So a bracket that
 * closes puts back what it found, whatever was jumped over above it.
 */
#include "tier.h"

#include "rt/file/clock.h"

struct bracket {
  uint32_t below, link; /* link: while it is free */
  uint8_t tier, before;
  bool outermost, base; /* base: of a body that was called in that tier */
  bool counted, pad[3]; /* among the calls of its tier, or it is to be in none */
  uint64_t open, begin;
  /* What its future had when it was booked last while this was the innermost; see share.c. */
  uint64_t since, queued, waiting, aside;
};

struct pool cells = {
    .type = APROF_CHUNK_PRIVATE, .size = sizeof(struct cell), .link = offsetof(struct cell, link)};
struct pool brackets = {.type = APROF_CHUNK_PRIVATE,
                        .size = sizeof(struct bracket),
                        .link = offsetof(struct bracket, link)};
_Static_assert(sizeof(struct cell) == 64 && sizeof(struct bracket) == 64, "lines of the cache");

#define RECORDS_MOST (POOL_CHUNK * POOL_CHUNKS - 1)

void tier_reset(void) {
  pool_reset(&cells, RECORDS_MOST);
  pool_reset(&brackets, RECORDS_MOST);
}

/* -- cells ------------------------------------------------------------------- */

static struct cell *cell_among(uint32_t first, uint32_t until, uint32_t tier) {
  for (uint32_t n = first; n != until && n != 0; n = cell_at(n)->next)
    if (cell_at(n)->tier == tier)
      return cell_at(n);
  return NULL;
}

/* The share's own, of this tier, which is not 0. NULL: there is no room, or it is in no request. */
static struct cell *own_cell(struct aprof_share *s, uint32_t tier) {
  if (s->cells == 0 && s->request == 0)
    return NULL;
  struct cell *c = cell_among(s->cells, 0, tier);
  if (c != NULL || s->request == 0)
    return c;
  uint32_t mine = spare_take(&cells, &aprof_self->spare_cells);
  if (unlikely(mine == 0))
    return NULL;
  c = cell_at(mine);
  uint32_t next = s->cells;
  do
    *c = (struct cell){.tier = tier, .next = next};
  while (!swapped(&s->cells, &next, mine, RELEASE));
  return c;
}

static void cell_give(uint32_t number) {
  spare_give(&cells, &aprof_self->spare_cells, number);
}

/* It is the request's, or what it has is. */
static void cell_book(struct aprof_request *r, uint32_t mine) {
  struct cell *own = cell_at(mine), *c;
  uint32_t first = __atomic_load_n(&r->cells, __ATOMIC_ACQUIRE), until = 0;
  do { /* another thread may be faster */
    if ((c = cell_among(first, until, own->tier)) != NULL) {
      request_add(&c->exec, own->exec);
      request_add(&c->waiting, own->waiting);
      request_add(&c->calls, own->calls);
      request_add(&c->wall, own->wall);
      cell_give(mine);
      return;
    }
    own->next = until = first;
  } while (!__atomic_compare_exchange_n(&r->cells, &first, mine, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE));
}

/* Another thread may race for its future, and book it, too: each cell goes one way. */
void cells_book(struct aprof_share *s, struct aprof_request *r) {
  uint32_t n = s->cells != 0 ? __atomic_exchange_n(&s->cells, 0, __ATOMIC_ACQUIRE) : 0, none = 0;
  if (r != NULL && n != 0 && swapped(&r->cells, &none, n, ACQ_REL))
    return;
  for (uint32_t next; n != 0; n = next) {
    next = cell_at(n)->next;
    if (r != NULL)
      cell_book(r, n);
    else
      cell_give(n);
  }
}

void cells_give(struct aprof_request *r) {
  for (uint32_t n = r->cells, next; n != 0; n = next) {
    next = cell_at(n)->next;
    cell_give(n);
  }
  r->cells = 0;
}

/* -- brackets ----------------------------------------------------------------- */

static struct bracket *bracket_at(uint32_t number) {
  return POOL_AT(&brackets, struct bracket, number);
}

inline void tier_goes_on(struct aprof_share *s, const struct had *h, uint64_t now) {
  if (s->brackets == 0)
    return;
  struct bracket *b = bracket_at(s->brackets);
  b->since = now;
  b->queued = h->queued;
  b->waiting = h->waiting;
  b->aside = s->aside;
}

static inline void book_in(struct cell *c, const struct aprof_share *s, const struct bracket *b,
                           const struct had *h, uint64_t aside, uint64_t now) {
  uint64_t total = elapsed(b->since, now), waited = h->waiting - b->waiting;
  uint64_t others = s->aside - b->aside;
  if (aside != 0)
    others += elapsed(aside > b->since ? aside : b->since, now);
  c->exec += elapsed(h->queued - b->queued + waited, total);
  c->waiting += elapsed(others, waited);
}

void tier_book(struct aprof_share *s, const struct had *h, uint64_t aside, uint64_t now) {
  struct cell *c = s->brackets != 0 ? own_cell(s, s->tier) : NULL;
  if (c != NULL)
    book_in(c, s, bracket_at(s->brackets), h, aside, now);
}

static uint32_t bracket_new(void) {
  return spare_take(&brackets, &aprof_self->spare_brackets);
}

uint32_t bracket_push(struct aprof_share *s, uint32_t tier, const struct had *h, uint64_t now) {
  if (s->brackets != 0)
    tier_book(s, h, 0, now);
  uint32_t number = bracket_new();
  if (number == 0)
    return 0;
  struct bracket *b = bracket_at(number);
  b->below = s->brackets;
  b->tier = (uint8_t)tier;
  b->before = (uint8_t)s->tier;
  b->outermost = !(s->open >> tier & 1);
  b->base = false;
  b->counted = s->request == 0;
  b->open = s->open;
  b->begin = now;
  s->tier = tier;
  s->open |= 1ull << tier;
  s->brackets = number;
  tier_goes_on(s, h, now);
  return number;
}

void bracket_base(struct aprof_share *s, uint32_t tier, uint64_t open, uint64_t now) {
  uint32_t number = bracket_new();
  if (number == 0)
    return;
  *bracket_at(number) =
      (struct bracket){.tier = (uint8_t)tier, .base = true, .begin = now, .since = now};
  s->tier = tier;
  s->open = open;
  s->brackets = number;
}

static inline bool bracket_is_open(const struct aprof_share *s, uint32_t number) {
  uint32_t n = s->brackets;
  while (n != 0 && n != number)
    n = bracket_at(n)->below;
  return n != 0;
}

/* How long it lay in the share's request. */
static inline uint64_t wall_of(const struct aprof_share *s, const struct bracket *b, uint64_t now) {
  return elapsed(b->begin > s->joined ? b->begin : s->joined, now);
}

static inline void count_in(struct cell *c, struct bracket *b, uint64_t wall) {
  if (!b->outermost)
    return;
  c->wall += wall;
  c->calls += !b->counted;
  b->counted = true;
}

static void count(struct aprof_share *s, struct bracket *b, uint64_t now) {
  uint64_t wall = wall_of(s, b, now);
  struct cell *c = b->outermost && (wall != 0 || !b->counted) ? own_cell(s, b->tier) : NULL;
  if (c != NULL)
    count_in(c, b, wall);
}

/* ... unless a thread that raced for its future has closed it. */
static inline void pop_uncounted(struct aprof_share *s, uint32_t number, const struct bracket *b) {
  uint8_t before = b->before;
  uint64_t open = b->open;
  if (!swapped(&s->brackets, &number, b->below, ACQ_REL))
    return;
  s->tier = before;
  s->open = open;
  spare_give(&brackets, &aprof_self->spare_brackets, number);
}

static void pop_one(struct aprof_share *s, uint64_t now) {
  struct bracket *b = bracket_at(s->brackets);
  count(s, b, now);
  pop_uncounted(s, s->brackets, b);
}

/* ... by an event of its own: its future was in that tier, be it for no time. */
static void close_one(struct aprof_share *s, uint64_t now) {
  own_cell(s, bracket_at(s->brackets)->tier);
  pop_one(s, now);
}

static bool ends_at(const struct aprof_share *s, uint32_t number) {
  return s->brackets == 0 || s->brackets == number;
}

void bracket_pop(struct aprof_share *s, uint32_t number, const struct had *h, uint64_t now) {
  if ((number != 0 && !bracket_is_open(s, number)) || s->brackets == number)
    return;
  tier_book(s, h, 0, now);
  while (!ends_at(s, number) && !bracket_at(s->brackets)->base)
    close_one(s, now);
  tier_goes_on(s, h, now);
}

void bracket_end(struct aprof_share *s, uint32_t number, const struct had *h, uint64_t now) {
  if (!bracket_is_open(s, number))
    return;
  struct bracket *b = bracket_at(number);
  struct cell *c = own_cell(s, s->tier);
  if (c != NULL)
    book_in(c, s, bracket_at(s->brackets), h, 0, now);
  if (likely(s->brackets == number)) {
    if (c != NULL)
      count_in(c, b, wall_of(s, b, now));
    pop_uncounted(s, number, b);
  } else {
    while (!ends_at(s, number))
      close_one(s, now);
    if (s->brackets != 0)
      close_one(s, now);
  }
  tier_goes_on(s, h, now);
}

void bracket_pop_all(struct aprof_share *s, uint64_t now) {
  while (s->brackets != 0)
    pop_one(s, now);
}

void brackets_part(struct aprof_share *s, uint64_t now) {
  for (uint32_t n = s->brackets; n != 0; n = bracket_at(n)->below)
    count(s, bracket_at(n), now);
}

/* -- waits at a create with a tier ------------------------------------------------------- */

void create_waited(struct aprof_share *s, uint32_t tier, uint64_t waited) {
  struct cell *c = own_cell(s, tier), *own = s->tier != 0 ? own_cell(s, s->tier) : NULL;
  if (c == NULL)
    return;
  c->waiting += waited;
  if (!(s->open >> tier & 1)) { /* calls and wall are of entries from outside */
    c->calls++;
    c->wall += waited;
  }
  if (own != NULL)
    own->waiting -= waited;
}
