/* SPDX-License-Identifier: MIT */
/*
 * Which requests of a recording are slow, and which are the rest: kind by kind.
 *
 * In: a story, and what is asked for. Out: of each kind its requests, the slowest first.
 * Only those that are whole count: what began before the recording, or goes on behind it, has no
 * length that anybody knows. Cost: a sort. Locking: none.
 */
#ifndef APROF_ASK_SLOWEST_H
#define APROF_ASK_SLOWEST_H

#include "option.h"
#include "record/story.h"

struct slowest_filter {
  const char *kind, *tier; /* patterns (glob(7)); NULL: all */
  double percent;          /* the slowest so many of each kind; 0: 5, unless `over` says it */
  uint64_t over;           /* ns: slow is what took so long; 0: see `percent` */
  const char *by;          /* a place that was watched: "slow" are those that came by; or NULL */
};

/* --slowest and --over, into one; slowest_kinds: --kind, too. */
extern const struct option_row slowest_options[], slowest_kinds[];
/* "5%": NULL, or what is wrong, to be freed. */
char *slowest_take(double *percent, const char *text);
/* What is wrong with them; or NULL. */
const char *slowest_fault(const struct slowest_filter *);

struct slowest_kind {
  const char *name;                     /* with its function where another kind has the same */
  const struct story_request **request; /* the slowest first; by a place: of each side */
  uint32_t count, slow;                 /* all; the first so many are slow */
  uint32_t partial, failed;             /* beside `count`; of it */
  uint64_t threshold;                   /* of the slow ones the shortest, ns; 0: there is none */
  uint64_t wall, slow_wall;             /* sums */
};

struct slowest {
  struct slowest_kind *kind; /* what has most time in slow ones first */
  size_t kinds;
  uint64_t count, slow, partial;
  struct arena arena;
};

/* NULL after a message: there are no such requests. slowest_free() it. */
struct slowest *slowest_find(const struct story *, const struct slowest_filter *);
void slowest_free(struct slowest *);
/* The slow ones, then the others, each in the order in which they began: what is near in time is
   near in memory, which matters where all are walked. free() it. */
const struct story_request **slowest_in_time(const struct slowest_kind *);
/* For who compares: kinds whose requests are all slow behind the others. */
void slowest_compared_first(struct slowest *);

/* The wall of the request that `percent` of all are no longer than; UNKNOWN of none. */
uint64_t slowest_percentile(const struct slowest_kind *, unsigned percent);
static inline uint64_t slowest_wall(const struct story_request *r) {
  return r->end - r->begin;
}

#endif
