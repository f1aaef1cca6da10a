/* SPDX-License-Identifier: MIT */
/* The events of a program, one after the other, as design.md words them. */
#include "model.h"
#include "model-steps.h"

#include <stdlib.h>
#include <string.h>

/* -- wake, end, idle --------------------------------------------------------- */

/* Who runs, or is put aside, is woken for the wait that comes next. */
static void wake(struct thread *t, struct future *f) {
  f = model_innermost_own(f);
  if (f->state != WAITING && f->state != RUNNING)
    return;
  if (f->woken && f->woken_at <= t->ledger->now)
    return;
  f->woken = true;
  f->woken_at = t->ledger->now;
  f->timed = false;
}

static void on_wake(struct world *w, struct thread *t, const struct op *op) {
  for (unsigned i = 0; i < w->ledger.future_count; i++) {
    struct future *f = &w->ledger.futures[i];
    if (!model_has_key(f, op->site->ns, op))
      continue;
    if (op->site->flags & APROF_HAND)
      requests_taken_along(t, f);
    wake(t, f);
  }
}

static void on_wake_current(struct world *w, struct thread *t, const struct op *op) {
  (void)w, (void)op;
  if (t->current)
    wake(t, t->current);
  else if (t->suspended && model_active_top(t) == t->suspended)
    wake(t, t->suspended);
}

static void end_future(struct thread *t, struct future *f, int how) {
  f->keyed = false;
  if (!model_busy(f)) {
    model_ends_at_rest(t, f, how);
  } else if (f == t->current && f->brackets == 0 && !f->adopted) {
    /* Resumed behind its bracket: none will close. */
    ledger_close(t, f, false);
    ledger_over(t, f, how);
    ledger_slice_end(t, f->site->name);
  } else {
    f->ending = END_ASKED;
    f->how = how;
  }
}

/* Two futures of one address, one of them on the other's stack: the order in
   which `any:` finds them makes a difference, and none is promised. */
static bool order_matters(struct ledger *ledger, const struct op *op) {
  for (unsigned i = 0; i < ledger->future_count; i++) {
    struct future *f = &ledger->futures[i];
    if (!model_has_key(f, APROF_NS_ANY, op))
      continue;
    for (struct future *below = model_caller_of(f); below; below = model_caller_of(below))
      if (model_has_key(below, APROF_NS_ANY, op))
        return true;
  }
  return false;
}

static void on_end(struct world *w, struct thread *t, const struct op *op) {
  struct future *f;
  if (op->site->ns == APROF_NS_ANY && order_matters(&w->ledger, op))
    w->ledger.ambiguous = true;
  while ((f = model_find_key(&w->ledger, op->site->ns, op)) != NULL)
    end_future(t, f, op->how);
}

static void on_end_current(struct world *w, struct thread *t, const struct op *op) {
  (void)w;
  if (t->current)
    end_future(t, t->current, op->how);
  else
    t->ledger->missed++;
}

static void on_idle_begin(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  if (t->idling && !t->current)
    return; /* inside itself */
  *token = (struct token){.set = true, .before = t->current, .idling = t->idling};
  if (t->current) {
    model_put_aside(t, model_take_call(t, op->site), FOR_IDLE, NULL);
    ledger_slice_end(t, op->site->name);
  }
  t->idler = token->before;
  t->suspended = NULL;
  t->idling = true;
  t->was_idle = false;
  t->other_open = 0;
}

static void on_idle_end(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *f = token->before;
  t->idling = token->idling;
  t->idler = NULL;
  if (!f || f->state != WAITING || f->aside != FOR_IDLE)
    return;
  if (t->current)
    model_abandon(t);
  model_come_back(t, f, false);
}

/* -- a whole program --------------------------------------------------------- */

/* Profiling itself goes off or on, or starts from zero. */
static bool switches(struct world *w, const struct op *op) {
  if (op->kind != OP_OFF && op->kind != OP_ON && op->kind != OP_RESET)
    return false;
  if (op->dropped)
    return true;
  if (op->kind == OP_RESET)
    ledger_reset(&w->ledger);
  else
    ledger_switch(&w->ledger, op->kind == OP_OFF);
  return true;
}

