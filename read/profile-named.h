/* SPDX-License-Identifier: MIT */
/*
 * The histograms that changed records name, as pages of the file to copy.
 *
 * In: records as they are now, and a copy of the profile. Out: runs of pages: a call of the kernel
 * for each histogram costs more than the pages that they lie in, many at once. Cost: linear in
 * records, and in pages from the first to the last. Locking: none.
 */
#ifndef APROF_READ_PROFILE_NAMED_H
#define APROF_READ_PROFILE_NAMED_H

#include "profile.h"

enum { PAGE_WANTED = 1, PAGE_TOLD = 2 };

/* All zeros at first. */
struct named {
  const struct profile_part *last; /* most lie where the one before lay */
  uint32_t *reference;
  size_t references, room;
  uint32_t *recent; /* paths of a function name the same ones: some of these, by a hash */
  unsigned char *page;
  uint64_t next, end; /* pages: from there to there some may be wanted, and not told */
};

/* The beginnings of the record's histograms are wanted. */
void named_add(struct named *, const struct profile *, const struct aprof_counters *);
void named_add_amount(struct named *, const struct profile *, const struct aprof_amount *);
/* With the beginnings copied, so is all of them. */
void named_reach(struct named *, const struct profile *);
/* The next run of pages that is wanted, and was not told before; false: there is no more. */
bool named_next(struct named *, uint64_t *at, uint64_t *size);
void named_free(struct named *);

#endif
