/* SPDX-License-Identifier: MIT */
/*
 * The slowest requests of the last minutes, whole.
 *
 * Almost every request is none of them, which two words of its kind tell. One that is takes the
 * kind's lock, if no other thread has it, and the place of one that is too old, or of the shortest.
 * While somebody follows the process from outside, all that take as long as that one asks for lie
 * in a log as well, the latest over the oldest.
 */
#include "slow.h"

#include "rt/file/arena.h"
#include "rt/file/clock.h"
#include "rt/sys/lock.h"
#include "tier.h"

#define MINUTES_NS (600ull * 1000 * 1000 * 1000)

/* The places that `*reference` names, made when they are first asked for; NULL: no memory. */
static struct aprof_slow *places_of(uint32_t *reference, uint32_t type, uint32_t count) {
  uint32_t offset = __atomic_load_n(reference, __ATOMIC_ACQUIRE);
  if (unlikely(offset == 0)) {
    rt_lock();
    struct aprof_slow *all = *reference == 0 ? arena_chunk(type, 0, 0, count, sizeof *all) : NULL;
    if (all != NULL)
      __atomic_store_n(reference, offset_of(all), __ATOMIC_RELEASE);
    offset = *reference;
    rt_unlock();
  }
  return offset != 0 ? at_offset(offset) : NULL;
}

void slow_forget(struct aprof_kind *k) {
  __atomic_store_n(&k->least, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&k->fresh_until, 0, __ATOMIC_RELAXED);
  if (k->slowest != 0)
    memset(at_offset(k->slowest), 0, APROF_SLOWEST * sizeof(struct aprof_slow));
}

static uint64_t ended(const struct aprof_slow *s) {
  return s->begin_tick + s->wall;
}

/* The one to be replaced: a place that is free, the oldest if it is too old, the shortest. */
static struct aprof_slow *victim(struct aprof_slow *all, uint64_t now) {
  struct aprof_slow *oldest = all, *shortest = all;
  for (uint32_t i = 0; i < APROF_SLOWEST; i++) {
    if (all[i].sequence == 0)
      return &all[i];
    if (ended(&all[i]) < ended(oldest))
      oldest = &all[i];
    if (all[i].wall < shortest->wall)
      shortest = &all[i];
  }
  return elapsed(ended(oldest), now) > clock_ticks(MINUTES_NS) ? oldest : shortest;
}

/* Its place among those of the slot, by time: the one with the least goes. */
static void keep_tier(struct aprof_slow *slow, const struct cell *c) {
  uint32_t at = slow->tiers;
  if (at < APROF_SLOW_TIERS) {
    slow->tiers++;
  } else {
    at = 0;
    for (uint32_t i = 1; i < APROF_SLOW_TIERS; i++)
      if (slow->tier[i].exec + slow->tier[i].waiting < slow->tier[at].exec + slow->tier[at].waiting)
        at = i;
    if (slow->tier[at].exec + slow->tier[at].waiting >= c->exec + c->waiting)
      return;
  }
  slow->tier[at].tier = c->tier;
  slow->tier[at].calls = (uint32_t)c->calls;
  slow->tier[at].exec = c->exec;
  slow->tier[at].waiting = c->waiting;
  slow->tier[at].wall = c->wall;
}

/* `sequence`: the odd one, which the place has. */
static void fill_in(struct aprof_slow *slow, uint64_t sequence, const struct aprof_request *r,
                    const struct spent *s) {
  __atomic_thread_fence(__ATOMIC_RELEASE);
  slow->begin_tick = r->begin_tick;
  slow->wall = s->wall;
  slow->exec = s->exec;
  slow->queued = s->queued;
  slow->waiting = s->waiting;
  slow->trace[0] = r->trace[0];
  slow->trace[1] = r->trace[1];
  slow->span = r->span;
  slow->function = r->function;
  slow->failed = (r->flags & APROF_REQUEST_FAILED) != 0;
  slow->tiers = 0;
  for (uint32_t n = r->cells; n != 0; n = cell_at(n)->next)
    keep_tier(slow, cell_at(n));
  __atomic_store_n(&slow->sequence, sequence + 1, __ATOMIC_RELEASE);
}

/* What the next ones are compared with. */
static void note_least(struct aprof_kind *k, const struct aprof_slow *all) {
  uint64_t least = UINT64_MAX, oldest = UINT64_MAX;
  for (uint32_t i = 0; i < APROF_SLOWEST; i++) {
    if (all[i].sequence == 0) {
      least = 0;
      oldest = 0;
      break;
    }
    least = all[i].wall < least ? all[i].wall : least;
    oldest = ended(&all[i]) < oldest ? ended(&all[i]) : oldest;
  }
  __atomic_store_n(&k->least, least, __ATOMIC_RELAXED);
  __atomic_store_n(&k->fresh_until, oldest != 0 ? oldest + clock_ticks(MINUTES_NS) : 0,
                   __ATOMIC_RELAXED);
}

SLOW void slow_replace(struct aprof_kind *k, const struct aprof_request *r, const struct spent *s,
                       uint64_t now) {
  struct aprof_slow *all = places_of(&k->slowest, APROF_CHUNK_SLOWEST, APROF_SLOWEST);
  uint32_t none = 0;
  if (all == NULL || !swapped(&k->lock, &none, 1, ACQUIRE)) {
    __atomic_fetch_add(&rt.header->slow_missed, 1, __ATOMIC_RELAXED);
    return;
  }
  struct aprof_slow *slow = victim(all, now);
  bool old = slow->sequence != 0 && elapsed(ended(slow), now) > clock_ticks(MINUTES_NS);
  uint64_t sequence = slow->sequence | 1; /* kept here: a reset may empty the place meanwhile */
  if (slow->sequence == 0 || old || s->wall > slow->wall) {
    __atomic_store_n(&slow->sequence, sequence, __ATOMIC_RELAXED);
    fill_in(slow, sequence, r, s);
  }
  note_least(k, all);
  __atomic_store_n(&k->lock, 0, __ATOMIC_RELEASE);
}

/* Whose place has been taken meanwhile, or is being written, is missing by its number. */
SLOW void slow_log(uint32_t kind, const struct aprof_request *r, const struct spent *s,
                   uint64_t now) {
  struct aprof_header *h = rt.header;
  if (now > __atomic_load_n(&h->log_until, __ATOMIC_RELAXED)) {
    __atomic_store_n(&h->log_over, UINT64_MAX, __ATOMIC_RELAXED);
    return;
  }
  struct aprof_slow *all = places_of(&h->log, APROF_CHUNK_LOGGED, APROF_LOGGED);
  uint64_t number = __atomic_fetch_add(&h->logged, 1, __ATOMIC_RELAXED), mine = 2 * number + 1;
  if (all == NULL)
    return;
  struct aprof_slow *place = &all[number % APROF_LOGGED];
  uint64_t seen = __atomic_load_n(&place->sequence, __ATOMIC_RELAXED);
  if (seen > mine || seen & 1 || !swapped(&place->sequence, &seen, mine, ACQUIRE))
    return;
  place->kind = (uint16_t)kind;
  fill_in(place, mine, r, s);
}
