/* The events of a program, one after the other, as design.md words them. */
#include "model.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

/* What the token in a cell remembers. */
struct token {
  bool set;
  struct future *future;
  struct future *before;       /* what ran when the bracket began */
  const struct thread *thread; /* it began on */
  unsigned slices;             /* that had ended there */
  bool outermost;              /* await: no other was open */
  bool body;                   /* run: around a body */
  bool idling;                 /* idle: was so before */
  const struct aprof_site *site;
};

struct world {
  struct ledger ledger;
  struct token tokens[PROGRAM_STRANDS * PROGRAM_DEPTH];
};

static bool no_slice_since(const struct thread *t, const struct token *token) {
  return token->thread == t && token->slices == t->slices;
}

/* -- stacks ------------------------------------------------------------------ */

static bool alive(const struct future *f) {
  return f && f->state != OVER && f->state != NEVER;
}

static bool aside_for(const struct future *f, const struct future *callee) {
  return f && f->state == WAITING && f->aside == FOR_CALLEE && f->callee == callee;
}

static struct future *caller_of(const struct future *f) {
  return aside_for(f->caller, f) ? f->caller : NULL;
}

/* The body that runs, or waits, on top of the stack that f is on. */
static struct future *innermost(struct future *f) {
  while (f->state == WAITING && f->aside == FOR_CALLEE && alive(f->callee) &&
         f->callee->caller == f)
    f = f->callee;
  return f;
}

/* What lies on top of the stack that is active on this thread. */
static struct future *active_top(const struct thread *t) {
  if (t->current)
    return t->current;
  struct future *f = t->suspended;
  if (f && f->state == WAITING && f->aside == NOT_ASIDE && f->thread == t->number)
    return f;
  f = t->idler;
  return f && f->state == WAITING && f->aside == FOR_IDLE ? f : NULL;
}

static bool in_chain(struct future *top, const struct future *f) {
  while (top && top != f)
    top = caller_of(top);
  return top != NULL;
}

/* -- steps ------------------------------------------------------------------- */

static const struct aprof_site *take_call(struct thread *t, const struct aprof_site *callee) {
  const struct aprof_site *site = t->call && t->announcer == t->current ? t->call : callee;
  t->call = NULL;
  return site;
}

/* The future that runs here waits while something else does. */
static void put_aside(struct thread *t, const struct aprof_site *site, enum aside aside,
                      struct future *callee) {
  struct future *f = t->current;
  ledger_close(t, f, false);
  f->opened_aside = f->await == NULL;
  if (f->opened_aside)
    f->await = ledger_await(t->ledger, f->path, site->name);
  ledger_waits(t, f);
  f->aside = aside;
  f->callee = callee;
}

static void starts_running(struct thread *t, struct future *f, const char *from) {
  t->suspended = NULL;
  ledger_runs(t, f, from);
}

static void come_back(struct thread *t, struct future *f, bool immediate) {
  const char *from = f->await->name;
  f->woken = false; /* it could not have run */
  ledger_close(t, f, immediate);
  if (f->opened_aside)
    f->await = NULL;
  f->aside = NOT_ASIDE;
  f->callee = NULL;
  if (!immediate)
    f->waited = true;
  starts_running(t, f, from);
}

static void waits_at(struct thread *t, struct future *f, struct path *await, bool implicit) {
  f->await = await;
  f->implicit = implicit;
  f->waited = true;
  ledger_waits(t, f);
}

/* What runs here was left without a word. */
static void abandon(struct thread *t) {
  struct future *f = t->current;
  t->ledger->missed++;
  ledger_close(t, f, false);
  ledger_slice_end(t, f->site->name);
  if (f->await)
    waits_at(t, f, f->await, f->implicit);
  else
    waits_at(t, f, ledger_await(t->ledger, f->path, f->birth), true);
}

/* All above f, from top down, is over; f itself is left as it is. */
static void cancel_above(struct thread *t, struct future *top, struct future *f) {
  while (top != f) {
    struct future *caller = caller_of(top);
    ledger_close(t, top, false);
    ledger_over(t, top, APROF_CANCELLED);
    top = caller;
  }
}

