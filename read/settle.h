/*
 * Parts of view_settle that are done again when numbers have been subtracted.
 * Cost: linear. Locking: none.
 */
#ifndef APROF_READ_SETTLE_H
#define APROF_READ_SETTLE_H

#include "view.h"

/* What functions lack, and what of them held a loop. */
void settle_functions(struct view *);
/* Who holds which loop, and the longest hold of each. */
void settle_holds(struct view *);

#endif
