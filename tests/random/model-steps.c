/* SPDX-License-Identifier: MIT */
/* The steps that events are made of. */
#include "model-steps.h"

bool model_no_slice_since(const struct thread *t, const struct token *token) {
  return token->thread == t && token->slices == t->slices;
}

/* -- stacks ------------------------------------------------------------------ */

bool model_alive(const struct future *f) {
  return f && f->state != OVER && f->state != NEVER && f->state != DETACHED;
}

bool model_aside_for(const struct future *f, const struct future *callee) {
  return f && f->state == WAITING && f->aside == FOR_CALLEE && f->callee == callee;
}

struct future *model_caller_of(const struct future *f) {
  return model_aside_for(f->caller, f) ? f->caller : NULL;
}

/* The body that runs, or waits, on top of the stack that f is on. */
struct future *model_innermost(struct future *f) {
  while (f->state == WAITING && f->aside == FOR_CALLEE && model_alive(f->callee) &&
         f->callee->caller == f)
    f = f->callee;
  return f;
}

struct future *model_innermost_own(struct future *f) {
  while (f->state == WAITING && f->aside == FOR_CALLEE && model_alive(f->callee) &&
         f->callee->caller == f && f->callee->called)
    f = f->callee;
  return f;
}

void model_wake_moves(struct future *from, struct future *to) {
  if (!from->woken)
    return;
  to->woken = true;
  to->woken_at = from->woken_at;
  to->timed = false;
  from->woken = false;
}

/* What lies on top of the stack that is active on this thread. */
struct future *model_active_top(const struct thread *t) {
  if (t->current)
    return t->current;
  struct future *f = t->suspended;
  if (f && f->state == WAITING && f->aside == NOT_ASIDE && f->thread == t->number)
    return f;
  f = t->idler;
  return f && f->state == WAITING && f->aside == FOR_IDLE ? f : NULL;
}

bool model_in_chain(struct future *top, const struct future *f) {
  while (top && top != f)
    top = model_caller_of(top);
  return top != NULL;
}

/* -- steps ------------------------------------------------------------------- */

const struct aprof_site *model_take_call(struct thread *t, const struct aprof_site *callee) {
  return t->call ? t->call : callee;
}

/* The future that runs here waits while something else does. */
void model_put_aside(struct thread *t, const struct aprof_site *site, enum aside aside,
                     struct future *callee) {
  struct future *f = t->current;
  ledger_close(t, f, false);
  f->opened_aside = f->await == NULL;
  if (f->opened_aside)
    f->await = ledger_await(t->ledger, f->at, site->name);
  ledger_waits(t, f);
  f->aside = aside;
  f->callee = callee;
}

void model_starts_running(struct thread *t, struct future *f, const char *from) {
  t->suspended = NULL;
  ledger_runs(t, f, from);
}

void model_come_back(struct thread *t, struct future *f, bool immediate) {
  const char *from = f->await->name;
  ledger_close(t, f, immediate);
  if (f->opened_aside)
    f->await = NULL;
  f->aside = NOT_ASIDE;
  f->callee = NULL;
  if (!immediate)
    f->waited = true;
  model_starts_running(t, f, from);
}

void model_waits_at(struct thread *t, struct future *f, struct path *await, bool implicit) {
  f->await = await;
  f->implicit = implicit;
  f->waited = true;
  ledger_waits(t, f);
  if (place_in_background(f->site, await->name))
    requests_waits_for_new(t->ledger, f);
}

/* What runs here was left without a word. */
void model_abandon(struct thread *t) {
  struct future *f = t->current;
  t->ledger->missed++;
  ledger_close(t, f, false);
  ledger_slice_end(t, f->site->name);
  if (f->await)
    model_waits_at(t, f, f->await, f->implicit);
  else
    model_waits_at(t, f, ledger_await(t->ledger, f->path, f->birth), true);
}

/* All above f, from top down, is over; f itself is left as it is. */
void model_cancel_above(struct thread *t, struct future *top, struct future *f) {
  while (top != f) {
    struct future *caller = model_caller_of(top);
    if (top->called && caller && (top->state == RUNNING || top->aside))
      model_wake_moves(top, caller);
    ledger_close(t, top, false);
    ledger_over(t, top, APROF_CANCELLED);
    top = caller;
  }
}

/* ... and then f runs. */
void model_unwind_to(struct thread *t, struct future *f) {
  struct future *top = model_active_top(t);
  model_cancel_above(t, top, f);
  if (f->state == WAITING)
    model_come_back(t, f, false);
  if (t->idler && !(t->idler->state == WAITING && t->idler->aside == FOR_IDLE)) {
    t->idler = NULL; /* its bracket is over too */
    t->idling = false;
  }
}

int model_verdict(const struct future *f, int how) {
  return f->ending == END_ASKED ? f->how : how;
}

/* -- at rest, and by key ------------------------------------------------------ */

/* Does f, or what it awaits on its stack, run? Else it is suspended or was never
   run, and can be ended from outside. */
bool model_busy(struct future *f) {
  struct future *top = model_innermost(f);
  return top->state == RUNNING || top->aside != NOT_ASIDE;
}

void model_ends_at_rest(struct thread *t, struct future *f, int how) {
  model_cancel_above(t, model_innermost(f), f);
  ledger_close(t, f, false);
  ledger_over(t, f, how);
}

bool model_has_key(const struct future *f, uint32_t ns, const struct op *op) {
  return f->keyed && (f->ns == ns || ns == APROF_NS_ANY) && f->key0 == op->key0 &&
         f->key1 == op->key1;
}

struct future *model_find_key(struct ledger *ledger, uint32_t ns, const struct op *op) {
  for (unsigned i = 0; i < ledger->future_count; i++)
    if (model_has_key(&ledger->futures[i], ns, op))
      return &ledger->futures[i];
  return NULL;
}
