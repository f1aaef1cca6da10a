/* SPDX-License-Identifier: MIT */
/*
 * Numbers of one kind from two views: what is left of the later ones, or both together.
 *
 * Purpose: what the rows of fields.c say of differences and sums, for any object and list of
 * them. Elements of a list belong together where their keys are equal.
 * Cost: a comparison per element where lists have the same order, as those of one process mostly
 * do; else a string per element. Locking: none.
 */
#ifndef APROF_READ_FOLD_H
#define APROF_READ_FOLD_H

#include "fields.h"
#include "index.h"

enum fold { FOLD_SUBTRACT, FOLD_ADD, FOLD_RAISE };

/* `to` becomes what happened since `from`, or both together; or what has been counted, as it was in
   `from`, is no less: all else stays. In `arena`. */
void fold_object(enum fold, struct arena *, const struct layout *, void *to, const void *from);
/* Of elements that both lists have; those of `to` alone stay. Where they are added up, those of
   `from` alone come behind: where each of `from` lies in `to` then goes to `place`, if any. */
void fold_list(enum fold, struct arena *, const struct field *, void *to, const void *from,
               size_t *place);
/* The paths: `function` says where in `to` each of the functions of `from` lies. paths.c */
void fold_paths(enum fold, struct view *to, const struct view *from, const size_t *function);
/* The elements of a list, to be found by what tells them from others. */
struct matching {
  const struct layout *layout;
  char *first;
  size_t count, next; /* next: behind the one that was found last */
  bool indexed;
  struct index index;
};
struct matching fold_matching(const struct layout *, void *first, size_t count);
/* The element with the keys of `other`, the first if there are several out of order; or NULL. */
void *fold_match(struct matching *, const void *other);
void fold_matching_free(struct matching *);
bool fold_same(const struct layout *, const void *, const void *);
/* What tells an element from others, to be freed. */
char *fold_key(const struct layout *, const void *element);
/* A number as part of such a key; behind it. */
enum { FOLD_DIGITS = 21 };
char *fold_digits(char *to, uint64_t number);

#endif
