/* SPDX-License-Identifier: MIT */
/* Chains of calls; see stack.h. */
#include "stack.h"

#include "rt/count/node.h"

/*
 * Chains of calls end, but for one that threads have knotted by running each other's
 * futures at once, without an order between them. Seen as by Brent: what is met again
 * after twice as many steps as before.
 */
struct chain {
  const struct aprof_future *met;
  uint32_t steps, turn;
};

static bool knotted(struct chain *chain, const struct aprof_future *f) {
  if (unlikely(f == chain->met))
    return true;
  if (chain->steps++ == chain->turn) {
    chain->met = f;
    chain->turn = 2 * chain->turn + 1;
  }
  return false;
}

static inline struct aprof_future *top_of_stack(struct aprof_future *f, bool own) {
  for (struct chain chain = {0}; !knotted(&chain, f);) {
    uint32_t callee = f->callee & ~CALLEE_MINE;
    if (f->state != APROF_FUTURE_ASIDE || callee >= CALLEE_NO_FUTURE)
      break;
    struct aprof_future *above = future_at(callee);
    if (above->caller != index_of(f) || above->id == 0 || (own && above->ns != NS_FRAME))
      break;
    f = above;
  }
  return f;
}

struct aprof_future *innermost(struct aprof_future *f) {
  return top_of_stack(f, false);
}

struct aprof_future *innermost_own(struct aprof_future *f) {
  return top_of_stack(f, true);
}

#define DEEP 64 /* bodies on one stack: more of them are walked each time */

bool top_of(struct thread *t, const struct aprof_future *f, const struct aprof_future *top) {
  struct top *known = &t->tops[index_of(f) % TOPS];
  if (known->both == top_ids(f, top) && known->top == index_of(top))
    return true;
  const struct aprof_future *above = top;
  for (int depth = 0; above != f; depth++) {
    uint32_t index = index_of(above);
    if (depth == DEEP || above->ns != NS_FRAME || above->caller == 0)
      return false;
    above = future_at(above->caller);
    if (!is_aside(above, index))
      return false;
  }
  *known = (struct top){.both = top_ids(f, top), .top = index_of(top)};
  return true;
}

uint32_t outermost(const struct aprof_future *f) {
  for (struct chain chain = {0}; f->caller != 0 && !knotted(&chain, f);) {
    const struct aprof_future *caller = future_at(f->caller);
    if (!is_aside(caller, index_of(f)))
      break;
    f = caller;
  }
  return function_node(f->node);
}

void goes_on_by_itself(struct aprof_future *f) {
  if (f->callee & CALLEE_MINE)
    f->flags |= APROF_F_IMPLICIT;
  f->callee = 0;
  f->wake_tick = 0;
  f->counters = (uintptr_t)nowhere; /* those of an older wait, as long as it ran */
  f->state = APROF_FUTURE_WAITING;
}

bool is_busy(struct aprof_future *f) {
  struct aprof_future *top = innermost(f);
  return top->state == APROF_FUTURE_RUNNING || top->state == APROF_FUTURE_ASIDE;
}

void outer_unknown(struct aprof_future *top, struct aprof_future *f) {
  /* Threads that race may have cut the chain. */
  for (struct chain chain = {0}; top != f && top->caller != 0 && !knotted(&chain, top);
       top = future_at(top->caller))
    top->outer = 0;
  f->outer = 0;
}

bool in_chain(struct aprof_future *top, struct aprof_future *f) {
  for (struct chain chain = {0}; top != f;) {
    if (top->caller == 0 || knotted(&chain, top))
      return false;
    struct aprof_future *below = future_at(top->caller);
    if (!is_aside(below, index_of(top)))
      return false;
    top = below;
  }
  return true;
}

bool runs_here(const struct thread *t, struct aprof_future *f) {
  return t->cur == f ||
         (t->cur != NULL && f->state == APROF_FUTURE_ASIDE && innermost(f) == t->cur);
}

struct aprof_future *active_top(struct thread *t) {
  if (t->cur != NULL)
    return t->cur;
  struct aprof_future *f = t->suspended;
  if (f != NULL && f->id == t->suspended_id && f->state == APROF_FUTURE_WAITING &&
      f->lease == t->lease)
    return f;
  f = t->idler;
  return f != NULL && is_aside(f, CALLEE_IDLE) ? f : NULL;
}

/*
 * Only a stack known to be the thread's own can be told from a coroutine's by
 * address; between two unknown ones only frames a few KB apart are believed to
 * be of one stack. Apart from where the frame of the first ends: its token may lie
 * above all else in it.
 */
#define FRAME_MOST (64u << 10)

bool on_suspended_stack(const struct thread *t, uintptr_t inner) {
  uintptr_t outer = t->suspended_at, frame = outer - t->suspended_stack;
  bool outer_own = on_own_stack(t, outer);
  bool inner_own = on_own_stack(t, inner);
  if (outer_own != inner_own || inner >= outer)
    return false;
  return outer_own || outer - inner < 4096 + (frame < FRAME_MOST ? frame : 0);
}
