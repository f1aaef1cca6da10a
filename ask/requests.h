/* SPDX-License-Identifier: MIT */
/*
 * Requests by kind: which are meant, what each took on average, and what they are called.
 *
 * In: a view. Cost: linear in its kinds. Locking: none.
 */
#ifndef APROF_ASK_REQUESTS_H
#define APROF_ASK_REQUESTS_H

#include "option.h"
#include "read/view.h"

/* Patterns (glob(7)), unless they are to be exact; NULL: all. */
struct request_filter {
  const char *kind, *tier;
  bool exact;
};

/* --kind and --tier, into one. */
extern const struct option_row request_options[];

/* Leaves those out of the view that are not meant: by the name of the kind, and where none of its
   tiers is; and futures alive that are a part of none of that kind. False where nothing is left. */
bool ask_keep_requests(struct view *, const struct request_filter *);
/* False after a message: there are none. */
bool ask_any_requests(const struct view *, const struct request_filter *);

/* It is meant. */
bool ask_is_meant(const struct request_filter *, const struct view_kind *);

/* The kind's name; with its function where another kind has the same. Of turn_text. */
const char *ask_kind_name(const struct view *, const struct view_kind *);

/* Of one on average; UNKNOWN: there are none. */
static inline uint64_t ask_each(uint64_t sum, uint64_t count) {
  return count ? sum / count : UNKNOWN;
}

/* All of a tier's time. */
static inline uint64_t ask_tier_time(const struct view_tier *t) {
  return t->exec.sum + t->waiting.sum;
}

/* Of the futures that are a part of it, the one that all others wait for: where it is. The longest
   so of several; NULL: none is known. */
const struct view_live *ask_holder(const struct view *, const struct view_pending *);

/* All that have ended, or any that goes on. */
uint64_t ask_requests(const struct view *);

#endif
