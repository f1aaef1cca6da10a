/* SPDX-License-Identifier: MIT */
/* Whose time it was. */
#include "requests.h"

#include <stdlib.h>

/* -- who is where ------------------------------------------------------------- */

/* The future whose stack f is on, by calls alone: that one is a part of a request. */
static struct future *bottom(struct future *f) {
  while (f->borrows && f->caller->state == WAITING && f->caller->aside == FOR_CALLEE &&
         f->caller->callee == f)
    f = f->caller;
  return f;
}

/* The body that f called and waits for. */
static struct future *called_by(struct future *f) {
  if (f->state != WAITING || f->aside != FOR_CALLEE)
    return NULL;
  struct future *callee = f->callee;
  return callee && callee->borrows && callee->caller == f && callee->state != OVER ? callee : NULL;
}

struct request *requests_of(struct future *f) {
  return bottom(f)->request;
}

static bool tier_open(struct future *f, unsigned tier) {
  for (;; f = f->caller) {
    for (unsigned i = 0; i < f->depth; i++)
      if (f->inside[i].tier == tier)
        return true;
    if (bottom(f) == f)
      return false;
  }
}

struct requests *requests_new(unsigned most) {
  struct requests *requests = calloc(1, sizeof *requests);
  if (!requests)
    abort();
  requests->most = most;
  return requests;
}

static struct request *request_new(struct ledger *ledger) {
  struct requests *all = ledger->requests;
  unsigned used = 0;
  for (unsigned i = 0; i < all->count; i++) {
    struct request *r = &all->request[i];
    used += !r->none && (!r->over || r->members > 0);
  }
  if (used >= all->most) {
    all->lost++;
    return NULL;
  }
  struct request *r = &all->request[all->count++];
  *r = (struct request){.begin = ledger->now};
  return r;
}

/* -- booking -------------------------------------------------------------------- */

static void add(struct share *to, const struct share *from) {
  for (unsigned i = 0; i < TIERS; i++) {
    to->exec[i] += from->exec[i];
    to->waiting[i] += from->waiting[i];
    to->wall[i] += from->wall[i];
    to->calls[i] += from->calls[i];
    to->touched[i] |= from->touched[i];
  }
  to->queued += from->queued;
}

static void book(struct ledger *ledger, struct future *f) {
  struct request *r = requests_of(f);
  f->share.touched[f->tier] = f->share.touched[f->base_tier] = true;
  if (!r)
    ledger->requests->none += requests_sum(f->share.exec);
  else if (r->over)
    r->after_exec += requests_sum(f->share.exec);
  else
    add(&r->has, &f->share);
  f->share = (struct share){0};
  if (r && !r->over && f->ran_until > r->stopped)
    r->stopped = f->ran_until;
}

static void wall(struct future *f, const struct inside *in, uint64_t now) {
  f->share.wall[in->tier] += now - in->begin;
  f->share.touched[in->tier] |= now > in->begin;
}

/* ... with the walls of all that is open, for as long as f is a part of this one. */
static void book_all(struct ledger *ledger, struct future *f) {
  for (unsigned i = 0; i < f->depth; i++) {
    struct inside *in = &f->inside[i];
    if (in->outermost)
      wall(f, in, ledger->now);
    in->begin = ledger->now;
  }
  book(ledger, f);
}

static void finish(struct ledger *ledger, struct request *r) {
  r->over = true;
  r->ends_on = NULL;
  r->finished_at = ledger->now;
  r->function = r->first->site->name;
  r->exec = requests_sum(r->has.exec);
  r->waiting = requests_sum(r->has.waiting);
  r->queued = r->has.queued;
  r->wall = r->stopped > r->begin ? r->stopped - r->begin : 0;
}

static void joins(struct future *f, struct request *r) {
  f->request = r;
  f->ran_until = f->ran_at = 0;
  if (r)
    r->members++;
}

static void one_less(struct ledger *ledger, struct request *r) {
  if (--r->members == 0 && !r->over && !r->root)
    finish(ledger, r);
}

