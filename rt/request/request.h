/* SPDX-License-Identifier: MIT */
/*
 * Requests that live: their records, from the first future to the last; see request.c.
 *
 * Purpose: which request a future is part of, and what is added to it. Cost: atomic additions, on
 * general events alone. Locking: none, but for new memory. Inside an event.
 */
#ifndef APROF_RT_REQUEST_RECORD_H
#define APROF_RT_REQUEST_RECORD_H

#include "pool.h"

#pragma GCC visibility push(hidden)

/* A new one, without members; `first`: the future that it begins with. 0: there is no room, which
   is counted. */
uint32_t request_begin(struct thread *t, const struct aprof_future *first, uint32_t parent,
                       uint8_t flags, bool root, uint64_t now);
static inline void request_join(uint32_t number) {
  __atomic_fetch_add(&request_at(number)->members, 1, __ATOMIC_RELAXED);
}
/* The same of one that another thread may just have ended: false, it has. Let go by request_part.
 */
bool request_hold(uint32_t number);
/* A part of it that stopped running then. */
static inline void request_stopped(struct aprof_request *r, uint64_t tick) {
  request_raise(&r->stopped, tick);
}
/* One member less. The last one ends what has no root. */
void request_left(struct thread *t, uint32_t number, uint64_t now);
static inline void request_part(struct thread *t, uint32_t number, uint64_t now) {
  if (__atomic_sub_fetch(&request_at(number)->members, 1, __ATOMIC_ACQ_REL) == 0)
    request_left(t, number, now);
}
/* It is over and counted; members that are left are `after` from here on. */
void request_finish(struct thread *t, uint32_t number, uint64_t now);
/* Its root came to nothing: it never was. */
void request_undo(struct thread *t, uint32_t number);
/* A trace of some requests leaves it out, that has just begun with this root. */
void request_leave_out(struct thread *t, const struct aprof_future *root);
void request_reset(void);

#pragma GCC visibility pop

#endif
