/* SPDX-License-Identifier: MIT */
/*
 * The functions that ran most, the kinds of requests that took most, and the rest of them as one.
 *
 * Purpose: what is shown over time must not grow with the program, and its sums must stay
 * those of all functions. Cost: a sort. Locking: none.
 */
#ifndef APROF_ASK_TOP_H
#define APROF_ASK_TOP_H

#include "read/view.h"

#define TOP_REST "(other)"

struct top {
  struct arena arena;
  const struct view_function **function; /* the most exec first; of the view */
  size_t functions;
  struct view_function *rest; /* sums and greatest of all others, without lists; NULL: none */
  uint64_t members;           /* changes with which functions are listed, whatever their order */
};

/* Kinds of requests, those with the most time first, and all others as one. */
struct top_kinds {
  struct arena arena;
  const struct view_kind **kind; /* of the view */
  size_t kinds;
  struct view_kind *rest; /* as of struct top: without tiers and slowest ones */
  uint64_t members;
};
struct top_kinds ask_top_kinds(const struct view *, size_t count);
void ask_top_kinds_free(struct top_kinds *);

/* Which were listed when they were last, of one process. */
struct top_memory {
  uint64_t *hash;
  size_t count;
};

/* The first `count` one by one; 0: all. With a memory those that were listed stay while they are
   among the first 2 `count`, and it becomes what is listed now: whoever looks again and again sees
   few come and go. The view has to live as long. */
struct top ask_top(const struct view *, size_t count, struct top_memory *);
void ask_top_free(struct top *);

#endif
