/* SPDX-License-Identifier: MIT */
/*
 * What is known of values on a way through a function: by branches that were taken, and by
 * constants that were put into variables.
 *
 * Purpose: a flag that says whether a lock is held, a lock that failed, a future that was not made.
 * Cost: a handful of short texts; the oldest is forgotten first. Locking: none.
 */
#ifndef APROF_CHECK_FACTS_H
#define APROF_CHECK_FACTS_H

#include <string.h>

#include "ir.h"

enum fact_kind {
  FACT_IS,     /* the value is the number */
  FACT_IS_NOT, /* it is not */
  FACT_HOLDS,  /* a comparison of two values is true */
  FACT_FAILS
};

struct fact {
  const char *of; /* not ended */
  size_t length;
  int64_t number;
  enum fact_kind kind;
};

enum { MOST_FACTS = 24 };

struct facts {
  size_t count;
  struct fact fact[MOST_FACTS];
};

void facts_add(struct facts *, struct fact);
/* A branch goes this way: 0 is where its text is not zero. */
void facts_take(struct facts *, const char *branch, size_t way);
/* The way that a branch goes; -1: it is not known. */
int facts_way(const struct facts *, const char *branch);
/* What a step changes. Of `shared` variables the address is known elsewhere. */
void facts_step(struct facts *, const struct ir_step *, const bool *shared);
/* The next round of a loop: others may have changed what is not the function's own. */
void facts_round(struct facts *, const bool *shared);
/* Leaves what holds in the other, too; whether that is less. */
bool facts_meet(struct facts *, const struct facts *other);

/* Of those that are there no more is read. */
static inline void facts_copy(struct facts *to, const struct facts *from) {
  memcpy(to, from, offsetof(struct facts, fact) + from->count * sizeof *from->fact);
}

/* The fact that a value is this number, or is not. */
static inline struct fact fact_of(const char *value, enum fact_kind kind, int64_t number) {
  return (struct fact){value, strlen(value), number, kind};
}

#endif
