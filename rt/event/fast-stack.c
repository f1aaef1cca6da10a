/* SPDX-License-Identifier: MIT */
/*
 * The fast events of a run whose future has called bodies, as a coroutine has: the innermost of
 * them goes on, which the thread remembers (struct top), and waits where the bracket closes. See
 * fast.c for why, and run.c for what they do.
 */
#include "fast-key.h"

/* -- run --------------------------------------------------------------------- */

/* `called`: a running future runs it; else nothing runs here. */
ALWAYS void fast_run_stack(struct aprof_site *site, struct aprof_token *token,
                           struct aprof_future *f, struct aprof_site *function, const void *self,
                           uint32_t clock, bool called) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  struct aprof_future *caller = t->cur, *top = top_known(t, f);
  struct aprof_counters *a, *sliced = NULL;
  struct node_entry *waits = NULL;
  uint32_t bottom = 0;
  if (unlikely(top == NULL) || !fast_runnable(t, top) || !fast_named(f, site, function))
    goto undo;
  if (called) {
    struct aprof_site *callee = function != NULL ? function : site;
    struct aprof_site *at = likely(!call_announced(t, b)) ? callee : t->at;
    waits = fast_node_of(t, caller->node, at, true, true);
  } else {
    bottom = future_function(f);
    sliced = fast_counters(t, bottom);
  }
  a = fast_known(top);
  uint64_t now = fast_clock(clock), before = now - b->last, passed = now - top->last;
  if (unlikely(called ? waits == NULL : sliced == NULL) || backwards(before | passed) ||
      !fast_rest_ends(top, a, passed, clock))
    goto undo;
  if (called) {
    t->counters->function.exec += before;
    __atomic_store_n(&caller->wake_site, (uint32_t)token->word[0], __ATOMIC_RELAXED);
    fast_put_aside(caller, waits, index_of(f), now);
    note(t, APROF_TRACE_ASIDE, caller, caller->await, now);
  } else {
    b->other += before;
  }
  fast_close_rest(t, top, a, NULL, now, passed, clock);
  fast_goes_on(top);
  fast_opens(f, token, function, false);
  if (called && unlikely(top->outer != 0)) /* else no body below knows it either */
    outer_unknown(top, f);
  f->outer = bottom;
  top->state = APROF_FUTURE_RUNNING;
  top->last = now;
  thread_runs(t, b, top, fast_function(a), now);
  if (called) {
    f->caller = index_of(caller);
    bracket_open(t, token, f, token->word[0], caller, function);
  } else {
    t->slice_counters = sliced;
    slice_starts(b, bottom, now, a->await.site);
  }
  note(t, APROF_TRACE_RUNNING, top, top->node, now);
  finish(b);
  return;
undo:
  run_undone(site, token, f, function, self);
}

/* -- the end of its bracket ------------------------------------------------------ */

/* What runs is a body that f has called, which waits from here on until f is run again: a coroutine
   is left without an await. Where does it wait? NULL: not known. */
ALWAYS struct aprof_counters *fast_top_pause(struct thread *t, const struct aprof_token *token,
                                             const struct aprof_future *f,
                                             const struct aprof_future *top, int how,
                                             const struct aprof_site *where) {
  if (unlikely(how != APROF_PENDING) || unlikely(where != NULL) || unlikely(bracket_body(token)) ||
      unlikely(f->state != APROF_FUTURE_ASIDE) || unlikely(!top_of(t, f, top)))
    return NULL;
  return fast_pause(t, top, t->counters, NULL, true, false);
}

/* `called`: another future waits for the bracket to close. */
ALWAYS void fast_stack_closes(struct aprof_token *token, int how, struct aprof_site *where,
                              uint32_t clock, bool called) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  uint32_t index = called ? bracket_indexes(token) : 0;
  struct aprof_future *f =
      called ? future_at(index) : (struct aprof_future *)(uintptr_t)token->word[1];
  struct aprof_future *top = t->cur;
  struct aprof_future *caller =
      called ? future_at((uint32_t)(token->word[2] & BRACKET_INDEX)) : NULL;
  struct aprof_counters *at = NULL, *a = NULL, *sliced = t->slice_counters;
  bool runs = b->state == APROF_THREAD_RUNNING;
  if (unlikely(!in_profile((uintptr_t)f)))
    goto undo;
  if (f->id != token->word[0] &&
      (called ? runs && top == caller && likely((uint32_t)caller->id == token->word[1] >> 32)
              : !runs && token_current(t, token->word[0]))) {
    if (!called)
      t->cur = NULL;
    finish(b); /* f is over, and its caller runs again */
    return;
  }
  if (!fast_suspended(t, token, f) ||
      (called && (unlikely(token->word[2] & BRACKET_POLL) ||
                  unlikely(fast_caller(t, token, index, &at) == NULL))))
    goto undo;
  if (!called && !runs) {
    fast_stack_waits(t, f);
    t->cur = NULL;
    finish(b);
    return;
  }
  if (runs ? (a = fast_top_pause(t, token, f, top, how, where)) == NULL
           : b->state != APROF_THREAD_OTHER || !fast_outer(t, caller, fast_function(at)))
    goto undo;
  bool immediate = runs && token->word[2] >> 32 == (uint32_t)t->slice_count;
  uint64_t now = fast_clock(clock), passed = now - b->last, length = now - b->slice_tick;
  if (backwards(passed) || (called ? !fast_restores(caller, at, immediate, now, clock)
                                   : fast_slice_long(sliced, length, clock)))
    goto undo;
  if (runs) {
    t->counters->function.exec += passed;
    if (!called)
      fast_slice_close(t, sliced, length, clock);
    fast_pauses(top, a, now);
    note(t, APROF_TRACE_WAITING, top, a->await.node, now);
    note_rests(t, now);
    record_closes(f);
  } else {
    b->other += passed;
    fast_stack_waits(t, f);
    b->state = APROF_THREAD_RUNNING;
    slice_starts(b, caller->outer, now, at->await.site);
  }
  if (called)
    fast_caller_runs(t, b, caller, at, immediate, true, now, clock);
  else
    thread_rests(t, b, now);
  finish(b);
  return;
undo:
  run_end_undone(t, token, how, where);
}

/* -- one set per clock --------------------------------------------------------- */
#define SET(name, clock)                                                                           \
  RUN_FOUND(, run_stack_##name, fast_run_stack, clock, false)                                      \
  RUN_FOUND(, called_stack_##name, fast_run_stack, clock, true)                                    \
  RUN_OVER(, stack_end_##name, fast_stack_closes, clock, true)                                     \
  RUN_OVER(, stack_pause_##name, fast_stack_closes, clock, false)

#include "fast-sets.h"