/* f and the bodies that it called, whichever of them is on top, are a part of it no more. */
static void leaves(struct ledger *ledger, struct future *f) {
  struct request *r = f->request;
  for (struct future *each = f; each; each = called_by(each)) {
    book_all(ledger, each);
    each->ran_until = 0;
  }
  if (!r)
    return;
  if (r->over && (f->was_running || f->ran_at > r->finished_at))
    r->after++;
  f->request = NULL;
  one_less(ledger, r);
}

/* -- births and ends ------------------------------------------------------------ */

void requests_born(struct thread *t, struct future *f, bool root, bool called, bool for_new_work) {
  struct ledger *ledger = t->ledger;
  f->leaf_from = f->created;
  if (root) {
    ledger->requests->roots = true;
    struct request *r = request_new(ledger);
    joins(f, r);
    if (r)
      r->root = r->first = f;
  } else if (called) {
    f->borrows = t->current != NULL;
    f->tier = f->base_tier = t->current ? t->current->tier : 0;
  } else {
    struct request *r = t->current ? requests_of(t->current) : NULL;
    joins(f, r && r->implicit && for_new_work ? NULL : r);
  }
}

void requests_never(struct thread *t, struct future *f) {
  struct request *r = f->request;
  if (r && r->root == f)
    r->none = true;
  else if (r)
    one_less(t->ledger, r);
}

void requests_over(struct thread *t, struct future *f) {
  struct ledger *ledger = t->ledger;
  book_all(ledger, f);
  struct request *r = f->request;
  f->depth = 0;
  if (f->borrows || !r)
    return;
  if (r->root == f) {
    r->root_over = true;
    r->ends_on = t;
    r->last = NULL;
  }
  if (r->over && (f->was_running || f->ran_at > r->finished_at))
    r->after++;
  if (f->how == APROF_FAILED && (!r->root || r->root == f) && !r->over)
    r->failed = true;
  one_less(ledger, r);
}

/* -- segments --------------------------------------------------------------------- */

static void ran(struct ledger *ledger, struct future *f) {
  f->ran_at = ledger->now;
}

static void exec(struct ledger *ledger, struct future *f, uint64_t length) {
  f->share.exec[f->tier] += length;
  f->ran_until = ledger->now;
  ran(ledger, f);
}

/* At its create it is its create's tier that waits. */
static void waited(struct future *f, uint64_t length) {
  bool at_create = !f->aside && f->implicit && f->await->name == f->birth;
  unsigned tier = at_create && f->create_tier ? f->create_tier : f->tier;
  if (f->aside != FOR_CALLEE && f->aside != FOR_CREATE)
    f->share.waiting[tier] += length;
  f->share.touched[tier] |= at_create;
  if (!at_create || !f->create_tier || tier_open(f, tier))
    return;
  f->share.calls[tier]++;
  f->share.wall[tier] += length;
}

/* What f did since its segment began goes to its share. */
static void split(struct ledger *ledger, struct future *f) {
  uint64_t since = f->leaf_from > f->last ? f->leaf_from : f->last, now = ledger->now;
  f->was_running = f->state == RUNNING;
  if (f->state == RUNNING) {
    exec(ledger, f, now - since);
  } else if (f->state == QUEUED) {
    f->share.queued += now - since;
  } else if (f->state == WAITING) {
    bool ready = f->woken && !f->aside && f->woken_at <= now;
    uint64_t queued = !ready ? 0 : now - (f->woken_at > since ? f->woken_at : since);
    f->share.queued += queued;
    waited(f, now - since - queued);
  }
  f->leaf_from = now;
}

void requests_close(struct ledger *ledger, struct future *f) {
  split(ledger, f);
}

void requests_charge_back(struct ledger *ledger, struct future *f, uint64_t passed) {
  /* It went to another request in a wait that was none: whose time that was nobody says. */
  ledger->ambiguous |= f->leaf_from > f->last;
  exec(ledger, f, passed);
  f->leaf_from = ledger->now;
}

void requests_waits_for_new(struct ledger *ledger, struct future *f) {
  f->background = true;
  f = bottom(f);
  if (f->request && f->request->implicit)
    leaves(ledger, f);
}

