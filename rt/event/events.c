/* SPDX-License-Identifier: MIT */
/*
 * Events of bodies and awaits: the ones a coroutine program makes most.
 *
 *     int tok = enter (site);            a future is born, or a known one adopts
 *       { await = suspend (site); call; resume (await); }
 *     leave (tok);                       and is over
 *
 * Why the order inside each: read the clock, close what runs, open what begins.
 */
#include "events.h"

#include "begin.h"
#include "general.h"
#include "rt/count/miss.h"
#include "rt/future/record.h"
#include "tokens.h"

static inline void token_set(struct aprof_token *token, struct aprof_future *f, uint64_t word2) {
  token->word[0] = f->id;
  token->word[1] = (uintptr_t)f;
  token->word[2] = word2;
}

/* Of an epoch that is over: what it closes is, too. What has no epoch is no token. */
static inline bool token_old(const struct thread *t, uint64_t id) {
  return (id >> 48 != 0 || id == 0) && !token_current(t, id);
}

static inline void token_await(struct aprof_token *token, struct aprof_future *f, uint64_t kind) {
  token_set(token, f, kind);
  if (kind != AWAIT_OUTER)
    token->word[0] = ~f->id;
}

/* The site a future is put aside at: the call announced by at() just before this event,
   else what it calls. */
struct aprof_site *take_call_site(struct thread *t, struct aprof_site *callee) {
  return t->at_sequence + 1 == t->block->sequence ? t->at : callee;
}

struct aprof_future *future_born(struct thread *t, struct aprof_site *function, bool root,
                                 uint64_t now) {
  struct aprof_future *f = future_new(t), *parent = t->cur;
  if (unlikely(f == NULL))
    return NULL;
  uint32_t above = 0;
  if (parent != NULL) {
    f->parent = index_of(parent);
    f->parent_serial = (uint32_t)parent->id;
    if (!root)
      above = tree_parent(t, parent->node);
  } else {
    f->parent = 0;
    f->parent_serial = 0;
  }
  f->node = node_find(t, above, function, false)->node;
  f->outer = f->node;
  f->created_tick = now;
  f->last = now;
  return f;
}

/* -- bodies ---------------------------------------------------------------- */

/* A body may be the one a create bracket or a keyed run is waiting for. */
static bool adopts(struct aprof_future *f, struct aprof_site *site, const void *self) {
  if (f->flags & APROF_F_BODY)
    return false;
  if (f->flags & APROF_F_NAMELESS)
    return true;
  uint32_t known = node_site(f->node), mine = site_id(site);
  if (known == mine)
    return true;
  struct aprof_psite *p = site_record(known);
  return self != NULL && p->address == (uint64_t)(uintptr_t)self;
}

/* A name that was an address, or nothing, becomes that of the body seen. */
void future_named(struct thread *t, struct aprof_future *f, struct aprof_site *site,
                  const void *self) {
  if (f->flags & APROF_F_NAMELESS) {
    uint32_t parent = node_parent(f->node);
    bool own = f->outer == f->node;
    f->node = node_find(t, parent, site, false)->node;
    if (own)
      f->outer = f->node;
    if (f->await != 0)
      f->await = node_of_site_slow(f->node, node_site(f->await), true);
    f->flags &= (uint8_t)~APROF_F_NAMELESS;
    f->counters = (uintptr_t)nowhere;
    if (f == t->cur)
      t->counters = known_counters(t, f);
  } else if (self != NULL && site_record(node_site(f->node))->address == (uintptr_t)self) {
    site_alias_slow(node_site(f->node), site);
  }
  struct aprof_psite *p = site_record(node_site(f->node));
  if (p->name != 0 || p->alias != 0)
    f->flags |= APROF_F_NAMED;
}

/* The first body entered inside a create bracket, on a stack of its own. */
static SLOW bool adopt_tentative(struct thread *t, struct aprof_site *site,
                                 struct aprof_token *token, const void *self) {
  struct aprof_future *f = t->tentative, *creator = t->cur;
  if (f->id != t->tentative_id || f->state != APROF_FUTURE_TENTATIVE || !adopts(f, site, self))
    return false;
  uint64_t now = event_time(t);
  future_named(t, f, site, self);
  t->tentative = tentative_around(f);
  t->tentative_id = t->tentative != NULL ? t->tentative->id : 0;
  f->await = 0;
  f->flags |= APROF_F_BODY | APROF_F_STARTED;
  f->open = 1;
  if (creator != NULL) {
    close_running(t, now);
    put_aside(t, creator, take_call_site(t, site), CALLEE_CREATE, now);
  } else {
    close_rest(t->block, now);
    slice_open(t, f, now, site->id);
  }
  /* It lived since its bracket began: runnable all the time. */
  f->state = APROF_FUTURE_QUEUED;
  close_queued(t, f, now);
  f->outer = f->node;
  set_running(t, f, now);
  token_set(token, f, t->slice_count << 1);
  tell(APROF_EVENT_RUNNING, f, site->id, now);
  return true;
}

