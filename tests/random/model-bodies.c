/* SPDX-License-Identifier: MIT */
/* Bodies and awaits: enter, leave, suspend, resume, at, resync. */
#include "model-steps.h"

#include "aprof/profile.h"

/* -- bodies ------------------------------------------------------------------ */

static bool adopts(const struct future *f, const struct aprof_site *body, const void *self) {
  if (f->adopted)
    return false;
  return f->nameless || f->site == body || (self && place_of_address(self) == f->site);
}

static void adopt(struct thread *t, struct future *f, const struct aprof_site *body) {
  if (f->nameless)
    ledger_named(t, f, body);
  f->adopted = true;
}

/* A body, or a run, inside the bracket that brings its future to life. */
static void adopt_tentative(struct thread *t, struct future *f, const struct aprof_site *body) {
  if (t->current)
    model_put_aside(t, model_take_call(t, body), FOR_CREATE, NULL);
  adopt(t, f, body);
  t->tentative = f->enclosing;
  f->await = NULL;
  f->state = QUEUED; /* since its bracket began */
  ledger_close(t, f, false);
  model_starts_running(t, f, body->name);
}

void model_enter(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *f = t->tentative, *caller = t->current;
  if (f && f->state == TENTATIVE && adopts(f, op->site, op->self)) {
    adopt_tentative(t, f, op->site);
  } else if (caller && caller->brackets == 1 && adopts(caller, op->site, op->self)) {
    f = caller;
    adopt(t, f, op->site);
  } else {
    bool root = op->site->flags & APROF_ROOT;
    f = ledger_future(t, op->site, root);
    requests_born(t, f, root, true, false);
    if (caller) {
      model_put_aside(t, model_take_call(t, op->site), FOR_CALLEE, f);
      model_wake_moves(caller, f);
    }
    f->called = true;
    f->caller = caller;
    f->adopted = true;
    model_starts_running(t, f, op->site->name);
  }
  *token =
      (struct token){.set = true, .future = f, .thread = t, .slices = t->slices, .depth = f->depth};
}

void model_leave(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *f = token->future;
  if (!model_alive(f)) {
    t->ledger->missed++;
    return;
  }
  if (f != t->current) {
    if (!model_in_chain(model_active_top(t), f)) {
      t->ledger->missed++;
      struct future *top = model_innermost(f);
      if (top->state == RUNNING)
        return; /* on another thread */
      struct future *below = model_caller_of(f);
      model_cancel_above(t, top, f);
      ledger_close(t, f, false);
      ledger_over(t, f, model_verdict(f, op->how));
      if (below) { /* its own frame is what runs now, so it waits for nobody but new work */
        below->aside = NOT_ASIDE;
        below->leaf_from = t->ledger->now;
        below->woken = false;
        below->implicit |= below->opened_aside;
        if (place_in_background(below->site, below->await->name))
          requests_waits_for_new(t->ledger, below);
      }
      return;
    }
    model_unwind_to(t, f);
  }
  struct future *caller = model_caller_of(f);
  if (caller && f->called)
    model_wake_moves(f, caller);
  ledger_close(t, f, false);
  ledger_over(t, f, model_verdict(f, op->how));
  if (caller)
    model_come_back(t, caller, model_no_slice_since(t, token));
  else
    ledger_slice_end(t, f->site->name);
}

/* -- awaits ------------------------------------------------------------------ */

/* An await inside the one that suspended what ran on this stack. */
static void suspend_again(struct world *w, struct thread *t, const struct op *op) {
  struct future *f = t->suspended;
  uint32_t outer = t->suspended_cell;
  if (!f || f->state != WAITING || f->aside != NOT_ASIDE || f->thread != t->number ||
      outer / PROGRAM_DEPTH != op->token / PROGRAM_DEPTH || op->token <= outer) {
    t->ledger->unmatched++;
    return;
  }
  ledger_charge_back(t, f, f->await->name);
  t->suspended_cell = op->token;
  w->tokens[op->token] = (struct token){.set = true, .future = f};
}

