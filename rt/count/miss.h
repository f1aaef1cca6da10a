/* SPDX-License-Identifier: MIT */
/* Events that could not be placed, counted in their block by what sent them; see miss.c. Only
   inside an event. */
#ifndef APROF_RT_MISS_H
#define APROF_RT_MISS_H

#include "rt/rt.h"

/* `site`: its number; 0: not known. */
SLOW void event_missed(struct thread *t, enum aprof_miss kind, uint32_t site);
/* ... by the code that called it. */
SLOW void event_missed_from(struct thread *t, enum aprof_miss kind, const void *caller);
void misses_forget(struct aprof_block *block); /* its counts start from zero */

#endif
