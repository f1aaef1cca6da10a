/* SPDX-License-Identifier: MIT */
/*
 * Governed overhead, as it is read: what each thread had shed, for how much of its
 * time, and which numbers of which functions that concerns.
 *
 * Purpose: the one place that knows enum aprof_step beside the runtime. Totals have
 * it by thread and by function; a view says of each number what it lacks (shed.c, and
 * field_lack), and the report marks it with a `~'.
 * Cost: linear in threads and counters. Locking: none.
 */
#ifndef APROF_READ_GOVERNED_H
#define APROF_READ_GOVERNED_H

#include "model.h"
#include "view.h"

/* What its events cost a thread, in ns: by those of them that were timed; where they are too few by
   those of all threads; and where these are, too, by what each took at start, at its step and on its
   path, which is a lower bound. */
uint64_t governed_cost(const struct model *m, const struct aprof_block *b);
/* Of all threads: what an event took, in thousandths of a tick. 0: too few were timed. */
uint64_t governed_timed(const struct model *m);

/* What can be shed; what a thread has shed. */
void governed_fill(struct view *, const struct model *);
void governed_fill_thread(struct view *, const struct model *, struct view_thread *);
/* What the numbers of a function lack: bits of 1 << enum aprof_step. */
unsigned governed_concern(const struct model *m, const struct model_function *f);

#endif
