/* SPDX-License-Identifier: MIT */
/*
 * The fast events of runs that the loop makes, of futures that are found by a key. See fast.c for
 * why, and run.c for what they do. The first place that a key can have in the table is looked at;
 * what that does not tell goes on in run_sought.
 */
#include "fast-key.h"

/* -- run --------------------------------------------------------------------- */

/* Inside the event: the first sight of a future that nobody creates, which is born running. Where
   it is none, `sought` goes on. */
ALWAYS void fast_run_born(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                          uint64_t key1, struct aprof_site *function, const void *self,
                          uint32_t clock, run_begin *sought) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  uint32_t odd = APROF_ORPHAN | APROF_POLLING | APROF_TUPLE | APROF_WORKER | APROF_ROOT;
  bool by_address = function == NULL && self != NULL;
  if ((site->flags & odd) != APROF_ORPHAN || by_address || site_may_create(site->ns))
    goto undo;
  struct aprof_site *named = function != NULL ? function : site;
  struct node_entry *e = fast_node(t, 0, named, false);
  uint32_t hash = key_hash(key0, key1), slot = t->free_list;
  struct key_segment *segment = directory_at(&key_directory, hash);
  uint64_t seen, *place = fast_vacancy(segment, hash, &seen);
  if (unlikely(e == NULL) || unlikely(place == NULL) || unlikely(slot == 0))
    goto undo;
  uint64_t now = fast_clock(clock), rested = now - b->last;
  if (backwards(rested))
    goto undo;
  struct aprof_future *f = future_at(slot);
  f->polled = 0; /* of an adopted one its creator's flags may be left there */
  f->key1 = key1;
  fast_begins(t, b, token, f, e, APROF_F_KEYED | (function != NULL ? APROF_F_NAMED : 0), site->ns,
              key0, named->id, (uintptr_t)function, rested, now);
  finish_at(f, b, segment, place, seen, hash);
  return;
undo:
  sought(site, token, key0, key1, function, self);
}

/* Inside the event: a job stands at its key's first place, and this thread of a pool takes it.
   NULL: it is a matter of run_sought. */
ALWAYS struct aprof_future *fast_job(struct thread *t, const struct aprof_site *site,
                                     struct aprof_token *token, uint64_t key0, uint64_t key1) {
  if ((site->flags & (APROF_WORKER | APROF_POLLING | APROF_TUPLE | APROF_OWN)) != APROF_WORKER)
    return NULL;
  struct aprof_future *f = fast_first(site, key0, key1, token);
  return f != NULL && token_current(t, token->word[0]) && run_may_begin(f) &&
                 run_takes(t, f, token->word[0], false)
             ? f
             : NULL;
}

/* Inside the event. Nothing runs here, and the key's first place does not tell: it may be one of
   equal keys, or stand behind others, or the run is a worker's. */
ALWAYS void fast_run_sought(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                            uint64_t key1, struct aprof_site *function, const void *self,
                            run_found *taken) {
  struct thread *t = aprof_self;
  fast_nears(t, site, key0, key1);
  struct aprof_future *f = fast_job(t, site, token, key0, key1);
  if (unlikely(f == NULL)) {
    token->word[0] = 0;
    f = run_sought(t, site, token, key0, key1, function);
  }
  if (likely(f != NULL))
    taken(site, token, f, function, self);
  else
    run_none(site, token, key0, key1, function, self);
}

/* Nothing runs here: the loop calls a callback, or goes on with a coroutine. If something does,
   `called` goes on inside the event; if the future does not wait, `queued` does; if it was woken,
   `woken`; if another thread had it last, `moved`. */
ALWAYS void fast_run_begin(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                           uint64_t key1, struct aprof_site *function, const void *self,
                           uint32_t clock, run_begin *called, run_found *queued, run_found *woken,
                           run_found *moved, run_begin *born) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  if (!begin(t, b)) {
    GENERAL(run_begin)(site, token, key0, key1, function, self);
    return;
  }
  if (b->state != APROF_THREAD_OTHER) {
    called(site, token, key0, key1, function, self);
    return;
  }
  struct aprof_future *f = fast_find(site, key0, key1, token);
  if (f == NULL) {
    token->word[0] = 0;
    born(site, token, key0, key1, function, self);
    return;
  }
  if (__builtin_expect_with_probability(f->state != APROF_FUTURE_WAITING, 0, 0.6)) {
    queued(site, token, f, function, self);
    return;
  }
  struct aprof_counters *a = fast_known(f);
  if (unlikely(f->wake_tick != 0) || !fast_plainly_own(a, function)) {
    woken(site, token, f, function, self);
    return;
  }
  if (!fast_runnable(t, f))
    goto undo;
  struct aprof_counters *c = (struct aprof_counters *)(uintptr_t)a->await.function;
  uint64_t now = fast_clock(clock), rested = now - b->last, passed = now - f->last;
  if (backwards(rested) || !fast_within(&a->await.limit, passed, clock))
    goto undo;
  b->other += rested;
  fast_rested(f, a, passed, clock);
  fast_goes_on(f);
  fast_run_begins(t, site, token, f, c, function, now, a->await.site, false);
  finish(b);
  return;
