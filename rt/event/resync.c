/* SPDX-License-Identifier: MIT */
/* Frames that are returned to twice: by setjmp, or as a coroutine that was switched away from. */
#include "begin.h"
#include "gates.h"
#include "span.h"
#include "tokens.h"

void general_here(struct aprof_token *token) {
  const struct thread *t =
      aprof_self; /* in a child by fork without a block, until its first event */
  bool known = t->epoch == __atomic_load_n(&rt.header->epoch, __ATOMIC_RELAXED);
  const struct aprof_future *f = known && t->block != NULL ? running(t) : NULL;
  token->word[0] = f != NULL ? f->id : HERE_NOTHING;
  token->word[1] = (f != NULL ? (uint64_t)index_of(f) << 32 : 0) | (known ? t->serial : 1);
  token->word[2] = HERE;
}

static bool is_frame(const struct aprof_future *f) {
  return f->ns == NS_FRAME && (f->flags & APROF_F_BODY);
}

#define NEAR (256u * 1024u) /* bytes; a coroutine's stack, whose bounds nobody knows */

/* Do the bodies that run above f (NULL: all) lie above `mark` on its stack? Those of a coroutine
   that was switched to from there, and has switched back, lie on another. */
static bool lie_above(const struct thread *t, uintptr_t mark, const struct aprof_future *f) {
  bool own = on_own_stack(t, mark);
  for (const struct aprof_future *g = t->cur; g != f; g = future_at(g->caller)) {
    uintptr_t token = (uintptr_t)g->key0;
    if (!is_frame(g) || token >= mark || on_own_stack(t, token) != own ||
        (!own && mark - token > NEAR))
      return false;
    if (g->caller == 0)
      return f == NULL;
    if (!is_aside(future_at(g->caller), index_of(g)))
      return false;
  }
  return true;
}

/* A jump to a frame of a function that is no body has left what runs, if that lies above the
   frame; id: of what ran there, *f. */
static bool left_by_jump(const struct thread *t, const struct aprof_token *token, uint64_t id,
                         struct aprof_future **f) {
  *f = NULL;
  if (id != HERE_NOTHING &&
      (!token_current(t, id) || (*f = record_at(token->word[1] >> 32))->id != id))
    return false;
  const struct aprof_future *runs = running(t);
  return runs != NULL && runs != *f && lie_above(t, (uintptr_t)token, *f);
}

/* The innermost create bracket that is open here was jumped over: on the thread's own stack it lies
   above the frame of `mark`; or in that frame, where no number before `since` was its future's. 0:
   nobody knows. One on a coroutine's stack may be gone on with. */
static bool create_left(const struct thread *t, uintptr_t mark, uint32_t since) {
  const struct aprof_future *f = t->tentative;
  if (likely(f == NULL) || f->id != t->tentative_id || f->state != APROF_FUTURE_TENTATIVE)
    return false;
  uintptr_t at = tentative_token(f);
  if (!on_own_stack(t, mark) || !on_own_stack(t, at))
    return false;
  return since != 0 ? (int32_t)((uint32_t)f->id - since) >= 0 : at < mark;
}

/* ... and so were those around it: their futures never were. Else the next body would be taken for
   one of them. */
static void creates_left(struct thread *t, uintptr_t mark, uint32_t since) {
  while (create_left(t, mark, since)) {
    struct aprof_future *f = t->tentative;
    uint64_t id = f->id;
    tentative_is(t, tentative_around(f));
    if (future_claim(f, id))
      future_free(t, f);
  }
}

static void resync_plain(struct thread *t, const struct aprof_token *token, uint64_t id) {
  struct aprof_future *f;
  creates_left(t, (uintptr_t)token, token->word[2] == HERE ? (uint32_t)token->word[1] : 0);
  if (!left_by_jump(t, token, id, &f))
    return;
  if (f != NULL) {
    unwind_to(t, t->cur, f, not_before(event_time(t), f));
  } else {
    uint64_t now = event_time(t);
    cancel_running(t, now);
    set_resting(t, now);
  }
}

/* Is there nothing to do? So it is at the first return, when what ran there runs, and where one of
   two coroutines has switched to the other one: what runs then, if anything does, is no body, or
   lies on another stack. */
static bool nothing_left(const struct thread *t, const struct aprof_token *token) {
  if (t->block == NULL)
    return true;
  if (t->block->sequence & 1)
    return false;
  if (create_left(t, (uintptr_t)token, (uint32_t)token->word[1]))
    return false;
  struct aprof_future *runs = running(t), *ran;
  return runs == NULL || !is_frame(runs) || runs->id == token->word[0] ||
         (t->seen == __atomic_load_n(&rt.header->usual, __ATOMIC_RELAXED) &&
          !left_by_jump(t, token, token->word[0], &ran));
}

/* Of a body, or a run around one: of all that was opened in it nothing is open any more. */
static bool is_body_token(const struct thread *t, const struct aprof_token *token) {
  if (!token_current(t, token->word[0]))
    return false;
  return bracket_indexed(token) ? bracket_body(token) : token->word[2] != AWAIT_OUTER;
}

static void body_back(struct thread *t, struct aprof_future *f) {
  uint64_t now = event_time(t);
  close_here(t, now);
  spans_left(t, f, now);
  t->counters = known_counters(t, f);
  trace(t, APROF_TRACE_NODE, f, f->node, now);
}

static SLOW void resync(struct aprof_token *token) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  if (token->word[2] == HERE) {
    resync_plain(t, token, token->word[0]);
    goto out;
  }
  uint64_t id = token->word[0];
  bool span = is_span_token(t, token);
  if (span && is_outside(token)) {
    resync_plain(t, token, HERE_NOTHING);
    span_outside_back(t, token);
    goto out;
  }
  if (span)
    id = span_future_id(token);
  else if (!token_current(t, id))
    id = ~id; /* an await's */
  struct aprof_future *f = bracket_future(token);
  if (!token_current(t, id) || f->id != id)
    goto out; /* over */
  /* A body that was born as it was entered is older than all creates in it. */
  creates_left(t, (uintptr_t)token, is_frame(f) && id >> 32 == t->lease ? (uint32_t)id : 0);
  if (f == t->cur)
    goto clear;
  uint64_t now = not_before(event_time(t), f);
  struct aprof_future *top = active_top(t);
  if (top != NULL && unwind_to(t, top, f, now))
    goto clear;
  top = innermost(f);
  if (top->state != APROF_FUTURE_WAITING && top->state != APROF_FUTURE_ASIDE)
    goto out; /* another thread runs it */
  nothing_runs(t, now);
  cancel_above(t, top, f, now);
  slice_open(t, f, now, node_site(f->await));
  restore(t, f, now, false);
clear:
  f->await = 0; /* the await it was in, if any, was jumped out of */
  if (span)
    span_back(t, f, token, event_time(t));
  else if (is_body_token(t, token))
    body_back(t, f);
out:
  event_end(t);
}

void general_resync(struct aprof_token *token) {
  if (token->word[2] != HERE || !nothing_left(aprof_self, token))
    resync(token);
}
