/* SPDX-License-Identifier: MIT */
/*
 * Events of awaits, and of helpers that no future calls.
 *
 *     { await = suspend (site); call; resume (await); }
 */
#include "begin.h"
#include "birth.h"
#include "gates.h"
#include "rt/count/miss.h"
#include "rt/future/key.h"
#include "rt/request/member.h"
#include "run.h"
#include "span.h"
#include "tokens.h"

/* -- helpers that no future calls ------------------------------------------- */

/* It suspends nothing: creates inside are reported at its call. */
static SLOW void helper_begin(struct aprof_site *site, struct aprof_token *token) {
  if (events_helper.at != (uintptr_t)token && helper_around(token) != NULL)
    return;
  events_helper.site = site;
  events_helper.at = (uintptr_t)token;
  token->word[0] = AWAIT_OUTSIDE;
  token->word[1] = (uintptr_t)&no_future;
  token->word[2] = 0;
}

static SLOW void helper_end(const struct aprof_token *token) {
  if (events_helper.at == (uintptr_t)token)
    events_helper.at = 0;
}

/* -- awaits ---------------------------------------------------------------- */

/* The place at which a slice ends that f's wait ends: the outermost await, which is a line of the
   program; the others on the stack are a library's. */
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
  span_outside_undo(t, f->last);
  charge_back(t, f, now);
  trace(t, APROF_TRACE_RAN, f, f->node, now);
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
  set_waiting(t, f, await, now);
  slice_close(t, now, slice_end_site(f, site));
  may_rest(t, f, now);
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
  event_missed(t, APROF_MISS_RESUME, node_site(f->await != 0 ? f->await : function_node(f->node)));
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
  nothing_runs(t, now);
  close_waiting(t, f, now);
  slice_open(t, f, now, node_site(f->await));
  if (unlikely(kind & AWAIT_WORKER))
    slice_open_worker(t);
  bool new_work = node_begins_request(f->await);
  if (likely(kind & AWAIT_OUTER))
    f->await = 0;
  set_running(t, f, now);
  if (unlikely(new_work))
    member_goes_on(t, f, now);
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

/* -- switches between stacks by key: what runs here waits, and the future of the key goes on -- */

/* The future of the key takes over this thread's stack of execution. */
static void switch_in(struct thread *t, struct aprof_future *f, struct aprof_site *site,
                      uint64_t now) {
  struct aprof_future *runs = innermost(f);
  if (runs->state == APROF_FUTURE_RUNNING || runs->state == APROF_FUTURE_ASIDE ||
      (runs == f && !run_takes(t, f, f->id, false))) {
    node_shared(function_node(runs->node));
    event_missed(t, APROF_MISS_BUSY, site_id(site)); /* ..., or is inside a bracket there */
    return;
  }
  now = not_before(now, runs);
  slice_open(t, runs, now, rests_at(runs));
  close_rest(t->block, now);
  close_off_thread(t, runs, now);
  f->flags |= APROF_F_STARTED;
  set_going_on(t, runs, APROF_TRACE_RUNNING, 0, now);
}

void general_switch_to(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                       uint64_t key1) {
  general_suspend(site, token);
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = key_find(key0, key1, site->ns);
  if (f != NULL)
    site_found(site);
  else
    event_missed(t, APROF_MISS_SWITCH, site_id(site));
  if (f != NULL && t->cur == NULL)
    switch_in(t, f, site, event_time(t));
  event_end(t);
}
