/* SPDX-License-Identifier: MIT */
/*
 * What is done when numbers have been subtracted or added up, some of it by view_settle too.
 * Cost: linear. Locking: none.
 */
#ifndef APROF_READ_SETTLE_H
#define APROF_READ_SETTLE_H

#include "view.h"

/* What functions lack, and what of them held a loop. */
void settle_functions(struct view *);
/* Who holds which loop, and the longest hold of each. */
void settle_holds(struct view *);

/* settle-requests.c: order, sums, and what is of no tier. */
void settle_requests(struct view *);
/* No tier has more than its kind: of a live process a request may be in the one number already, and
   not yet in the other. */
void settle_tiers(struct view *);
/* Of the slowest those that were there before. */
void settle_forget_slow(struct view *later, const struct view *earlier);

/* What the events cost, as a share of what the loops worked. */
void settle_overhead(struct view *);

#endif
