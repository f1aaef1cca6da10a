/* SPDX-License-Identifier: MIT */
/*
 * One histogram in the profile, struct aprof_buckets: made, counted into, added up, given back.
 *
 * Its memory comes in pieces of a few sizes, which are used again. All under rt.lock, but counting,
 * which the thread of its block alone does.
 */
#ifndef APROF_RT_BUCKETS_H
#define APROF_RT_BUCKETS_H

#include <stddef.h>

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

/* With room for so many octaves, of one value or two; 0: for few values. NULL: no memory. */
struct aprof_buckets *buckets_new(uint32_t octaves, bool two);
/* With room for all that `h` has counted, and for that bucket. NULL: no memory. */
struct aprof_buckets *buckets_larger(const struct aprof_buckets *h, uint32_t bucket);
void buckets_free(struct aprof_buckets *h);
/* What the one has counted, added to a larger one. */
void buckets_add_up(struct aprof_buckets *to, const struct aprof_buckets *from);
/* It has counted nothing, and is in nobody's counters. */
void buckets_empty(struct aprof_buckets *h);
/* Some of what was to be counted is not. */
void buckets_lost(void);
void buckets_reset(void);

/* `count`, one of those from `buckets` on, has passed 65535: it is 0. */
SLOW void buckets_carries(uint16_t *buckets, const uint16_t *count);
/* ... called with both on the stack; changes no register. See fast_count_in. */
#if defined __x86_64__ && defined __LP64__ && defined __OPTIMIZE__ &&                              \
    !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__ && !defined __code_model_large__
#define BUCKETS_CARRIES_KEPT
#endif

#pragma GCC visibility pop

static inline struct aprof_buckets *buckets_of(const uint16_t *counts) {
  return (struct aprof_buckets *)((uintptr_t)counts - offsetof(struct aprof_buckets, count));
}

/* The one that a word of counters names. */
static inline struct aprof_buckets *buckets_named(uint64_t buckets, bool two) {
  return buckets_of((uint16_t *)(uintptr_t)(buckets + APROF_BUCKETS_BEFORE(two)));
}

static inline void buckets_count(struct aprof_buckets *h, uint32_t at) {
  if (unlikely(++h->count[at] == 0))
    buckets_carries(h->count, &h->count[at]);
}

#endif
