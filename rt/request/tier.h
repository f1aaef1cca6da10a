/* SPDX-License-Identifier: MIT */
/* Tiers: what a request had in each, and the brackets that a future has open; see tier.c. Inside an
   event. */
#ifndef APROF_RT_TIER_H
#define APROF_RT_TIER_H

#include "pool.h"

/* What a future has had until some moment. */
struct had {
  uint64_t queued, waiting, end; /* end: of its wait, but for what it is queued behind that */
};

#pragma GCC visibility push(hidden)

/* What a request had in a tier so far: its own time, and how often and how long it was in it. */
struct cell {
  uint32_t next, link; /* of the request's */
  uint32_t tier, pad;
  uint64_t exec, waiting, calls, wall;
  uint64_t spare[2];
};
extern struct pool cells, brackets;

static inline struct cell *cell_at(uint32_t number) {
  return POOL_AT(&cells, struct cell, number);
}
/* What the share had in tiers is the request's from here on; r NULL: nobody's. */
void cells_book(struct aprof_share *s, struct aprof_request *r);
void cells_give(struct aprof_request *r);

/* A bracket opens; what its future has had until now, `h`, lies before it, and is booked. 0: there
   is no room. */
uint32_t bracket_push(struct aprof_share *s, uint32_t tier, const struct had *h, uint64_t now);
/* The future is called in this tier, in which, and in those of the mask, its caller is. */
void bracket_base(struct aprof_share *s, uint32_t tier, uint64_t open, uint64_t now);
/* If it is open, those in it close, from the innermost on; 0: all but the base. */
void bracket_pop(struct aprof_share *s, uint32_t number, const struct had *h, uint64_t now);
/* ... itself, too. */
void bracket_end(struct aprof_share *s, uint32_t number, const struct had *h, uint64_t now);
void bracket_pop_all(struct aprof_share *s, uint64_t now); /* all close, the base, too */
/* The share leaves its request: what is open has been so long in it. */
void brackets_part(struct aprof_share *s, uint64_t now);

/* What the future had in the tier that it is in, up to now, is that one's. `aside`: since when it
   is put aside for another one; 0: it is not. */
void tier_book(struct aprof_share *s, const struct had *h, uint64_t aside, uint64_t now);
/* ... from now on, again. */
void tier_goes_on(struct aprof_share *s, const struct had *h, uint64_t now);
/* The share's future has waited at its create, so long. */
void create_waited(struct aprof_share *s, uint32_t tier, uint64_t waited);

void tier_reset(void);

#pragma GCC visibility pop

#endif