/* ... and then f runs. */
static void unwind_to(struct thread *t, struct future *f) {
  struct future *top = active_top(t);
  if (top == t->idler)
    t->idling = false; /* its bracket is over too */
  cancel_above(t, top, f);
  if (f->state == WAITING)
    come_back(t, f, false);
}

static int verdict(const struct future *f, int how) {
  return f->ending == END_ASKED ? f->how : how;
}

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
    put_aside(t, take_call(t, body), FOR_CREATE, NULL);
  adopt(t, f, body);
  t->tentative = f->enclosing;
  f->await = NULL;
  f->outer = f->path;
  f->state = QUEUED; /* since its bracket began */
  ledger_close(t, f, false);
  starts_running(t, f, body->name);
}

static void on_enter(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *f = t->tentative, *caller = t->current;
  if (f && f->state == TENTATIVE && adopts(f, op->site, op->self)) {
    adopt_tentative(t, f, op->site);
  } else if (caller && caller->brackets == 1 && adopts(caller, op->site, op->self)) {
    f = caller;
    adopt(t, f, op->site);
  } else {
    f = ledger_future(t, op->site, op->site->flags & APROF_ROOT);
    if (caller) {
      f->outer = caller->outer;
      put_aside(t, take_call(t, op->site), FOR_CALLEE, f);
    }
    f->caller = caller;
    f->adopted = true;
    starts_running(t, f, op->site->name);
  }
  *token = (struct token){.set = true, .future = f, .thread = t, .slices = t->slices};
}

static void on_leave(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *f = token->future;
  if (!alive(f)) {
    t->ledger->missed++;
    return;
  }
  t->call = NULL;
  if (f != t->current) {
    if (!in_chain(active_top(t), f)) {
      t->ledger->missed++;
      struct future *top = innermost(f);
      if (top->state == RUNNING)
        return; /* on another thread */
      struct future *below = caller_of(f);
      if (below) { /* its own frame is what runs now, so it waits for nobody */
        below->aside = NOT_ASIDE;
        below->implicit |= below->opened_aside;
      }
      cancel_above(t, top, f);
      ledger_close(t, f, false);
      ledger_over(t, f, verdict(f, op->how));
      return;
    }
    unwind_to(t, f);
  }
  struct future *caller = caller_of(f);
  ledger_close(t, f, false);
  ledger_over(t, f, verdict(f, op->how));
  if (caller)
    come_back(t, caller, no_slice_since(t, token));
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
  ledger_charge_back(t, f, op->site->name);
  t->suspended_cell = op->token;
  w->tokens[op->token] = (struct token){.set = true, .future = f};
}

static void on_suspend(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *f = t->current;
  if (!f) {
    suspend_again(w, t, op);
    return;
  }
  bool names = op->site->flags & APROF_NAMES, outermost = f->await == NULL;
  t->call = NULL;
  if (names && !outermost)
    return;
  if (outermost)
    f->await = ledger_await(t->ledger, f->path, op->site->name);
  *token = (struct token){.set = true, .future = f, .outermost = outermost};
  if (names)
    return;
  ledger_close(t, f, false);
  waits_at(t, f, f->await, false);
  ledger_slice_end(t, op->site->name);
  t->suspended = f;
  t->suspended_cell = op->token;
}

static void on_resume(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *f = token->future;
  if (!alive(f)) {
    t->ledger->missed++;
    return;
  }
  if (f == t->current) {
    /* An inner await, or the bracket that runs it, came first. */
  } else if (f->state == WAITING && f->aside == NOT_ASIDE) {
    if (t->current)
      abandon(t);
    const char *from = f->await->name;
    ledger_close(t, f, false);
    if (f->implicit)
      f->await = NULL;
    f->implicit = false;
    starts_running(t, f, from);
  } else if (f->state == WAITING && in_chain(active_top(t), f)) {
    unwind_to(t, f);
  } else {
    t->ledger->missed++;
    return;
  }
  if (token->outermost)
    f->await = NULL;
}

static void on_at(struct world *w, struct thread *t, const struct op *op) {
  (void)w;
  t->call = op->site;
  t->announcer = t->current;
}

