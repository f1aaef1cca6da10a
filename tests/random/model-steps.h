/* SPDX-License-Identifier: MIT */
/*
 * The inside of the model: what tokens remember, and the steps of events.
 *
 * Purpose: shared by model-bodies.c, model-brackets.c and model.c, one handler
 * per event. Names begin with model_, as the runtime is in the same program.
 * Cost, locking: as model.h.
 */
#ifndef TESTS_RANDOM_MODEL_STEPS_H
#define TESTS_RANDOM_MODEL_STEPS_H

#include "ledger.h"
#include "model.h"
#include "requests.h"

/* What the token in a cell remembers. */
struct token {
  bool set;
  unsigned epoch;
  struct future *future;
  struct future *before;       /* what ran when the bracket began */
  const struct thread *thread; /* it began on */
  unsigned slices;             /* that had ended there */
  bool outermost;              /* await: no other was open */
  bool body;                   /* run: around a body */
  bool idling;                 /* idle: was so before */
  unsigned number;             /* span on a future: of all that were begun */
  const struct aprof_site *site;
  struct path *outside; /* span outside futures: in which one that was */
  unsigned depth;       /* so many spans of its future were open then */
  bool span;
};

struct world {
  const struct program *program;
  struct ledger ledger;
  struct token tokens[PROGRAM_STRANDS * PROGRAM_DEPTH];
};

/* Of a bracket: is what it put aside back without a real suspension? */
bool model_no_slice_since(const struct thread *t, const struct token *token);

/* -- stacks ------------------------------------------------------------------ */

bool model_alive(const struct future *f);
bool model_aside_for(const struct future *f, const struct future *callee);
struct future *model_caller_of(const struct future *f);
/* The body that runs, or waits, on top of the stack that f is on. */
struct future *model_innermost(struct future *f);
/* ... of the bodies alone that it called, which f's key means. */
struct future *model_innermost_own(struct future *f);
/* A wake that found no wait goes on to who may wait next. */
void model_wake_moves(struct future *from, struct future *to);
/* What lies on top of the stack that is active on this thread. */
struct future *model_active_top(const struct thread *t);
bool model_in_chain(struct future *top, const struct future *f);

/* -- steps ------------------------------------------------------------------- */

/* The call site announced just before this event, else that of the callee. */
const struct aprof_site *model_take_call(struct thread *t, const struct aprof_site *callee);
/* The future that runs here waits while something else does; and runs again. */
void model_put_aside(struct thread *t, const struct aprof_site *site, enum aside aside,
                     struct future *callee);
void model_come_back(struct thread *t, struct future *f, bool immediate);
void model_starts_running(struct thread *t, struct future *f, const char *from);
void model_waits_at(struct thread *t, struct future *f, struct path *await, bool implicit);
/* What runs here was left without a word. */
void model_abandon(struct thread *t);
/* All above f is over; with unwind_to f runs then. */
void model_cancel_above(struct thread *t, struct future *top, struct future *f);
void model_unwind_to(struct thread *t, struct future *f);
/* How f ends where `how` was said and something else may have been asked. */
int model_verdict(const struct future *f, int how);

/* Does f, or what it awaits on its stack, run? */
bool model_busy(struct future *f);
void model_ends_at_rest(struct thread *t, struct future *f, int how);

bool model_has_key(const struct future *f, uint32_t ns, const struct op *op);
struct future *model_find_key(struct ledger *ledger, uint32_t ns, const struct op *op);

/* -- events ------------------------------------------------------------------ */

void model_enter(struct world *w, struct thread *t, const struct op *op);
void model_leave(struct world *w, struct thread *t, const struct op *op);
void model_suspend(struct world *w, struct thread *t, const struct op *op);
void model_resume(struct world *w, struct thread *t, const struct op *op);
void model_at(struct world *w, struct thread *t, const struct op *op);
void model_span_begin(struct world *w, struct thread *t, const struct op *op);
/* A jump into the frame of a span outside futures. */
void model_outside_again(struct thread *t, const struct token *token);
void model_span_end(struct world *w, struct thread *t, const struct op *op);
void model_label(struct world *w, struct thread *t, const struct op *op);
void model_label_current(struct world *w, struct thread *t, const struct op *op);
void model_about(struct world *w, struct thread *t, const struct op *op);
void model_run_for(struct world *w, struct thread *t, const struct op *op);
void model_resync(struct world *w, struct thread *t, const struct op *op);
void model_create_begin(struct world *w, struct thread *t, const struct op *op);
void model_due(struct world *w, struct thread *t, const struct op *op);
void model_create_end(struct world *w, struct thread *t, const struct op *op);
void model_run_begin(struct world *w, struct thread *t, const struct op *op);
/* poller: what ran a stackless child that is pending, at polled_at, with nothing since. */
void model_run_end(struct world *w, struct thread *t, const struct op *op, struct future *poller,
                   struct path *polled_at);

#endif
