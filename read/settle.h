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

/* What the events cost, as a share of what the loops worked. */
void settle_overhead(struct view *);

#endif