static void event(struct world *w, struct thread *t, const struct op *op) {
  static void (*const handlers[OP_KINDS])(struct world *, struct thread *, const struct op *) = {
      [OP_ENTER] = model_enter,
      [OP_LEAVE] = model_leave,
      [OP_SUSPEND] = model_suspend,
      [OP_RESUME] = model_resume,
      [OP_AT] = model_at,
      [OP_CREATE_BEGIN] = model_create_begin,
      [OP_DUE] = model_due,
      [OP_CREATE_END] = model_create_end,
      [OP_RUN_BEGIN] = model_run_begin,
      [OP_WAKE] = on_wake,
      [OP_END] = on_end,
      [OP_IDLE_BEGIN] = on_idle_begin,
      [OP_IDLE_END] = on_idle_end,
      [OP_RESYNC] = model_resync,
      [OP_WAKE_CURRENT] = on_wake_current,
      [OP_END_CURRENT] = on_end_current,
      [OP_SPAN_BEGIN] = model_span_begin,
      [OP_SPAN_END] = model_span_end,
      [OP_LABEL] = model_label,
      [OP_LABEL_CURRENT] = model_label_current,
      [OP_ABOUT] = model_about,
      [OP_RUN_FOR] = model_run_for,
  };
  if (op_opens(op->kind))
    w->tokens[op->token].set = false;
  if (switches(w, op) || (w->ledger.off && !op_closes(op->kind)))
    return;
  if (op->kind == OP_NOP || op->dropped || (op_closes(op->kind) && !w->tokens[op->token].set))
    return;
  bool old = op_closes(op->kind) && w->tokens[op->token].epoch != w->ledger.epoch;
  ledger_time(t);
  if (old && op->kind == OP_IDLE_END && !t->current) { /* it has been idle all the time */
    ledger_was_idle(t);
  }
  t->seen |= !w->ledger.off;
  if (old) {
    t->was_idle &= op->kind != OP_IDLE_END;
    t->polled = NULL;
    t->call = NULL;
    return;
  }
  struct future *poller = t->polled;
  if (op->kind != OP_AT)
    t->polled = NULL;
  if (op->kind == OP_RUN_END)
    model_run_end(w, t, op, poller, t->polled_at);
  else
    handlers[op->kind](w, t, op);
  if (op->kind != OP_AT)
    t->call = NULL; /* a mark is for the very next event */
  if (op_opens(op->kind))
    w->tokens[op->token].epoch = w->ledger.epoch;
  requests_event_end(t);
}

static void prime(struct ledger *ledger, unsigned threads) {
  for (unsigned i = 0; i < threads; i++) {
    struct thread *t = &ledger->threads[i];
    *t = (struct thread){.ledger = ledger, .number = i, .seen = true};
    ledger_time(t);
    struct future *f = ledger_future(t, &places.primer, false);
    requests_born(t, f, false, true, false);
    ledger_runs(t, f, places.primer.name);
    ledger_close(t, f, false);
    ledger_over(t, f, APROF_DONE);
    ledger_slice_end(t, places.primer.name);
  }
}

enum model_verdict model_run(const struct program *program, struct rows *rows) {
  struct world *w = calloc(1, sizeof *w);
  if (!w)
    abort();
  w->program = program;
  w->ledger.requests = requests_new(program->most);
  w->ledger.now = 1; /* no due time is 0 */
  prime(&w->ledger, program->threads);
  for (uint32_t i = 0; i < program->count; i++) {
    const struct op *op = &program->ops[i];
    w->ledger.now += op->dt;
    event(w, &w->ledger.threads[op->thread], op);
  }
  for (unsigned i = 0; i < program->threads; i++)
    ledger_time(&w->ledger.threads[i]);
  bool balanced = ledger_check(&w->ledger) && requests_check(&w->ledger);
  enum model_verdict verdict = !balanced             ? MODEL_UNBALANCED
                               : w->ledger.ambiguous ? MODEL_AMBIGUOUS
                                                     : MODEL_CERTAIN;
  ledger_rows(&w->ledger, rows);
  requests_rows(&w->ledger, rows);
  free(w->ledger.requests);
  free(w);
  return verdict;
}