void requests_goes_on(struct ledger *ledger, struct future *f) {
  bool begins = f->background && !ledger->requests->roots;
  f->background = false;
  ran(ledger, f);
  f = bottom(f);
  if (!begins || f->request)
    return;
  for (struct future *each = f; each; each = called_by(each))
    book_all(ledger, each);
  struct request *r = request_new(ledger);
  joins(f, r);
  if (r) {
    r->implicit = true;
    r->first = f;
  }
}

/* -- tiers ------------------------------------------------------------------------ */

void requests_enter_tier(struct ledger *ledger, struct future *f, struct inside *inside) {
  inside->begin = ledger->now;
  inside->outermost = !tier_open(f, inside->tier);
  f->share.calls[inside->tier] += inside->outermost;
  f->share.touched[f->tier] = f->share.touched[inside->tier] = true;
  f->tier = inside->tier;
}

void requests_leave_tiers(struct ledger *ledger, struct future *f, unsigned depth) {
  while (f->depth > depth) {
    struct inside *in = &f->inside[--f->depth];
    f->at = in->before;
    if (in->outermost)
      wall(f, in, ledger->now);
    f->share.touched[in->tier] = true;
    f->tier = in->tier_before;
  }
}

/* -- what a program says -------------------------------------------------------------- */

void requests_label(struct request *r, const char *label) {
  if (r && !r->over && label)
    r->label = label;
}

void requests_moved(struct thread *t, struct future *f, struct request *to) {
  f = bottom(f);
  if (f->request == to || (f->request && f->request->root == f))
    return;
  leaves(t->ledger, f);
  joins(f, to);
}

void requests_taken_along(struct thread *t, struct future *f) {
  bool at_rest = (f->state == WAITING && f->aside == NOT_ASIDE) || f->state == QUEUED;
  if (!t->current || !at_rest || f->borrows)
    return;
  if (f->background && !t->ledger->requests->roots)
    return;
  struct request *to = requests_of(t->current);
  if (to == f->request || (f->request && f->request->root == f))
    return;
  if (t->ledger->now > f->last) /* else it has only begun to wait */
    split(t->ledger, f);
  f->was_running = false;
  requests_moved(t, f, to);
}

/* -- ends of requests --------------------------------------------------------------------- */

static void finish_here(struct ledger *ledger, struct request *r) {
  for (struct future *f = r->last; f && f->state != OVER;) {
    if (requests_of(f) == r)
      book_all(ledger, f);
    bool on_stack = f->caller && f->caller->state == WAITING && f->caller->aside == FOR_CALLEE &&
                    f->caller->callee == f;
    f = on_stack ? f->caller : NULL;
  }
  finish(ledger, r);
}

/* Those whose root has ended go on for as long as a part of them runs on this very stack. */
static void ends(struct thread *t, struct request *r) {
  struct future *f = t->current;
  if (f && requests_of(f) == r)
    r->last = f;
  else
    finish_here(t->ledger, r);
}

void requests_event_end(struct thread *t) {
  struct requests *all = t->ledger->requests;
  unsigned ending = 0;
  for (unsigned i = 0; i < all->count; i++)
    ending += all->request[i].ends_on == t;
  for (unsigned i = 0; i < all->count; i++)
    if (all->request[i].ends_on == t)
      ends(t, &all->request[i]);
  /* Of several, which one goes on with what runs here is open. */
  for (unsigned i = 0; i < all->count; i++)
    t->ledger->ambiguous |= ending > 1 && all->request[i].ends_on == t;
}

void requests_detached(struct ledger *ledger) {
  struct requests *all = ledger->requests;
  for (unsigned i = 0; i < ledger->future_count; i++) {
    struct future *f = &ledger->futures[i];
    if (f->state == RUNNING)
      split(ledger, f);
    all->none += requests_sum(f->share.exec);
    f->share = (struct share){0};
    f->request = NULL;
  }
  for (unsigned i = 0; i < all->count; i++) {
    struct request *r = &all->request[i];
    r->members = 0;
    r->ends_on = NULL;
    r->none |= !r->over;
  }
}

void requests_reset(struct ledger *ledger) {
  struct requests *all = ledger->requests;
  all->count = 0;
  all->none = 0;
}
