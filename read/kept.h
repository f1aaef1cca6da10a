/* SPDX-License-Identifier: MIT */
/*
 * What a view of a profile need not make again while the profile is followed (follow.h):
 * distributions whose histograms have not changed.
 *
 * Purpose: to add up and convert histograms is most of the cost of a view, and from one reading
 * to the next few of them change.
 * Cost: a hash per distribution. Locking: none.
 */
#ifndef APROF_READ_KEPT_H
#define APROF_READ_KEPT_H

#include "histogram.h"
#include "model.h"
#include "view.h"

struct kept;

struct kept *kept_new(void);
void kept_free(struct kept *);
/* The profile has been brought up to date: what is not fresh in it is good for once more. */
void kept_next(struct kept *);

/* The distribution of these histograms, of which no two are the same and `offset` rises, and whose
   greatest value is `max`; in the arena. False: it has to be made, and put. */
bool kept_get(struct kept *, struct arena *, const struct profile *, const uint32_t *offset,
              size_t offsets, uint64_t max, struct distribution *);
void kept_put(struct kept *, const uint32_t *offset, size_t offsets, uint64_t max,
              const struct distribution *);

/* view-profile.c: `kept` may be NULL. */
struct view *view_of_model(const struct model *, const char *what, const struct view_request *,
                           struct kept *);

#endif
