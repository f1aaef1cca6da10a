/* SPDX-License-Identifier: MIT */
/*
 * Functions by the requests that they ran in: what lies beneath the function in which these begin.
 *
 * Purpose: numbers are kept by path, not by kind. A path belongs to the nearest function above it,
 * or itself, that any request began in; where several kinds begin in one function, what is beneath
 * it is of all of them. Each path is of one such root, or of none, so sums stay those of all.
 * In: a view. Cost: linear in its paths, and a sort of them. Locking: none.
 */
#ifndef APROF_ASK_BENEATH_H
#define APROF_ASK_BENEATH_H

#include "read/view.h"

/* A function as far as it is beneath a root. */
struct beneath_function {
  const struct view_function *whole;
  const struct view_function *root; /* NULL: it is beneath none */
  bool is_whole;                    /* all of it is there */
  struct view_function part; /* its sums there; distributions and lists where it is all there */
};

struct beneath {
  struct beneath_function *function; /* those of a root one behind the other */
  size_t functions;
};

/* Of the kinds of which something ended in the time of the view, or goes on. */
struct beneath ask_beneath(const struct view *);
void ask_beneath_free(struct beneath *);

/* Of each path the index of the root that it is beneath, or SIZE_MAX; free() it. */
size_t *ask_path_roots(const struct view *);

/* Adds what was done in another place; and as one that did nothing at all. */
void ask_add_part(struct view_function *, const struct view_function *part);
void ask_clear_part(struct view_function *);

/* Requests of the kind, of which there are any, begin in that function. */
bool ask_begins_in(const struct view_kind *, const struct view_function *);
/* The function in which requests of the kind begin; NULL: the view does not have it. */
const struct view_function *ask_root_of(const struct view *, const struct view_kind *);
static inline bool ask_is_active(const struct view_kind *k) {
  return k->count || k->live;
}
/* Of each function the kind of requests in which it had most of its time; NULL: it ran in none.
   free() it. */
const struct view_kind **ask_kinds_above(const struct view *);
/* So many of these begin in that function. */
size_t ask_kinds_of_root(const struct view *, const struct view_function *root);

#endif