void model_suspend(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *f = t->current;
  if (!f) {
    suspend_again(w, t, op);
    return;
  }
  bool names = op->site->flags & APROF_NAMES, outermost = f->await == NULL;
  if (names && !outermost)
    return;
  if (outermost)
    f->await = ledger_await(t->ledger, f->at, op->site->name);
  *token = (struct token){.set = true, .future = f, .outermost = outermost};
  if (names)
    return;
  ledger_close(t, f, false);
  model_waits_at(t, f, f->await, false);
  ledger_slice_end(t, f->await->name);
  t->suspended = f;
  t->suspended_cell = op->token;
}

void model_resume(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *f = token->future;
  if (!model_alive(f)) {
    t->ledger->missed++;
    return;
  }
  if (f == t->current) {
    /* An inner await, or the bracket that runs it, came first. */
  } else if (f->state == WAITING && f->aside == NOT_ASIDE) {
    if (t->current)
      model_abandon(t);
    const char *from = f->await->name;
    ledger_close(t, f, false);
    if (f->implicit)
      f->await = NULL;
    f->implicit = false;
    model_starts_running(t, f, from);
  } else if (f->state == WAITING && model_in_chain(model_active_top(t), f)) {
    model_unwind_to(t, f);
  } else {
    t->ledger->missed++;
    return;
  }
  if (token->outermost)
    f->await = NULL;
}

void model_at(struct world *w, struct thread *t, const struct op *op) {
  (void)w;
  t->call = op->site;
}

/* The span of that token is open again, whatever was open in it is not. A frame that is returned to
   is there: where another run of the same future, of which it has gone on since, has closed the
   span by its end, that was not the span's own frame. */
static void span_again(struct thread *t, struct future *f, const struct token *token) {
  bool closed = f->depth <= token->depth || f->inside[token->depth].number != token->number;
  if (!closed) {
    requests_leave_tiers(t->ledger, f, token->depth + 1);
    return;
  }
  /* Which of those around it are open, too, and in which tier it is, nobody says. */
  if (f->depth != token->depth || place_tier(token->site) != 0 ||
      token->site->kind != APROF_SITE_SPAN) {
    t->ledger->ambiguous = true;
    return;
  }
  f->inside[f->depth++] =
      (struct inside){.before = f->at, .tier_before = f->tier, .tier = 0, .number = token->number};
  f->at = ledger_span(t->ledger, f->at, token->site->name);
}

/* What was being created above that token, on the thread's own stack, never was. */
static void creates_left(struct world *w, struct thread *t, uint32_t token) {
  uint32_t own = (uint32_t)(t - w->ledger.threads) * PROGRAM_DEPTH;
  for (struct future *f; (f = t->tentative) != NULL && f->state == TENTATIVE && token >= own &&
                         f->cell > token && f->cell < own + PROGRAM_DEPTH;) {
    t->tentative = f->enclosing;
    f->state = NEVER;
    requests_never(t, f);
  }
}

void model_resync(struct world *w, struct thread *t, const struct op *op) {
  const struct token *token = &w->tokens[op->token];
  struct future *f = token->future;
  if (f && !model_alive(f))
    return;
  creates_left(w, t, op->token);
  if (!f) {
    model_outside_again(t, token);
    return;
  }
  if (f == t->current) {
    /* Nothing began above it, or all of that is closed. */
  } else if (model_in_chain(model_active_top(t), f)) {
    model_unwind_to(t, f);
  } else {
    struct future *top = model_innermost(f);
    if (top->state != WAITING)
      return;
    if (t->current)
      model_abandon(t);
    model_cancel_above(t, top, f);
    model_come_back(t, f, false);
  }
  f->await = NULL; /* the await it was in was jumped out of */
  ledger_close(t, f, false);
  if (token->span)
    span_again(t, f, token);
  else
    requests_leave_tiers(t->ledger, f, token->depth);
}