/* The body that a run bracket around a call leads to. */
static SLOW bool adopt_running(struct thread *t, struct aprof_site *site, struct aprof_token *token,
                               const void *self) {
  struct aprof_future *f = t->cur;
  if (!adopts(f, site, self))
    return false;
  future_named(t, f, site, self);
  f->flags |= APROF_F_BODY;
  f->open++;
  token_set(token, f, t->slice_count << 1);
  return true;
}

void general_enter(struct aprof_site *site, struct aprof_token *token, const void *self) {
  struct thread *t = event_begin_as(true);
  if (unlikely(t == NULL))
    return;
  struct aprof_future *caller = t->cur;
  if (unlikely(t->tentative != NULL) && adopt_tentative(t, site, token, self))
    goto out;
  if (unlikely(caller != NULL && !(caller->flags & APROF_F_BODY) && caller->open == 1) &&
      adopt_running(t, site, token, self))
    goto out;

  uint64_t now = event_time(t);
  struct aprof_future *f = future_born(t, site, site->flags & APROF_ROOT, now);
  if (unlikely(f == NULL))
    goto out;
  f->flags = APROF_F_BODY | APROF_F_STARTED;
  f->open = 1;
  f->create_site = site->id;
  f->ns = NS_FRAME;
  f->key0 = (uintptr_t)token;
  if (caller != NULL) {
    close_running(t, now);
    put_aside(t, caller, take_call_site(t, site), index_of(f), now);
    mark_moves(caller, f);
    f->caller = index_of(caller);
    f->outer = caller->outer;
  } else {
    close_rest(t->block, now);
    slice_open(t, f, now, site->id);
  }
  token_set(token, f, t->slice_count << 1);
  tell(APROF_EVENT_CREATED, f, site->id, now);
  set_running(t, f, now);
  tell(APROF_EVENT_RUNNING, f, site->id, now);
out:
  event_end(t);
}

/* Frames between what runs here and f's body were jumped over; or nobody saw f
   come back, but its body is left for certain. True: f runs, to be ended. */
static SLOW bool leave_unwinds(struct thread *t, struct aprof_future *f, uint64_t id, int how) {
  struct aprof_future *top = active_top(t);
  uint64_t now = event_time(t);
  if (top != NULL && unwind_to(t, top, f, not_before(now, f)))
    return true;
  event_missed(t, APROF_MISS_LEAVE, node_site(f->node));
  top = innermost(f);
  if (top->state == APROF_FUTURE_RUNNING)
    return false; /* on another thread: not this one's to end */
  forget_caller(f);
  end_waiting(t, f, id, body_verdict(f, how), now);
  return false;
}

void general_leave(struct aprof_token *token, int how) {
  const void *from = __builtin_return_address(0);
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = record_of(token->word[1]);
  if (unlikely(token_old(t, token->word[0])))
    goto out;
  if (unlikely(f->id != token->word[0])) {
    event_missed_from(t, APROF_MISS_LEAVE, from);
    goto out;
  }
  if (unlikely(f != t->cur) && !leave_unwinds(t, f, token->word[0], how))
    goto out;
  uint64_t now = event_time(t);
  close_running(t, now);
  uint32_t index = index_of(f);
  struct aprof_future *caller = f->caller ? future_at(f->caller) : NULL;
  bool aside = caller != NULL && is_aside(caller, index);
  bool immediate = token->word[2] >> 1 == t->slice_count;
  if (!aside)
    slice_close(t, now, node_site(f->node));
  else if (f->ns == NS_FRAME)
    mark_moves(f, caller);
  how = body_verdict(f, how);
  future_over(t, f, token->word[0], how, now);
  if (aside)
    restore(t, caller, now, immediate);
  else
    set_resting(t, now);
out:
  event_end(t);
}

/* -- helpers that no future calls ------------------------------------------- */

__thread struct helper events_helper __attribute__((tls_model("initial-exec")));

/* It suspends nothing: creates inside are reported at its call. */
static SLOW void helper_begin(struct aprof_site *site, struct aprof_token *token) {
  if (events_helper.at != (uintptr_t)token && helper_around(token) != NULL)
    return;
  events_helper.site = site;
  events_helper.at = (uintptr_t)token;
  token->word[0] = AWAIT_OUTSIDE;
  token->word[1] = (uintptr_t)&no_future;
}

