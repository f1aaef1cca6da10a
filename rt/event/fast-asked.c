/* SPDX-License-Identifier: MIT */
/*
 * The fast event of a run that closes around what was asked to end meanwhile, or has made its
 * successor. See fast.c for why, and run.c for what it does.
 */
#include "fast-key.h"
#include "span.h"

/* What f, which was asked to end while it ran, or lost its key to its successor, does as its
   bracket closes: it is over, as *how then tells. False: the general event knows. */
ALWAYS bool fast_verdict(const struct aprof_future *f, int *how) {
  uint8_t ending = __atomic_load_n(&f->ending, __ATOMIC_ACQUIRE);
  if (ending == 0 || ending > ENDING_KEYLESS)
    return false;
  if (ending < ENDING_KEYLESS)
    *how = ending - 1;
  return *how <= APROF_CANCELLED;
}

/* It may be a part of a request, and have run for a worker; who waits for its bracket goes on. */
ALWAYS void fast_run_asked(struct aprof_token *token, int how, struct aprof_site *where,
                           uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_future *f = t->cur, *caller = NULL;
  struct aprof_block *b = t->block;
  int verdict = how;
  if (!begin(t, b))
    goto slow;
  if (b->state != APROF_THREAD_RUNNING || f != bracket_future(token) || f->id != token->word[0] ||
      f->lease != t->lease || (where != NULL && !site_known(where)) || bracket_polls(token) ||
      t->free_count >= FREE_ENOUGH || !fast_verdict(f, &verdict))
    goto undo;
  uint32_t index = index_of(f);
  struct aprof_counters *c = t->counters, *sliced = t->slice_counters, *a = NULL;
  if (bracket_indexed(token) && ((how >= APROF_PENDING && where != NULL) ||
                                 (caller = fast_caller(t, token, index, true, &a)) == NULL))
    goto undo;
  bool immediate = token->word[2] >> 32 == (uint32_t)t->slice_count;
  bool worker = sliced == &t->no_slices;
  uint64_t now = fast_clock(clock), wall = now - f->created_tick;
  uint64_t ran = now - b->last, length = now - b->slice_tick;
  if (backwards(ran) ||
      (caller != NULL ? !fast_restores(caller, a, immediate, now, clock)
                      : !worker && fast_slice_long(sliced, length, clock)) ||
      !fast_within(&c->function.ended_limit, wall, clock))
    goto undo;
  future_ends(b, c, verdict);
  if (!fast_claim(f, token))
    goto undo;
  c->function.exec += ran;
  b->last = now;
  f->ending = 0;
  f->polled = 0;
  if (bracket_body(token))
    spans_left(t, f, now);
  if (caller == NULL && worker)
    t->slice_count++;
  else if (caller == NULL)
    fast_slice_close(t, sliced, length, clock);
  fast_done(c, f, verdict, wall, clock);
  if (f->flags & APROF_F_KEYED)
    key_remove(f);
  note_index(t, APROF_TRACE_DONE + (unsigned)verdict, index, f->node, now);
  fast_parts(t, f, verdict, true, now);
  record_give(t, f, index);
  note_rests(t, now);
  if (caller == NULL)
    thread_rests(t, b, now);
  else
    fast_caller_runs(t, b, caller, a, immediate, true, now, clock);
  finish_member(t, b);
  return;
undo:
  unbegin(t);
slow:
  timed_run_end(token, how, where);
}

/* -- one set per clock --------------------------------------------------------- */
#define SET(name, clock)                                                                           \
  void run_asked_##name(struct aprof_token *token, int how, struct aprof_site *where) {            \
    fast_run_asked(token, how, where, clock);                                                      \
  }

#define GOVERNED(clock) /* what comes first has chosen */

SETS(SET, GOVERNED)
