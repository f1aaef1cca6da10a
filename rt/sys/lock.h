/* SPDX-License-Identifier: MIT */
/*
 * The lock of all slow paths, with signals blocked while it is held.
 *
 * Locking: `rt.lock` is a spin lock. A thread that waits for it lets others have its
 * processor. No handler runs, or jumps away, while its thread holds the lock.
 */
#ifndef APROF_RT_LOCK_H
#define APROF_RT_LOCK_H

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

void rt_lock(void);
void rt_unlock(void);
bool rt_locked_here(void); /* a handler, while its own thread holds it */

/* No handler and no cancellation of this thread comes between the two. *before: what held until
   then, for signals_restore alone. Async-signal-safe. */
void signals_block(uint64_t *before);
void signals_restore(const uint64_t *before);
/* ... where the caller knows whether the program has given up system calls. */
void signals_block_confined(uint64_t *before, bool confined);

/* libc is being called inside an event, with signals let through. Stays true where a
   handler never returns; is looked at inside handlers only. */
extern __thread bool signals_in_libc __attribute__((tls_model("initial-exec")));

#pragma GCC visibility pop

#endif