static SLOW void helper_end(const struct aprof_token *token) {
  if (events_helper.at == (uintptr_t)token)
    events_helper.at = 0;
}

/* -- awaits ---------------------------------------------------------------- */

/* Where a slice that f's wait ends is said to end: at its outermost await, which is the
   program's line; others on the stack are a library's. */
static uint32_t slice_end_site(const struct aprof_future *f, struct aprof_site *site) {
  uint32_t outermost = node_site(f->await);
  return likely(outermost != 0) ? outermost : site_id(site);
}

/* An await inside the await that suspended this stack's future. */
static SLOW bool suspend_again(struct thread *t, struct aprof_site *site, struct aprof_token *token,
                               uintptr_t stack) {
  struct aprof_future *f = t->suspended;
  if (f == NULL || f->id != t->suspended_id || f->state != APROF_FUTURE_WAITING ||
      f->lease != t->lease || !on_suspended_stack(t, (uintptr_t)token)) {
    event_missed(t, APROF_MISS_AWAIT, site_id(site));
    return false;
  }
  uint64_t now = event_time(t);
  charge_back(t, f, now);
  slice_reopen(t, f->last);
  f->last = now;
  t->block->last = now;
  slice_close(t, now, slice_end_site(f, site));
  token_await(token, f, site->flags & APROF_WORKER ? AWAIT_WORKER : 0);
  t->suspended_at = (uintptr_t)token;
  t->suspended_stack = stack;
  return true;
}

void general_suspend(struct aprof_site *site, struct aprof_token *token) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL)) {
    if (site->flags & APROF_HELPER)
      helper_begin(site, token);
    return;
  }
  struct aprof_future *f = t->cur;
  if (unlikely(f == NULL)) {
    if (site->flags & APROF_HELPER)
      helper_begin(site, token);
    else
      suspend_again(t, site, token, caller_stack());
    goto out;
  }
  uint32_t await = f->await;
  uint64_t kind = site->flags & APROF_WORKER ? AWAIT_WORKER : 0;
  if (likely(await == 0)) {
    await = node_find(t, f->node, site, true)->node;
    kind |= AWAIT_OUTER;
    if (unlikely(site->flags & APROF_NAMES)) {
      f->await = await;
      token_await(token, f, AWAIT_OUTER | AWAIT_NAMES);
      goto out;
    }
  } else if (unlikely(site->flags & APROF_NAMES)) {
    goto out;
  }
  uint64_t now = event_time(t);
  close_running(t, now);
  set_waiting(f, await, now);
  slice_close(t, now, slice_end_site(f, site));
  token_await(token, f, kind);
  set_resting(t, now);
  t->suspended = f;
  t->suspended_id = f->id;
  t->suspended_at = (uintptr_t)token;
  t->suspended_stack = caller_stack();
  tell(APROF_EVENT_WAITING, f, site->id, now);
out:
  event_end(t);
}

static SLOW void resume_oddly(struct thread *t, struct aprof_future *f, uint64_t kind) {
  uint64_t outer = kind & AWAIT_OUTER;
  if (f == t->cur) { /* an inner await, or the bracket that runs it, came first */
    if (outer)
      f->await = 0;
    if (kind & AWAIT_WORKER)
      slice_open_worker(t);
    return;
  }
  uint64_t now = not_before(event_time(t), f);
  struct aprof_future *top = active_top(t);
  if (f->state == APROF_FUTURE_ASIDE && top != NULL && unwind_to(t, top, f, now)) {
    if (outer)
      f->await = 0;
    return;
  }
  event_missed(t, APROF_MISS_RESUME, node_site(f->await != 0 ? f->await : f->node));
}

void general_resume(struct aprof_token *token) {
  const void *from = __builtin_return_address(0);
  if (unlikely(token->word[0] == AWAIT_OUTSIDE)) {
    helper_end(token);
    return;
  }
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = record_of(token->word[1]);
  uint64_t id = token->word[0], kind = AWAIT_OUTER;
  if (unlikely(!token_current(t, id))) {
    kind = token->word[2];
    if (token_old(t, id) && token_old(t, id = ~id))
      goto out;
  }
  if (unlikely(f->id != id)) {
    event_missed_from(t, APROF_MISS_RESUME, from);
    goto out;
  }
  if (unlikely(f->state != APROF_FUTURE_WAITING)) {
    resume_oddly(t, f, kind);
    goto out;
  }
  uint64_t now = not_before(event_time(t), f);
  if (unlikely(t->cur != NULL))
    abandon_running(t, now);
  else
    close_rest(t->block, now);
  close_waiting(t, f, now);
  slice_open(t, f, now, node_site(f->await));
  if (unlikely(kind & AWAIT_WORKER))
    slice_open_worker(t);
  if (likely(kind & AWAIT_OUTER))
    f->await = 0;
  set_running(t, f, now);
  tell(APROF_EVENT_RUNNING, f, 0, now);
out:
  event_end(t);
}

