/* SPDX-License-Identifier: MIT */
/*
 * How late the loops of a process are, from its events while they are recorded.
 *
 * In: the events of each thread, as they are fetched. Out: how long what was ready has waited at
 * most: a turn of a loop, from when its poller returned to when it is back there; or a future, from
 * when it was queued to when it ran. How long a thread without a poller runs something is no
 * lag: nobody waits for it but its queue, which is seen.
 * Cost: a look at each event, and a table of 64 KB. Where two futures meet in it, the older one is
 * not seen. Locking: none.
 */
#ifndef APROF_RECORD_LAG_H
#define APROF_RECORD_LAG_H

#include <aprof/trace.h>
#include <stddef.h>

struct lag;

struct lag *lag_new(void);
/* Events of that ring, in their order; `near`: a tick of about their time. */
void lag_see(struct lag *, uint32_t ring, const struct aprof_trace_event *, size_t count,
             uint64_t near);
/* The longest since it was asked last, in ticks; of turns in which something runs, up to `now`. */
uint64_t lag_take(struct lag *, uint64_t now);
void lag_free(struct lag *);

#endif
