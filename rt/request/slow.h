/* SPDX-License-Identifier: MIT */
/* The slowest requests of each kind; see slow.c. Inside an event. */
#ifndef APROF_RT_SLOW_H
#define APROF_RT_SLOW_H

#include "pool.h"

#pragma GCC visibility push(hidden)

struct spent {
  uint64_t wall, exec, queued, waiting; /* ticks */
};

/* The same without asking: into the log of who follows from outside; among the slowest. */
void slow_log(uint32_t kind, const struct aprof_request *r, const struct spent *s, uint64_t now);
void slow_replace(struct aprof_kind *k, const struct aprof_request *r, const struct spent *s,
                  uint64_t now);
/* Keeps the request, which is over, if it is one of the slowest of the last minutes of its kind,
   which has that number, and puts it into the log if it took as long as that wants. */
static inline void slow_keep(struct aprof_kind *k, uint32_t number, const struct aprof_request *r,
                             const struct spent *s, uint64_t now) {
  if (unlikely(s->wall >= __atomic_load_n(&rt.header->log_over, __ATOMIC_RELAXED)))
    slow_log(number, r, s, now);
  if (unlikely(s->wall > __atomic_load_n(&k->least, __ATOMIC_RELAXED) ||
               now > __atomic_load_n(&k->fresh_until, __ATOMIC_RELAXED)))
    slow_replace(k, r, s, now);
}
void slow_forget(struct aprof_kind *k); /* rt.lock held */

#pragma GCC visibility pop

#endif
