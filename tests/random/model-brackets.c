/* SPDX-License-Identifier: MIT */
/* Creates and runs: futures that have a key. */
#include "model-steps.h"

/* -- keys -------------------------------------------------------------------- */

static void give_key(struct future *f, uint32_t ns, const struct op *op) {
  f->keyed = true;
  f->ns = ns;
  f->key0 = op->key0;
  f->key1 = op->key1;
}

void model_create_begin(struct world *w, struct thread *t, const struct op *op) {
  const struct aprof_site *site = op->site, *function = op->function;
  if (!function && op->self)
    function = place_of_address(op->self);
  struct future *f = ledger_future(t, function ? function : site, site->flags & APROF_ROOT);
  bool waits = (site->flags & (APROF_ONCE | APROF_MULTI)) && !(site->flags & APROF_READY);
  bool waits_for_new = waits && place_in_background(f->site, site->name);
  requests_born(t, f, site->flags & APROF_ROOT, false,
                (site->flags & APROF_BACKGROUND) || waits_for_new);
  f->create_tier = place_tier(site);
  f->birth = site->name;
  f->nameless = !function;
  f->await = ledger_await(t->ledger, f->at, site->name);
  w->tokens[op->token] = (struct token){.set = true,
                                        .future = f,
                                        .before = t->current,
                                        .thread = t,
                                        .slices = t->slices,
                                        .site = site};
  f->enclosing = t->tentative;
  f->cell = op->token;
  t->tentative = f;
}

static void is_due(struct future *f, uint64_t when) {
  f->woken = when != 0;
  f->woken_at = when;
  f->timed = true;
}

void model_due(struct world *w, struct thread *t, const struct op *op) {
  (void)t;
  struct future *f = w->tokens[op->token].future;
  if (f->state == TENTATIVE)
    is_due(f, f->created + op->key0);
}

/* What somebody has woken need not wait for the clock. What is overdue has been queued since then:
   unless it is due at once again, that wait is over, and the next one begins. Else it has waited
   until now, be it due since earlier in the bracket. */
static void rearm(struct thread *t, struct future *f, uint64_t due) {
  bool overdue = f->woken && f->woken_at <= t->ledger->now;
  if (f->state != WAITING || f->aside != NOT_ASIDE || (f->woken && !f->timed) ||
      (overdue && due != 0 && due <= t->ledger->now))
    return;
  if (overdue)
    ledger_close(t, f, false);
  is_due(f, due == 0 || due > t->ledger->now ? due : t->ledger->now);
}

/* The key of a live one goes to a new one. True: the old one goes on instead. */
static bool key_taken(struct thread *t, struct future *old, struct future *f, bool rearms) {
  if (rearms && (f->nameless || old->site == f->site)) {
    uint64_t due = f->state == TENTATIVE && f->woken ? f->woken_at : 0;
    if (!model_busy(old)) {
      requests_taken_along(t, old);
      rearm(t, old, due);
    } else {
      old->ending = REARMED;
      old->due = due;
    }
    return true;
  }
  old->keyed = false;
  if (model_busy(old)) {
    if (old->ending != END_ASKED) {
      old->ending = rearms ? END_ASKED : KEY_GONE;
      old->how = APROF_DONE;
    }
    return false;
  }
  t->ledger->reused += !rearms; /* who arms anew expects one there */
  model_ends_at_rest(t, old, APROF_CANCELLED);
  return false;
}

void model_create_end(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *f = token->future, *creator = token->before;
  bool tentative = f->state == TENTATIVE;
  if (t->tentative == f)
    t->tentative = f->enclosing;
  if (!tentative && creator && creator->state == WAITING && creator->aside == FOR_CREATE) {
    if (t->current)
      model_abandon(t);
    model_come_back(t, creator, model_no_slice_since(t, token));
  }
  if (!model_alive(f))
    return;
  unsigned flags = token->site->flags;
  struct future *old = op->ok ? model_find_key(t->ledger, token->site->ns, op) : NULL;
  if (!op->ok || (old && old != f && key_taken(t, old, f, flags & APROF_REARM))) {
    if (tentative) {
      f->state = NEVER;
      requests_never(t, f);
    }
    return;
  }
  give_key(f, token->site->ns, op);
  if (!tentative)
    return;
  f->waited = true;
  if ((flags & (APROF_ONCE | APROF_MULTI)) && !(flags & APROF_READY)) {
    f->state = WAITING;
    f->implicit = true;
    if (place_in_background(f->site, token->site->name))
      requests_waits_for_new(t->ledger, f);
  } else {
    f->state = QUEUED;
    f->await = NULL;
  }
}