undo:
  moved(site, token, f, function, self);
}

/* What ran in the bracket has suspended itself: nothing to close but the bracket. Where f has
   called it, `stack` goes on. */
ALWAYS void fast_run_suspended(struct aprof_token *token, int how, struct aprof_site *where,
                               struct thread *t, struct aprof_future *f, run_over *stack) {
  struct aprof_block *b = t->block;
  if (unlikely(!in_profile((uintptr_t)f)) || unlikely(f->state != APROF_FUTURE_WAITING)) {
    stack(token, how, where);
    return;
  }
  if (unlikely(f->id != token->word[0]) || unlikely(f->lease != t->lease) ||
      unlikely(f->ending != 0)) {
    run_end_undone(t, token, how, where);
    return;
  }
  record_closes(f);
  t->cur = NULL;
  finish(b);
}

/* It is over; or it waits from here on, until it is run again, where `how` is PENDING for sure.
   What is rare goes on in `closes`, inside the event; where it is not f that ran, but what it has
   called, `stack`. */
ALWAYS void fast_run_end(struct aprof_token *token, int how, struct aprof_site *where, bool pauses,
                         uint32_t clock, run_over *closes, run_over *stack) {
  struct thread *t = aprof_self;
  struct aprof_future *f = (struct aprof_future *)(uintptr_t)token->word[1];
  struct aprof_block *b = block_here();
  if (!begin(t, b))
    goto slow;
  bool suspended = b->state != APROF_THREAD_RUNNING;
  if (pauses ? suspended : unlikely(suspended)) {
    fast_run_suspended(token, how, where, t, f, stack);
    return;
  }
  struct aprof_counters *c = t->counters, *sliced = t->slice_counters, *a = NULL;
  uint64_t *place = NULL;
  uint32_t index = 0;
  if (!fast_stops(t, token, f, pauses))
    goto undo;
  if (pauses)
    a = fast_pause(t, f, c, where, false, false);
  else if ((where == NULL || site_known(where)) && likely(how == APROF_DONE))
    index = index_of(f), place = fast_may_end(t, f, index);
  if (unlikely(a == NULL) && unlikely(place == NULL))
    goto undo;
  uint64_t now = fast_clock(clock), wall = pauses ? 0 : now - f->created_tick;
  uint64_t ran = now - b->last, length = now - b->slice_tick;
  if (backwards(ran) || fast_slice_long(sliced, length, clock) ||
      (!pauses && (!fast_within(&c->function.ended_limit, wall, clock) ||
                   !fast_claim_running(f, token, b, c, APROF_DONE))))
    goto undo;
  c->function.exec += ran;
  fast_slice_close(t, sliced, length, clock);
  if (pauses) {
    fast_pauses(f, a, now);
    note(t, APROF_TRACE_WAITING, f, a->await.node, now);
    record_closes(f);
  } else {
    note_index(t, APROF_TRACE_DONE, index, f->node, now);
    fast_over(t, c, f, index, place, APROF_DONE, wall, clock);
  }
  finish_resting(t, b, now);
  return;
undo:
  closes(token, how, where);
  return;
slow:
  GENERAL(run_end)(token, how, where);
}

/* -- one set per clock --------------------------------------------------------- */
#define SET(name, clock)                                                                           \
  RUN_FOUND(APART, run_nameless_##name, fast_run_queued, clock, false, NULL, NULL,                 \
            run_moved_##name)                                                                      \
  RUN_FOUND(APART, run_queued_##name, fast_run_queued, clock, false, run_nameless_##name,          \
            run_stack_##name, run_moved_##name)                                                    \
  RUN_BEGIN(APART, run_sought_##name, fast_run_sought, run_taken_##name)                           \
  RUN_BEGIN(APART, run_born_##name, fast_run_born, clock, run_sought_##name)                       \
  RUN_BEGIN(static, run_begin_##name, fast_run_begin, clock, called_begin_##name,                  \
            run_queued_##name, run_woken_##name, run_moved_##name, run_born_##name)                \
  RUN_OVER(APART, run_done_##name, fast_run_end, false, clock, run_ends_##name,                    \
           stack_pause_##name)                                                                     \
  static void run_end_##name(struct aprof_token *token, int how, struct aprof_site *where) {       \
    if (unlikely(bracket_indexed(token)))                                                          \
      called_end_##name(token, how, where);                                                        \
    else if (how != APROF_PENDING)                                                                 \
      run_done_##name(token, how, where);                                                          \
    else                                                                                           \
      fast_run_end(token, APROF_PENDING, where, true, clock, run_pauses_##name,                    \
                   stack_pause_##name);                                                            \
  }

#define GOVERNED(clock) APROF_GATE_run_begin(CHOOSE, clock) APROF_GATE_run_end(CHOOSE, clock)

#include "fast-sets.h"

void fast_keyed_runs(struct aprof_gate *gate, uint32_t clock) {
  gate->run_begin = FOR_CLOCK(clock, run_begin);
  gate->run_end = FOR_CLOCK(clock, run_end);
}
