/* SPDX-License-Identifier: MIT */
/*
 * The fast event of a run's bracket that closes, where another future waits for that, or anything
 * about it is rare: what it runs is a part of a request, a worker's, or one of equal ones; it waits
 * elsewhere than the last time, was asked to end or armed again meanwhile, or has made its
 * successor. See fast.c for why, and run.c for what it does.
 */
#include "fast-key.h"
#include "span.h"

/* What f does as its bracket closes, given what was asked while it ran. False: the general event
   knows. */
ALWAYS bool fast_verdict(const struct aprof_future *f, int *how) {
  uint8_t ending = __atomic_load_n(&f->ending, __ATOMIC_ACQUIRE);
  if (likely(ending == 0))
    return *how <= APROF_PENDING;
  if (ending == ENDING_KEYED || (ending == ENDING_KEYLESS && *how >= APROF_PENDING))
    return false;
  if (ending == ENDING_REARMED)
    *how = APROF_PENDING;
  else if (ending != ENDING_KEYLESS)
    *how = ending - 1;
  return *how <= APROF_PENDING;
}

/* f, which waits, was armed again while it ran. Woken, it need not wait for that. */
ALWAYS void fast_due_again(struct aprof_future *f) {
  uint64_t due = f->polled;
  f->ending = 0;
  f->polled = 0;
  if (due != 0 && f->wake_tick == 0)
    future_wakes_at(f, due);
}

/* Inside the event. It ends, or waits until it is run again; what was asked may have it the other
   way: `other` goes on then. `called`: another future waits for it. Where it is not its future that
   ran, but what that has called, `stack` goes on. */
ALWAYS void fast_run_closes(struct aprof_token *token, int how, struct aprof_site *where,
                            uint32_t clock, bool ends, bool called, run_over *other,
                            run_over *stack) {
  struct thread *t = aprof_self;
  struct aprof_future *f = t->cur, *caller = NULL;
  struct aprof_block *b = block_here();
  int verdict = how;
  if (b->state != APROF_THREAD_RUNNING ||
      f != (called ? future_at(bracket_indexes(token))
                   : (struct aprof_future *)(uintptr_t)token->word[1])) {
    stack(token, how, where);
    return;
  }
  if (f->id != token->word[0] || f->lease != t->lease || (where != NULL && !site_known(where)) ||
      (called && bracket_polls(token)) || !fast_verdict(f, &verdict))
    goto undo;
  if (unlikely(ends != (verdict != APROF_PENDING))) {
    other(token, how, where);
    return;
  }
  struct aprof_counters *c = t->counters, *sliced = called ? NULL : t->slice_counters;
  struct aprof_counters *at = NULL, *a = NULL;
  if (called && (caller = fast_caller(t, token, bracket_indexes(token), &at)) == NULL)
    goto undo;
  if (ends ? t->free_count >= FREE_ENOUGH : (a = fast_pause(t, f, c, where, true, !called)) == NULL)
    goto undo;
  bool immediate = token->word[2] >> 32 == (uint32_t)t->slice_count;
  bool worker = !called && sliced == &t->no_slices;
  uint64_t now = fast_clock(clock), wall = now - f->created_tick;
  uint64_t ran = now - b->last, length = now - b->slice_tick;
  if (backwards(ran) ||
      (called ? !fast_restores(caller, at, immediate, now, clock)
              : !worker && fast_slice_long(sliced, length, clock)) ||
      (ends && (!fast_within(&c->function.ended_limit, wall, clock) ||
                !fast_claim_running(f, token, b, c, verdict))))
    goto undo;
  c->function.exec += ran;
  b->last = now;
  if (worker)
    t->slice_count++;
  else if (!called)
    fast_slice_close(t, sliced, length, clock);
  if (ends) {
    if (unlikely(fast_in_tier(f) != 0) && bracket_body(token))
      spans_left(t, f, now);
    fast_ends(t, f, index_of(f), c, verdict, true, wall, now, clock);
  } else {
    fast_pauses(f, a, now);
    note(t, APROF_TRACE_WAITING, f, a->await.node, now);
    if (f->ending != 0)
      fast_due_again(f);
    if ((f->flags & APROF_F_MEMBER) && a->await.apart != 0 && node_in_background(a->await.node))
      member_rests(t, f, now);
    record_closes(f);
  }
  note_rests(t, now);
  if (called) {
    fast_polled(t, caller, how, where);
    fast_caller_runs(t, b, caller, at, immediate, true, now, clock);
  } else {
    thread_rests(t, b, now);
  }
  finish_member(t, b);
  return;
undo:
  run_end_undone(t, token, how, where);
}

/* -- one set per clock --------------------------------------------------------- */
#define SET(name, clock)                                                                           \
  void called_end_##name(struct aprof_token *token, int how, struct aprof_site *where) {           \
    if (!begin(aprof_self, block_here()))                                                          \
      GENERAL(run_end)(token, how, where);                                                         \
    else if (how != APROF_PENDING)                                                                 \
      called_ends_##name(token, how, where);                                                       \
    else                                                                                           \
      called_pauses_##name(token, how, where);                                                     \
  }                                                                                                \
  RUN_OVER(, run_ends_##name, fast_run_closes, clock, true, false, run_pauses_##name,              \
           stack_pause_##name)                                                                     \
  RUN_OVER(, run_pauses_##name, fast_run_closes, clock, false, false, run_ends_##name,             \
           stack_pause_##name)                                                                     \
  RUN_OVER(, called_ends_##name, fast_run_closes, clock, true, true, called_pauses_##name,         \
           stack_end_##name)                                                                       \
  RUN_OVER(, called_pauses_##name, fast_run_closes, clock, false, true, called_ends_##name,        \
           stack_end_##name)

#include "fast-sets.h"
