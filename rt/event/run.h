/* SPDX-License-Identifier: MIT */
/* Whom a run means that has to be looked for; see run.c. Inside an event. */
#ifndef APROF_RT_RUN_H
#define APROF_RT_RUN_H

#include "rt/count/node.h"
#include "rt/future/owner.h"
#include "rt/future/record.h"

/* It waits, or is queued: a run may begin it. */
static inline bool run_may_begin(const struct aprof_future *f) {
  return f->state == APROF_FUTURE_WAITING || f->state == APROF_FUTURE_QUEUED;
}

/* ... the site of where it does. */
static inline uint32_t rests_at(const struct aprof_future *f) {
  return f->state == APROF_FUTURE_WAITING ? node_site(f->await) : node_function(f->node);
}

/* future_take, by a thread that may have records to give back, as what it takes is over soon. */
static inline bool run_takes(struct thread *t, struct aprof_future *f, uint64_t id, bool opened) {
  if (!future_take(t, f, id, opened))
    return false;
  if (unlikely(t->free_count > FREE_FOR_OTHERS))
    records_go_back(t);
  return true;
}

/* The future of that key, wherever it stands and whoever had it last, if it is at rest: this
   thread's from here on, its id in the token; of equal ones it is open. NULL: there is none, or it
   runs, or others hold all that are equal, or the run may be a look at a wait that goes on. */
struct aprof_future *run_sought(struct thread *t, const struct aprof_site *site,
                                struct aprof_token *token, uint64_t key0, uint64_t key1,
                                struct aprof_site *function);

/* Does a run change nothing but a count, which is made then? No future has the key, and none is
   made for it; or what has it is what runs here. False: the general event tells. */
bool run_changes_nothing(struct thread *t, struct aprof_site *site, uint64_t key0, uint64_t key1,
                         const struct aprof_site *function);

/* One of equal ones, which was taken, is given back: another thread, or a later run, may have it.
 */
static inline void run_given_back(struct aprof_future *f, uint64_t id) {
  if (f->id == id)
    __atomic_fetch_sub(&f->open, 1, __ATOMIC_RELEASE);
}

#endif