/* -- runs -------------------------------------------------------------------- */

static struct future *run_unknown(struct thread *t, const struct op *op) {
  const struct aprof_site *site = op->site;
  /* Its own was created before anybody looked. */
  bool before = t->ledger->late && !(site->flags & APROF_ORPHAN) && op->function;
  if (!(site->flags & APROF_ORPHAN) && !before) {
    t->ledger->missed += !(site->flags & APROF_QUIET);
    return NULL;
  }
  struct future *f = ledger_future(t, op->function ? op->function : site, false);
  if (before)
    f->birth = site->name;
  requests_born(t, f, false, false, false);
  give_key(f, site->ns, op);
  return f;
}

void model_run_begin(struct world *w, struct thread *t, const struct op *op) {
  struct token *token = &w->tokens[op->token];
  struct future *caller = t->current, *f = model_find_key(t->ledger, op->site->ns, op);
  if (!f && !(f = run_unknown(t, op)))
    return;
  struct future *runs = model_innermost(f);
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
    model_put_aside(t, model_take_call(t, op->function ? op->function : op->site), FOR_CALLEE, f);
  /* The newest bracket is where control returns to: an older one that is still
     open (another thread's, which lost the race to close it) restores its own. */
  f->caller = caller;
  const char *from = runs->state == WAITING ? runs->await->name : runs->site->name;
  ledger_close(t, runs, false);
  if (runs->implicit)
    runs->await = NULL;
  runs->implicit = false;
  f->brackets++;
  model_starts_running(t, runs, from);
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
    model_unwind_to(t, f);
  struct future *runs = t->current;
  uint64_t due = f->ending == REARMED && runs == f ? f->due : 0;
  how = run_verdict(t, f, how);
  ledger_close(t, runs, false);
  if (body && runs == f)
    requests_leave_tiers(t->ledger, f, 0); /* its frame is gone */
  if (how < APROF_PENDING) {
    if (runs != f)
      model_unwind_to(t, f);
    ledger_close(t, f, false);
    ledger_over(t, f, how);
  } else if (runs->await) {
    model_waits_at(t, runs, runs->await, runs->implicit);
  } else {
    const char *site = op->site ? op->site->name : runs->birth;
    bool polls = op->site && runs == poller;
    model_waits_at(t, runs, polls ? polled_at : ledger_await(t->ledger, runs->path, site), true);
  }
  if (how >= APROF_PENDING && due != 0 && !runs->woken)
    is_due(runs, due);
}

void model_run_end(struct world *w, struct thread *t, const struct op *op, struct future *poller,
                   struct path *polled_at) {
  struct token *token = &w->tokens[op->token];
  struct future *f = token->future,
                *caller = model_aside_for(token->before, f) ? token->before : NULL;
  bool pending = false;
  if (model_alive(f)) {
    f->brackets--;
    if (t->current && (t->current == f || model_innermost(f) == t->current)) {
      struct future *top = t->current;
      run_stops(t, f, op, token->body, poller, polled_at);
      if (!caller)
        ledger_slice_end(t, op->site ? op->site->name : top->site->name);
      pending = op->how >= APROF_PENDING && op->site;
    } else if (f->ending != NO_END && !model_busy(f)) {
      int how = run_verdict(t, f, op->how);
      if (how < APROF_PENDING)
        model_ends_at_rest(t, f, how);
    }
  }
  if (!caller) {
    t->suspended = NULL;
    return;
  }
  if (t->current)
    model_abandon(t);
  struct path *called_at = caller->await;
  model_come_back(t, caller, model_no_slice_since(t, token));
  if (pending) {
    t->polled = caller;
    t->polled_at = called_at;
  }
}
