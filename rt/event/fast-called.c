/* SPDX-License-Identifier: MIT */
/*
 * The fast event of a run that a running future makes: a callback that goes through the
 * steps of a request, a state machine that polls another one. See fast.c for why, and
 * run.c for what it does. The slice is the caller's all the while. Its end: fast-close.c.
 */
#include "fast-key.h"

/* Where its key is not that of one that is this thread's, and that nobody woke, at the first place,
   `sought` goes on inside the event, for which it is NULL; where it has called bodies, `stack`. */
ALWAYS void fast_called_begin(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                              uint64_t key1, struct aprof_site *function, const void *self,
                              uint32_t clock, run_begin *sought, run_found *stack) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  bool taken = sought == NULL;
  struct aprof_future *caller = t->cur, *f = NULL;
  struct node_entry *called = NULL;
  if (!taken)
    f = fast_find(site, key0, key1, token);
  if (unlikely(b->state != APROF_THREAD_RUNNING) || (!taken && unlikely(f == NULL)) ||
      unlikely(caller->await != 0))
    goto undo;
  if (!taken && unlikely(f->state == APROF_FUTURE_ASIDE)) {
    stack(site, token, f, function, self);
    return;
  }
  if (!taken && unlikely(f->lease != t->lease))
    goto undo;
  struct aprof_site *callee = function != NULL ? function : site;
  struct aprof_site *at = likely(!call_announced(t, b)) ? callee : t->at;
  called = fast_node_of(t, caller->node, at, true, taken);
  if (taken && (called == NULL || (f = run_sought(t, site, token, key0, key1, function)) == NULL))
    goto undo;
  struct aprof_counters *c, *a = NULL;
  uint32_t node = f->node;
  uint64_t *limit;
  if (f->state == APROF_FUTURE_WAITING) {
    a = fast_counted(t, f, true, taken);
    if (taken && a == NULL)
      goto undo;
    c = (struct aprof_counters *)(uintptr_t)a->await.function;
    limit = &a->await.limit;
    if (!fast_named(f, site, function) || (!taken && unlikely(f->wake_tick != 0)))
      goto undo;
  } else {
    if (unlikely(f->state != APROF_FUTURE_QUEUED) || fast_delayed(t, f) ||
        !fast_name(t, f, site, function, &node, &c, taken))
      goto undo;
    limit = &c->function.queued_limit;
  }
  if (!taken && unlikely(called == NULL))
    goto undo;
  uint64_t now = fast_clock(clock), ran = now - b->last, passed = now - f->last;
  if (backwards(ran))
    goto undo;
  if (taken && a != NULL ? backwards(passed) || !fast_rest_ends(f, a, passed, clock)
                         : !fast_within(limit, passed, clock))
    goto undo;
  t->counters->function.exec += ran;
  __atomic_store_n(&caller->wake_site, (uint32_t)token->word[0], __ATOMIC_RELAXED);
  fast_put_aside(caller, called, index_of(f), now);
  if (a == NULL)
    note_named(t, f, node);
  note(t, APROF_TRACE_ASIDE, caller, caller->await, now);
  if (a != NULL) {
    if (taken)
      fast_close_rest(t, f, a, c, now, passed, clock);
    else
      fast_rested(f, a, passed, clock);
  } else {
    fast_rename(f, node);
    fast_queued(f, c, passed, clock);
    f->wake_tick = 0; /* when it was due */
  }
  fast_goes_on(f);
  fast_runs(t, b, token, f, c, function, now, fast_opened(site, taken));
  f->caller = index_of(caller);
  f->outer = 0;
  bracket_open(t, token, f, token->word[0], caller, function);
  note(t, APROF_TRACE_RUNNING, f, f->node, now);
  finish(b);
  return;
undo:
  if (taken && f != NULL && (site->flags & APROF_TUPLE))
    run_given_back(f, token->word[0]);
  token->word[0] = 0;
  if (!taken && b->state == APROF_THREAD_RUNNING &&
      (f == NULL || called == NULL ||
       (run_may_begin(f) && (f->lease != t->lease || f->wake_tick != 0)))) {
    sought(site, token, key0, key1, function, self);
    return;
  }
  run_none(site, token, key0, key1, function, self);
}

/* -- one set per clock --------------------------------------------------------- */
#define SET(name, clock)                                                                           \
  RUN_BEGIN(APART, called_sought_##name, fast_called_begin, clock, NULL, NULL)                     \
  RUN_BEGIN(, called_begin_##name, fast_called_begin, clock, called_sought_##name,                 \
            called_stack_##name)

#include "fast-sets.h"
