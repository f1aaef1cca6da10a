/* SPDX-License-Identifier: MIT */
/* Which futures lie on one stack: chains of calls, by what each record says of its caller and
   callee. Reads and writes records only; see stack.c. Inside an event. */
#ifndef APROF_RT_STACK_H
#define APROF_RT_STACK_H

#include "rt/rt.h"

static inline bool is_aside(const struct aprof_future *f, uint32_t callee) {
  return f->state == APROF_FUTURE_ASIDE && (f->callee & ~CALLEE_MINE) == callee;
}

static inline bool on_own_stack(const struct thread *t, uintptr_t at) {
  return at - t->stack_low < t->stack_high - t->stack_low;
}

/* What f, which is tentative, has in place of a key: where its bracket's token lies, by which a
   jump past it is told (event/resync.c); in a bracket inside another one that one's index, too. */
#define TENTATIVE_INSIDE 1u /* in key0 */
static inline __attribute__((always_inline)) void
tentative_lies(struct aprof_future *f, const struct aprof_token *token,
               const struct aprof_future *around) {
  f->key0 = (uintptr_t)token | (around != NULL ? TENTATIVE_INSIDE : 0);
  if (around != NULL)
    f->key1 = index_of(around);
}
static inline uintptr_t tentative_token(const struct aprof_future *f) {
  return (uintptr_t)f->key0 & ~(uintptr_t)TENTATIVE_INSIDE;
}

/* That of the create bracket around f's; or NULL. */
static inline bool tentative_inside(const struct aprof_future *f) {
  return f->key0 & TENTATIVE_INSIDE;
}
static inline struct aprof_future *tentative_around(const struct aprof_future *f) {
  struct aprof_future *around = tentative_inside(f) ? record_at((uint32_t)f->key1) : NULL;
  return around != NULL && around->state == APROF_FUTURE_TENTATIVE ? around : NULL;
}

/* The create bracket of f, or none, is the innermost that is open here. */
static inline void tentative_is(struct thread *t, struct aprof_future *f) {
  t->tentative = f;
  t->tentative_id = f != NULL ? f->id : 0;
}

/* What runs on f's stack when f does: itself, or the body it awaits there. */
struct aprof_future *innermost(struct aprof_future *f);

/* ... of the bodies alone that f's key means: those that it called, none that has a key. */
struct aprof_future *innermost_own(struct aprof_future *f);

/* No two pairs of futures have the same: serials are small, and threads have them alike. */
static inline uint64_t top_ids(const struct aprof_future *f, const struct aprof_future *top) {
  return f->id + top->id * 0x9e3779b97f4a7c15ull;
}

/* The same by what t remembers, at once: the body that waits there, as long as it waits as it did
   when f's bracket closed here, so that nothing below it has changed. NULL: not known. */
static inline struct aprof_future *top_known(const struct thread *t, const struct aprof_future *f) {
  const struct top *known = &t->tops[index_of(f) % TOPS];
  struct aprof_future *top = future_at(known->top);
  return likely(known->both == top_ids(f, top)) && likely(top->state == APROF_FUTURE_WAITING)
             ? top
             : NULL;
}

/* Does `top`, which runs here or suspended itself last, lie on f, with bodies alone between them?
   Then that is remembered: no walk the next time. */
bool top_of(struct thread *t, const struct aprof_future *f, const struct aprof_future *top);

/* The node of the outermost future on f's stack. */
uint32_t outermost(const struct aprof_future *f);

/* Is f in the chain of callers that `top` lies on, each put aside for the next? */
bool in_chain(struct aprof_future *top, struct aprof_future *f);

/* Is f on the stack that runs here? */
bool runs_here(const struct thread *t, struct aprof_future *f);

/* What lies on top of the stack that is active here: what runs, or was the last to
   suspend, or idles. NULL: nothing known. */
struct aprof_future *active_top(struct thread *t);

/* f, which is aside, waits for nobody's return any more: it goes on by an event of its own. */
void goes_on_by_itself(struct aprof_future *f);

/* f, and all that it called up to `top`, are going to be run by another future: see `outer`. */
void outer_unknown(struct aprof_future *top, struct aprof_future *f);

/* Does f run, or what it awaits on its stack? Else it is suspended, or has not
   run yet, and can be ended from outside. */
bool is_busy(struct aprof_future *f);

/* The caller's stack pointer, or a little above it where the event was called rather than jumped
   to. */
#define caller_stack() ((uintptr_t)__builtin_dwarf_cfa())

/* Is `inner`, a token's address, on the stack where t->suspended waits, above
   its token? */
bool on_suspended_stack(const struct thread *t, uintptr_t inner);

#endif