static void on_resync(struct world *w, struct thread *t, const struct op *op) {
  struct future *f = w->tokens[op->token].future;
  if (!alive(f))
    return;
  if (f == t->current) {
    /* Nothing began above it, or all of that is closed. */
  } else if (in_chain(active_top(t), f)) {
    unwind_to(t, f);
  } else {
    struct future *top = innermost(f);
    if (top->state != WAITING)
      return;
    if (t->current)
      abandon(t);
    cancel_above(t, top, f);
    come_back(t, f, false);
  }
  f->await = NULL; /* the await it was in was jumped out of */
}

/* -- keys -------------------------------------------------------------------- */

static bool has_key(const struct future *f, uint32_t ns, const struct op *op) {
  return f->keyed && (f->ns == ns || ns == APROF_NS_ANY) && f->key0 == op->key0 &&
         f->key1 == op->key1;
}

static struct future *find(struct ledger *ledger, uint32_t ns, const struct op *op) {
  for (unsigned i = 0; i < ledger->future_count; i++)
    if (has_key(&ledger->futures[i], ns, op))
      return &ledger->futures[i];
  return NULL;
}

static void give_key(struct future *f, uint32_t ns, const struct op *op) {
  f->keyed = true;
  f->ns = ns;
  f->key0 = op->key0;
  f->key1 = op->key1;
}

static void on_create_begin(struct world *w, struct thread *t, const struct op *op) {
  const struct aprof_site *site = op->site, *function = op->function;
  if (!function && op->self)
    function = place_of_address(op->self);
  struct future *f = ledger_future(t, function ? function : site, site->flags & APROF_ROOT);
  f->birth = site->name;
  f->nameless = !function;
  f->await = ledger_await(t->ledger, f->path, site->name);
  w->tokens[op->token] = (struct token){.set = true,
                                        .future = f,
                                        .before = t->current,
                                        .thread = t,
                                        .slices = t->slices,
                                        .site = site};
  f->enclosing = t->tentative;
  t->tentative = f;
}

/* Does f, or what it awaits on its stack, run? Else it is suspended or was never
   run, and can be ended from outside. */
static bool busy(struct future *f) {
  struct future *top = innermost(f);
  return top->state == RUNNING || top->aside != NOT_ASIDE;
}

static void ends_at_rest(struct thread *t, struct future *f, int how) {
  cancel_above(t, innermost(f), f);
  ledger_close(t, f, false);
  ledger_over(t, f, how);
}

/* The key of a live one goes to a new one. True: the old one goes on instead. */
static bool key_taken(struct thread *t, struct future *old, struct future *f, bool rearm) {
  if (rearm && old->site == f->site) {
    if (busy(old))
      old->ending = REARMED;
    return true;
  }
  old->keyed = false;
  if (busy(old)) {
    if (old->ending != END_ASKED)
      old->ending = KEY_GONE;
    return false;
  }
  t->ledger->reused++;
  ends_at_rest(t, old, APROF_CANCELLED);
  return false;
}

static void on_create_end(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *f = token->future, *creator = token->before;
  bool tentative = f->state == TENTATIVE;
  if (t->tentative == f)
    t->tentative = f->enclosing;
  if (!tentative && creator && creator->state == WAITING && creator->aside == FOR_CREATE) {
    if (t->current)
      abandon(t);
    come_back(t, creator, no_slice_since(t, token));
  }
  if (!alive(f))
    return;
  unsigned flags = token->site->flags;
  struct future *old = op->ok ? find(t->ledger, token->site->ns, op) : NULL;
  if (!op->ok || (old && old != f && key_taken(t, old, f, flags & APROF_REARM))) {
    if (tentative)
      f->state = NEVER;
    return;
  }
  give_key(f, token->site->ns, op);
  if (!tentative)
    return;
  f->waited = true;
  if ((flags & (APROF_ONCE | APROF_MULTI)) && !(flags & APROF_READY)) {
    f->state = WAITING;
    f->implicit = true;
  } else {
    f->state = QUEUED;
    f->await = NULL;
  }
}

/* -- runs -------------------------------------------------------------------- */

static struct future *run_unknown(struct thread *t, const struct op *op) {
  const struct aprof_site *site = op->site;
  if (!(site->flags & APROF_ORPHAN)) {
    t->ledger->missed += !(site->flags & APROF_QUIET);
    return NULL;
  }
  struct future *f = ledger_future(t, op->function ? op->function : site, false);
  give_key(f, site->ns, op);
  return f;
}

