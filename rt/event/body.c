/* SPDX-License-Identifier: MIT */
/*
 * Events of bodies: async functions.
 *
 *     int tok = enter (site);            a future is born, or a known one adopts
 *       ...
 *     leave (tok);                       and is over
 *
 * Why the order inside each: read the clock, close what runs, open what begins.
 */
#include "begin.h"
#include "birth.h"
#include "gates.h"
#include "rt/count/miss.h"
#include "rt/request/member.h"
#include "tokens.h"

/* The first body entered inside a create bracket, on a stack of its own. */
static SLOW bool adopt_tentative(struct thread *t, struct aprof_site *site,
                                 struct aprof_token *token, const void *self) {
  struct aprof_future *f = t->tentative, *creator = t->cur;
  if (f->id != t->tentative_id || f->state != APROF_FUTURE_TENTATIVE || !adopts(f, site, self))
    return false;
  uint64_t now = event_time(t);
  future_named(t, f, site, self);
  tentative_is(t, tentative_around(f));
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
  trace_born(t, f, f->last);
  /* It has lived since its bracket began, runnable all the time. */
  f->state = APROF_FUTURE_QUEUED;
  close_queued(t, f, now);
  f->outer = f->node;
  set_running(t, f, now);
  token_set(token, f, t->slice_count << 1);
  tell(APROF_EVENT_RUNNING, f, site->id, now);
  return true;
}

/* The body that a run bracket around a call leads to. */
static SLOW void adopt_running(struct thread *t, struct aprof_site *site, struct aprof_token *token,
                               const void *self) {
  struct aprof_future *f = t->cur;
  future_named(t, f, site, self);
  f->flags |= APROF_F_BODY;
  f->open++;
  token_set(token, f, t->slice_count << 1);
}

void general_enter(struct aprof_site *site, struct aprof_token *token, const void *self) {
  struct thread *t = event_begin_as(true);
  if (unlikely(t == NULL))
    return;
  struct aprof_future *caller = t->cur;
  if (unlikely(t->tentative != NULL) && adopt_tentative(t, site, token, self))
    goto out;
  if (unlikely(caller != NULL && !(caller->flags & APROF_F_BODY)) &&
      running_adopts(caller, site, self)) {
    adopt_running(t, site, token, self);
    goto out;
  }

  uint64_t now = event_time(t);
  struct aprof_future *f = future_born(t, site, site->flags & APROF_ROOT, now);
  if (unlikely(f == NULL))
    goto out;
  f->flags = APROF_F_BODY | APROF_F_STARTED;
  f->open = 1;
  f->origin = site->id;
  f->ns = NS_FRAME;
  f->key0 = (uintptr_t)token;
  if (caller != NULL) {
    close_running(t, now);
    put_aside(t, caller, take_call_site(t, site), index_of(f), now);
    mark_moves(caller, f);
    f->caller = index_of(caller);
    f->outer = caller->outer;
    if (unlikely(caller->flags & APROF_F_MEMBER) && !(site->flags & APROF_ROOT))
      member_entered(t, f, caller, false, now);
  } else {
    close_rest(t->block, now);
    slice_open(t, f, now, site->id);
  }
  if (unlikely(site->flags & APROF_ROOT))
    member_entered(t, f, caller, true, now);
  token_set(token, f, t->slice_count << 1);
  trace_born(t, f, now);
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
  event_missed(t, APROF_MISS_LEAVE, node_function(f->node));
  top = innermost(f);
  if (top->state == APROF_FUTURE_RUNNING)
    return false; /* on another thread: not this one's to end */
  uint32_t caller = f->caller;
  end_waiting(t, f, id, body_verdict(f, how), now);
  if (caller != 0)
    callee_left(t, future_at(caller), index_of(f), now);
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
    slice_close(t, now, node_function(f->node));
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
