/* SPDX-License-Identifier: MIT */
/* The slowest requests of each kind; see slow.c. Inside an event. */
#ifndef APROF_RT_SLOW_H
#define APROF_RT_SLOW_H

#include "pool.h"

#pragma GCC visibility push(hidden)

struct spent {
  uint64_t wall, exec, queued, waiting; /* ticks */
};

/* Keeps the request, which is over, if it is one of the slowest of the last minutes of its kind,
   which has that number, and puts it into the log if it took as long as that wants. */
void slow_keep(struct aprof_kind *k, uint32_t number, const struct aprof_request *r,
               const struct spent *s, uint64_t now);
void slow_forget(struct aprof_kind *k); /* rt.lock held */

#pragma GCC visibility pop

#endif
