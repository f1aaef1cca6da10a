/* SPDX-License-Identifier: MIT */
/* How futures end: by their own bracket, from outside, with the stack above them; see end.c. Inside
   an event. */
#ifndef APROF_RT_END_H
#define APROF_RT_END_H

#include "rt/future/record.h"
#include "transitions.h"

/* f->ending beside 1 + how: */
#define ENDING_REARMED 0x80u /* its key was armed again while it runs */
#define ENDING_KEYLESS 0x40u /* its key went to a new future while it runs */
#define ENDING_KEYED 0x41u   /* the thread of its create's bracket writes its key: it does not end \
                              */

/* How f ends whose body is left. */
static inline int body_verdict(const struct aprof_future *f, int how) {
  return likely(f->ending == 0) || f->ending >= ENDING_KEYLESS ? how : f->ending - 1;
}

/* Notes what a reader needs if the process is killed before an end is counted at `c`: for what
   runs, before its id is taken away. See struct aprof_future. */
static inline void future_ends(struct aprof_block *b, const struct aprof_counters *c, int how) {
  b->ends = (uint64_t)how << APROF_ENDS_HOW | (&c->function.done)[how];
  publish_fence();
}

/* ... for what was at rest, behind that. */
static inline void future_ending(struct aprof_block *b, struct aprof_future *f, uint32_t lease,
                                 const struct aprof_counters *c, int how) {
  f->lease = lease;
  b->ends = (&c->function.done)[how];
  publish_fence();
  f->state = (uint8_t)(APROF_FUTURE_ENDING + how);
  publish_fence();
}

/* f, of this id until the caller claimed it, is over; its last segment is closed. */
void future_end(struct thread *t, struct aprof_future *f, uint64_t id, int how, uint64_t now);

/* Another thread may write f's key, which runs here or lies on the stack: waits until it has. */
SLOW void key_settles(struct thread *t, struct aprof_future *f);
static inline void key_settled(struct thread *t, struct aprof_future *f) {
  if (unlikely(f->ending == ENDING_KEYED))
    key_settles(t, f);
}

/* ... where the claim is made here. False: another thread ended it. */
static inline bool future_over(struct thread *t, struct aprof_future *f, uint64_t id, int how,
                               uint64_t now) {
  key_settled(t, f);
  future_ends(t->block, counters_of(t, function_node(f->node)), how);
  if (unlikely(!future_claim(f, id)))
    return false;
  future_end(t, f, id, how, now);
  return true;
}

/* The bodies that run on the thread are over, from the innermost down; nothing runs then. */
void cancel_running(struct thread *t, uint64_t now);

/* The body of `callee`, which is over, was left unseen: if `caller` waits for that, it does in
 * vain.
 */
void callee_left(struct thread *t, struct aprof_future *caller, uint32_t callee, uint64_t now);

/* The bodies from `top` down to above f are cancelled; what ran has its exec
   closed already. */
void cancel_above(struct thread *t, struct aprof_future *top, struct aprof_future *f, uint64_t now);

#define TRIES 8u /* a lease may go from thread to thread */

/* f, which waits, and all above it on its stack are over; unless it is not of this id
   any more. */
void end_waiting(struct thread *t, struct aprof_future *f, uint64_t id, int how, uint64_t now);

/* end_waiting where f is not busy, and no other thread can begin to run it meanwhile. False,
   with nothing changed, where one of them runs, or may. */
bool end_at_rest(struct thread *t, struct aprof_future *f, uint64_t id, int how, uint64_t now);

/* f, which waits, is due anew, or at no time any more (0). Overdue, it has been queued since then:
   that stays so, and another wait begins. False, with nothing changed, where it does not rest. */
bool rearm_at_rest(struct thread *t, struct aprof_future *f, uint64_t id, uint64_t due,
                   uint64_t now);

/* f is to take the key of old, which goes on instead, due when f is. False, with nothing changed:
   old is another function's, or may run on another thread. create.c. */
bool key_rearmed(struct thread *t, struct aprof_future *old, uint64_t id,
                 const struct aprof_future *f, uint64_t now);

/* f runs on another thread: it is asked to end when its bracket closes there. Where that
   thread has just missed it, it is ended here. False: it does not. */
bool end_asked(struct thread *t, struct aprof_future *f, uint64_t id, int how);

/* f runs on another thread: its bracket finds `ending` when it closes there. False: f is over, or
   at rest without having seen it, and it is taken back. */
bool future_asked(struct thread *t, struct aprof_future *f, uint64_t id, uint8_t ending);

/* Everything above `f` on this stack is over: from `top` up the caller chain.
   False, with nothing changed, where f is not in that chain. */
bool unwind_to(struct thread *t, struct aprof_future *top, struct aprof_future *f, uint64_t now);

/* What runs here was left without an event, which counts as missed. It waits where it was born
   until an event of its own shows it again. */
SLOW void abandon_running(struct thread *t, uint64_t now);
/* Whatever the thread did until now, that is closed. */
static inline void nothing_runs(struct thread *t, uint64_t now) {
  if (unlikely(t->cur != NULL))
    abandon_running(t, now);
  else
    close_rest(t->block, now);
}

/* What ran here belongs to another thread, which books its time. This thread's time goes to no
   future. */
SLOW void running_lost(struct thread *t);

#endif
