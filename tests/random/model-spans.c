/* SPDX-License-Identifier: MIT */
/* Spans, and what a program says of its requests. */
#include "model-steps.h"

#include "aprof/profile.h"

/* -- spans ---------------------------------------------------------------------- */

static void outside_begin(struct world *w, struct thread *t, const struct op *op) {
  if (op->site->kind == APROF_SITE_TIER)
    return;
  w->tokens[op->token] = (struct token){
      .set = true, .thread = t, .site = op->site, .outside = t->outside, .span = true};
  t->outside = ledger_span(t->ledger, t->outside, op->site->name);
  ledger_spanned(t->ledger, t->outside);
  t->other_open = 0;
}

void model_span_begin(struct world *w, struct thread *t, const struct op *op) {
  struct future *f = t->current;
  const struct aprof_site *site = op->site;
  if (site->kind == APROF_SITE_SPAN && w->program->shed >= APROF_STEP_HISTOGRAMS)
    return;
  if (!f) {
    outside_begin(w, t, op);
    return;
  }
  if (f->depth == LEDGER_INSIDE) {
    t->ledger->ambiguous = true;
    return;
  }
  w->tokens[op->token] = (struct token){.set = true,
                                        .future = f,
                                        .site = site,
                                        .depth = f->depth,
                                        .span = true,
                                        .number = ++t->ledger->spans};
  ledger_close(t, f, false);
  struct inside *in = &f->inside[f->depth];
  *in = (struct inside){.before = f->at,
                        .tier_before = f->tier,
                        .tier = place_tier(site),
                        .number = t->ledger->spans};
  if (in->tier)
    requests_enter_tier(t->ledger, f, in);
  f->depth++;
  if (site->kind == APROF_SITE_SPAN) {
    f->at = ledger_span(t->ledger, f->at, site->name);
    ledger_spanned(t->ledger, f->at);
  }
}

/* The span of that token, if it is open here; else NULL. */
static struct path *open_outside(const struct thread *t, const struct token *token) {
  struct path *span = ledger_span(t->ledger, token->outside, token->site->name), *open = t->outside;
  while (open && open != span)
    open = open->above;
  return t == token->thread ? open : NULL;
}

void model_outside_again(struct thread *t, const struct token *token) {
  struct path *span = open_outside(t, token);
  t->ledger->ambiguous |= t->current != NULL; /* which may lie on another stack */
  if (span)
    t->outside = span;
}

static void outside_end(struct thread *t, const struct token *token) {
  struct path *span = open_outside(t, token);
  if (!span) {
    t->ledger->missed++;
    return;
  }
  t->outside = token->outside;
  t->other_open = 0;
}

void model_span_end(struct world *w, struct thread *t, const struct op *op) {
  const struct token *token = &w->tokens[op->token];
  struct future *f = token->future;
  if (!f) {
    outside_end(t, token);
    return;
  }
  if (!model_alive(f))
    return;
  /* it was closed before */
  if (f->depth <= token->depth || f->inside[token->depth].number != token->number) {
    t->ledger->ambiguous = true;
    return;
  }
  if (f != t->current) {
    if (!model_in_chain(model_active_top(t), f)) {
      t->ledger->missed++;
      return;
    }
    bool waited = f->aside == NOT_ASIDE;
    model_unwind_to(t, f);
    if (waited)
      f->await = NULL; /* which was jumped out of */
  }
  ledger_close(t, f, false);
  requests_leave_tiers(t->ledger, f, token->depth);
}

/* -- requests -------------------------------------------------------------------- */

void model_label(struct world *w, struct thread *t, const struct op *op) {
  (void)w;
  struct future *f = model_find_key(t->ledger, op->site->ns, op);
  if (f)
    requests_label(requests_of(f), op->label);
}

void model_label_current(struct world *w, struct thread *t, const struct op *op) {
  (void)w;
  if (t->current)
    requests_label(requests_of(t->current), op->label);
}

void model_about(struct world *w, struct thread *t, const struct op *op) {
  (void)t;
  struct future *f = w->tokens[op->token].future;
  if (model_alive(f))
    requests_label(requests_of(f), op->label);
}

/* Is what lies above f on its stack of f's request, whichever that is? No task of its own, followed
   or not. */
static bool all_borrow(const struct future *f, const struct future *top) {
  while (top != f && top->borrows)
    top = top->caller;
  return top == f;
}

void model_run_for(struct world *w, struct thread *t, const struct op *op) {
  struct future *f = w->tokens[op->token].future;
  struct future *root = model_find_key(t->ledger, (uint32_t)op->site->ns, op);
  struct request *to = root ? requests_of(root) : NULL;
  if (!model_alive(f) || !to || !t->current || model_innermost(f) != t->current)
    return;
  /* Another future on top of its stack is what goes on: whose run that is nobody says. */
  if (model_innermost_own(f) != t->current || !all_borrow(f, t->current))
    t->ledger->ambiguous = true;
  ledger_close(t, t->current, false);
  requests_moved(t, f, to);
}
