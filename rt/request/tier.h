/* SPDX-License-Identifier: MIT */
/* Tiers: what a request had in each, and the brackets that a future has open; see tier.c. Inside an
   event. */
#ifndef APROF_RT_TIER_H
#define APROF_RT_TIER_H

#include "pool.h"

#pragma GCC visibility push(hidden)

/* What a request had in a tier so far: its own time, and how often and how long it was in it. */
struct cell {
  uint32_t next, link; /* of the request's */
  uint32_t tier, pad;
  uint64_t exec, waiting, calls, wall;
  uint64_t spare[2];
};
extern struct pool cells;

static inline struct cell *cell_at(uint32_t number) {
  return pool_at(&cells, number);
}
/* Of this tier, which is not 0; made when it is asked for. NULL: there is no room. */
struct cell *cell_of(struct aprof_request *r, uint32_t tier);
void cells_give(struct aprof_request *r);

/* A bracket that is open on f, which has this share: one more. 0: there is no room. */
uint32_t bracket_push(struct aprof_share *s, uint32_t tier, uint64_t now);
bool bracket_is_open(const struct aprof_share *s, uint32_t number);
/* They close, from the innermost on: until `number` is the innermost; 0: all. */
void bracket_pop(struct aprof_share *s, uint32_t number, uint64_t now);
void bracket_pop_with(struct aprof_share *s, uint32_t number, uint64_t now); /* and itself */
/* The share leaves its request: what is open has been so long in it. */
void brackets_part(const struct aprof_share *s, uint64_t now);

/* The share's future has waited at its create, so long; and what it has so is booked, in r (NULL:
   in no request). */
void create_waited(struct aprof_share *s, uint32_t tier, uint64_t waited);
void create_book(struct aprof_share *s, struct aprof_request *r);

/* The number of a name's tier, "(other)" where there is no room. rt.lock held. */
uint32_t tier_number(const char *name);
void tier_reset(void);

#pragma GCC visibility pop

#endif