void general_at(struct aprof_site *call) {
  struct thread *t = aprof_self;
  const struct aprof_block *b = t->block;
  if (likely(b != NULL)) {
    t->at = call;
    t->at_sequence = b->sequence;
    if (unlikely(call == NULL))
      t->at_sequence = UINT64_MAX;
  }
}

/* -- returning twice ------------------------------------------------------- */

/* A token's future, whether it is a body's or a bracket's; NULL: over. */
static struct aprof_future *token_future(const struct aprof_token *token, uint64_t id) {
  struct aprof_future *f = bracket_future(token);
  return f->id == id ? f : NULL;
}

void general_here(struct aprof_token *token) {
  const struct thread *t = aprof_self;
  bool known = t->epoch == __atomic_load_n(&rt.header->epoch, __ATOMIC_RELAXED);
  const struct aprof_future *f = known ? t->cur : NULL;
  token->word[0] = f != NULL ? f->id : HERE_NOTHING;
  token->word[1] = (uintptr_t)f;
  token->word[2] = HERE;
}

#define NEAR (256u * 1024u) /* bytes; a coroutine's stack, whose bounds nobody knows */

/* Do the bodies that run above f (NULL: all) lie above `mark` on its stack? Those of a coroutine
   that was switched to from there, and has switched back, lie on another. */
static bool lie_above(const struct thread *t, uintptr_t mark, const struct aprof_future *f) {
  uintptr_t size = t->stack_high - t->stack_low;
  bool own = mark - t->stack_low < size;
  for (const struct aprof_future *g = t->cur; g != f; g = future_at(g->caller)) {
    uintptr_t token = (uintptr_t)g->key0;
    if (g->ns != NS_FRAME || !(g->flags & APROF_F_BODY) || token >= mark ||
        (token - t->stack_low < size) != own || (!own && mark - token > NEAR))
      return false;
    if (g->caller == 0)
      return f == NULL;
    if (!is_aside(future_at(g->caller), index_of(g)))
      return false;
  }
  return true;
}

/* What runs was left by a jump to a frame of a function that is no body, if it lies above it. */
static void resync_plain(struct thread *t, const struct aprof_token *token) {
  uint64_t id = token->word[0];
  struct aprof_future *f = NULL;
  if (id != HERE_NOTHING && (!token_current(t, id) || (f = record_of(token->word[1]))->id != id))
    return;
  if (t->cur == NULL || t->cur == f || !lie_above(t, (uintptr_t)token, f))
    return;
  if (f != NULL) {
    unwind_to(t, t->cur, f, not_before(event_time(t), f));
  } else {
    uint64_t now = event_time(t);
    cancel_running(t, now);
    set_resting(t, now);
  }
}

/* As most often, when it has come back for the first time. */
static bool as_before(const struct thread *t, const struct aprof_token *token) {
  if (t->block == NULL)
    return true;
  return !(t->block->sequence & 1) && (uintptr_t)t->cur == token->word[1] &&
         (t->cur == NULL || t->cur->id == token->word[0]);
}

void general_resync(struct aprof_token *token) {
  struct thread *t = aprof_self;
  if (token->word[2] == HERE && as_before(t, token))
    return;
  if (unlikely((t = event_begin()) == NULL))
    return;
  if (token->word[2] == HERE) {
    resync_plain(t, token);
    goto out;
  }
  uint64_t id = token->word[0];
  if (!token_current(t, id))
    id = ~id; /* an await's */
  struct aprof_future *f;
  if (!token_current(t, id) || (f = token_future(token, id)) == NULL)
    goto out;
  if (f == t->cur)
    goto clear;
  uint64_t now = not_before(event_time(t), f);
  struct aprof_future *top = active_top(t);
  if (top != NULL && unwind_to(t, top, f, now))
    goto clear;
  top = innermost(f);
  if (top->state != APROF_FUTURE_WAITING && top->state != APROF_FUTURE_ASIDE)
    goto out; /* another thread runs it */
  if (t->cur != NULL)
    abandon_running(t, now);
  else
    close_rest(t->block, now);
  cancel_above(t, top, f, now);
  slice_open(t, f, now, node_site(f->await));
  restore(t, f, now, false);
clear:
  f->await = 0; /* the await it was in, if any, was jumped out of */
out:
  event_end(t);
}
