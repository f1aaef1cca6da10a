/* SPDX-License-Identifier: MIT */
/*
 * Futures as parts of requests; see member.c.
 *
 * Purpose: whose a future is, from its birth or in mid-life, and what is booked of it when. Cost:
 * of those that are part of a request, and of others a test. Locking: none; a future is moved by
 * who runs it, or holds it at rest. Inside an event.
 */
#ifndef APROF_RT_MEMBER_H
#define APROF_RT_MEMBER_H

#include "pool.h"

#pragma GCC visibility push(hidden)

/* f, which is new, begins a request, or is of that of what runs here; its flags are set. */
void member_created(struct thread *t, struct aprof_future *f, uint32_t site_flags, uint64_t now);
/* ... a body that was entered: called by `caller`, or NULL. */
void member_entered(struct thread *t, struct aprof_future *f, struct aprof_future *caller,
                    bool root, uint64_t now);
/* The trace is told whose f is since then, and in which tier. */
void member_told(struct thread *t, const struct aprof_future *f, uint64_t since);
/* f is over, its last segment closed; `runs`: with that it stops running. */
void member_over(struct thread *t, struct aprof_future *f, int how, bool runs, uint64_t now);
void member_undone(struct thread *t, struct aprof_future *f); /* it never was */
void member_forget(struct aprof_future *f);                   /* its epoch is over */

/* f, which runs from now on, has waited for new work; it, or what it called, begins to wait for
   it. */
void member_goes_on(struct thread *t, struct aprof_future *f, uint64_t now);
void member_rests(struct thread *t, struct aprof_future *f, uint64_t now);
/* f, on top of what runs here, goes over to that request, with the bodies that lie below it. */
void member_moves(struct thread *t, struct aprof_future *f, uint32_t to, uint64_t now);
/* f, of this id, goes over to the request of what runs here, if it rests. */
void member_handed(struct thread *t, struct aprof_future *f, uint64_t id, uint64_t now);

/* f, which runs, is in that tier from now on. A bracket's number; 0: there is no room. */
uint32_t member_tier_begin(struct aprof_future *f, uint32_t tier, uint64_t now);
/* The innermost that is open; 0: none. */
uint32_t member_bracket(const struct aprof_future *f);
/* The bracket closes, with all that lie in it; or these alone. */
void member_tier_end(struct aprof_future *f, uint32_t bracket, uint64_t now);
void member_tier_back(struct aprof_future *f, uint32_t bracket, uint64_t now);

void member_thread_ends(struct thread *t); /* its block is given back */

/* At the end of an event: is a request over whose root is? */
void request_settle(struct thread *t);

#pragma GCC visibility pop

#endif