static void on_run_begin(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *caller = t->current, *f = find(t->ledger, op->site->ns, op);
  if (!f && !(f = run_unknown(t, op)))
    return;
  struct future *runs = innermost(f);
  if (runs->state == RUNNING || runs->aside != NOT_ASIDE) {
    if (runs->state == RUNNING && runs != caller)
      t->ledger->missed++; /* on another thread */
    return;
  }
  if (op->function && f->nameless)
    ledger_named(t, f, op->function);
  *token = (struct token){.set = true,
                          .future = f,
                          .before = caller,
                          .thread = t,
                          .slices = t->slices,
                          .body = op->function != NULL};
  if (caller)
    put_aside(t, take_call(t, op->function ? op->function : op->site), FOR_CALLEE, f);
  /* The newest bracket is where control returns to: an older one that is still
     open (another thread's, which lost the race to close it) restores its own. */
  f->caller = caller;
  const char *from = runs->state == WAITING ? runs->await->name : runs->site->name;
  ledger_close(t, runs, false);
  if (runs->implicit)
    runs->await = NULL;
  runs->implicit = false;
  f->brackets++;
  starts_running(t, runs, from);
}

/* How a bracket ends f, given what was asked meanwhile. */
static int run_verdict(struct thread *t, struct future *f, int how) {
  if (f->ending == END_ASKED)
    how = f->how;
  else if (f->ending == REARMED)
    how = APROF_PENDING;
  else if (f->ending == KEY_GONE && how >= APROF_PENDING) {
    how = APROF_CANCELLED;
    t->ledger->reused++;
  }
  f->ending = NO_END;
  return how;
}

/* The bracket around f closes while f, or a body it awaits, runs. */
static void run_stops(struct thread *t, struct future *f, const struct op *op, bool body,
                      struct future *poller, struct path *polled_at) {
  int how = op->how;
  if (t->current != f && (body || how < APROF_PENDING))
    unwind_to(t, f);
  struct future *runs = t->current;
  how = run_verdict(t, f, how);
  ledger_close(t, runs, false);
  if (how < APROF_PENDING) {
    if (runs != f)
      unwind_to(t, f);
    ledger_close(t, f, false);
    ledger_over(t, f, how);
  } else if (runs->await) {
    waits_at(t, runs, runs->await, runs->implicit);
  } else {
    const char *site = op->site ? op->site->name : runs->birth;
    waits_at(t, runs, runs == poller ? polled_at : ledger_await(t->ledger, runs->path, site), true);
  }
}

static void on_run_end(struct world *w, struct thread *t, const struct op *op,
                       struct future *poller, struct path *polled_at) {
  struct token *token = &w->tokens[op->token];
  struct future *f = token->future, *caller = aside_for(token->before, f) ? token->before : NULL;
  bool pending = false;
  t->call = NULL;
  if (alive(f)) {
    f->brackets--;
    if (t->current && (t->current == f || innermost(f) == t->current)) {
      struct future *top = t->current;
      run_stops(t, f, op, token->body, poller, polled_at);
      if (!caller)
        ledger_slice_end(t, op->site ? op->site->name : top->site->name);
      pending = op->how >= APROF_PENDING;
    } else if (f->ending != NO_END && !busy(f)) {
      int how = run_verdict(t, f, op->how);
      if (how < APROF_PENDING)
        ends_at_rest(t, f, how);
    }
  }
  if (!caller) {
    t->suspended = NULL;
    return;
  }
  if (t->current)
    abandon(t);
  struct path *called_at = caller->await;
  come_back(t, caller, no_slice_since(t, token));
  if (pending) {
    t->polled = caller;
    t->polled_at = called_at;
  }
}

/* -- wake, end, idle --------------------------------------------------------- */

static void wake(struct thread *t, struct future *f) {
  if (f->state != WAITING || f->aside != NOT_ASIDE || f->woken)
    return;
  f->woken = true;
  f->woken_at = t->ledger->now;
}

static void on_wake(struct world *w, struct thread *t, const struct op *op) {
  for (unsigned i = 0; i < w->ledger.future_count; i++)
    if (has_key(&w->ledger.futures[i], op->site->ns, op))
      wake(t, &w->ledger.futures[i]);
}

static void on_wake_current(struct world *w, struct thread *t, const struct op *op) {
  (void)w, (void)op;
  if (!t->current && t->suspended && active_top(t) == t->suspended)
    wake(t, t->suspended);
}

static void end_future(struct thread *t, struct future *f, int how) {
  f->keyed = false;
  if (busy(f)) {
    f->ending = END_ASKED;
    f->how = how;
  } else {
    ends_at_rest(t, f, how);
  }
}

/* Two futures of one address, one of them on the other's stack: the order in
   which `any:` finds them makes a difference, and none is promised. */
static bool order_matters(struct ledger *ledger, const struct op *op) {
  for (unsigned i = 0; i < ledger->future_count; i++) {
    struct future *f = &ledger->futures[i];
    if (!has_key(f, APROF_NS_ANY, op))
      continue;
    for (struct future *below = caller_of(f); below; below = caller_of(below))
      if (has_key(below, APROF_NS_ANY, op))
        return true;
  }
  return false;
}

static void on_end(struct world *w, struct thread *t, const struct op *op) {
  struct future *f;
  if (op->site->ns == APROF_NS_ANY && order_matters(&w->ledger, op))
    w->ledger.ambiguous = true;
  while ((f = find(&w->ledger, op->site->ns, op)) != NULL)
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
    put_aside(t, take_call(t, op->site), FOR_IDLE, NULL);
    ledger_slice_end(t, op->site->name);
  }
  t->idler = token->before;
  t->suspended = NULL;
  t->idling = true;
}

static void on_idle_end(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *f = token->before;
  t->idling = token->idling;
  t->idler = NULL;
  if (!f || f->state != WAITING || f->aside != FOR_IDLE)
    return;
  if (t->current)
    abandon(t);
  come_back(t, f, false);
}

/* -- a whole program --------------------------------------------------------- */

static void event(struct world *w, struct thread *t, const struct op *op) {
  static void (*const handlers[OP_KINDS])(struct world *, struct thread *, const struct op *) = {
      [OP_ENTER] = on_enter,
      [OP_LEAVE] = on_leave,
      [OP_SUSPEND] = on_suspend,
      [OP_RESUME] = on_resume,
      [OP_AT] = on_at,
      [OP_CREATE_BEGIN] = on_create_begin,
      [OP_CREATE_END] = on_create_end,
      [OP_RUN_BEGIN] = on_run_begin,
      [OP_WAKE] = on_wake,
      [OP_END] = on_end,
      [OP_IDLE_BEGIN] = on_idle_begin,
      [OP_IDLE_END] = on_idle_end,
      [OP_RESYNC] = on_resync,
      [OP_WAKE_CURRENT] = on_wake_current,
      [OP_END_CURRENT] = on_end_current,
  };
  if (op_opens(op->kind))
    w->tokens[op->token].set = false;
  if (op->kind == OP_NOP || op->dropped || (op_closes(op->kind) && !w->tokens[op->token].set))
    return;
  ledger_time(t);
  struct future *poller = t->polled;
  if (op->kind != OP_AT)
    t->polled = NULL;
  if (op->kind == OP_RUN_END)
    on_run_end(w, t, op, poller, t->polled_at);
  else
    handlers[op->kind](w, t, op);
}

static void prime(struct ledger *ledger, unsigned threads) {
  for (unsigned i = 0; i < threads; i++) {
    struct thread *t = &ledger->threads[i];
    *t = (struct thread){.ledger = ledger, .number = i};
    ledger_time(t);
    struct future *f = ledger_future(t, &places.primer, false);
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
  prime(&w->ledger, program->threads);
  for (uint32_t i = 0; i < program->count; i++) {
    const struct op *op = &program->ops[i];
    w->ledger.now += op->dt;
    event(w, &w->ledger.threads[op->thread], op);
  }
  for (unsigned i = 0; i < program->threads; i++)
    ledger_time(&w->ledger.threads[i]);
  enum model_verdict verdict = !ledger_check(&w->ledger) ? MODEL_UNBALANCED
                               : w->ledger.ambiguous     ? MODEL_AMBIGUOUS
                                                         : MODEL_CERTAIN;
  ledger_rows(&w->ledger, rows);
  free(w);
  return verdict;
}
