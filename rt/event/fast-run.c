/* SPDX-License-Identifier: MIT */
/*
 * The fast events of runs that the loop makes, of futures that are found by a key. See fast.c for
 * why, and run.c for what they do; only the first place that a key can have in the table is looked
 * at.
 */
#include "fast-key.h"

/* -- run --------------------------------------------------------------------- */

typedef void run_begin(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                       uint64_t key1, struct aprof_site *function, const void *self);

/* The first run of a future that was made runnable: it was queued. If it has no name yet,
   `nameless` goes on, for which `nameless` is NULL; if it has called bodies, `stack`. */
ALWAYS void fast_run_queued(struct aprof_site *site, struct aprof_token *token,
                            struct aprof_future *f, struct aprof_site *function, const void *self,
                            uint32_t clock, run_found *nameless, run_found *stack) {
  struct thread *t = aprof_self;
  struct aprof_block *b = t->block;
  uint32_t node;
  struct aprof_counters *c;
  if (unlikely(f->state != APROF_FUTURE_QUEUED)) {
    if (nameless == NULL || f->state != APROF_FUTURE_ASIDE)
      goto undo;
    stack(site, token, f, function, self);
    return;
  }
  if (!fast_runnable(t, f))
    goto undo;
  if (nameless == NULL) {
    if (!fast_name(t, f, site, function, &node, &c))
      goto undo;
  } else {
    c = fast_known(f);
    if (!fast_plainly_own(c, function)) {
      nameless(site, token, f, function, self);
      return;
    }
  }
  if (fast_delayed(t, f))
    goto undo;
  uint64_t now = fast_clock(clock), rested = now - b->last, passed = now - f->last;
  if (backwards(rested) || !fast_within(&c->function.queued_limit, passed, clock))
    goto undo;
  b->other += rested;
  if (nameless == NULL) {
    fast_owns(f, function);
    note_named(t, f, node);
    fast_rename(f, node);
  }
  fast_queued(f, c, passed, clock);
  f->flags |= APROF_F_STARTED;
  f->wake_tick = 0; /* when it was due */
  fast_runs_alone(t, b, token, f, c, function, now, (uint32_t)c->function.own);
  note(t, APROF_TRACE_RUNNING, f, f->node, now);
  finish(b);
  return;
undo:
  run_undone(site, token, f, function, self);
}

/* The first sight of a future that nobody creates: born running. */
ALWAYS void fast_run_born(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                          uint64_t key1, struct aprof_site *function, const void *self,
                          uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_block *b = t->block;
  uint32_t odd = APROF_ORPHAN | APROF_POLLING | APROF_TUPLE | APROF_WORKER | APROF_ROOT;
  bool by_address = function == NULL && self != NULL;
  if ((site->flags & odd) != APROF_ORPHAN || by_address || site_may_create(site->ns) ||
      !begin(t, b))
    goto slow;
  struct aprof_site *named = function != NULL ? function : site;
  struct node_entry *e = fast_node(t, 0, named, false);
  uint32_t hash = key_hash(key0, key1), slot = t->free_list;
  struct key_segment *segment = directory_at(&key_directory, hash);
  uint64_t seen, *place = fast_vacancy(segment, hash, &seen);
  if (unlikely(e == NULL) || unlikely(place == NULL) || unlikely(slot == 0) ||
      unlikely(b->state != APROF_THREAD_OTHER))
    goto undo;
  uint64_t now = fast_clock(clock), rested = now - b->last;
  if (backwards(rested))
    goto undo;
  struct aprof_future *f = future_at(slot);
  struct aprof_counters *c = e->counters;
  b->other += rested;
  uint64_t id =
      record_take(t, f, now, APROF_FUTURE_RUNNING,
                  APROF_F_KEYED | APROF_F_STARTED | (function != NULL ? APROF_F_NAMED : 0), 0, c);
  f->node = f->outer = e->node;
  f->await = 0;
  f->ns = site->ns;
  f->key0 = key0;
  f->key1 = key1;
  f->origin = named->id;
  f->parent = 0;
  publish_fence();
  f->id = token->word[0] = id;
  fast_runs_alone(t, b, token, f, c, function, now, named->id);
  note_born(t, f, false, false, now);
  note(t, APROF_TRACE_RUNNING, f, f->node, now);
  finish_at(f, b, segment, place, seen, hash);
  return;
undo:
  unbegin(t);
slow:
  timed_run_begin(site, token, key0, key1, function, self);
}

/* Nothing runs here: the loop calls a callback, or goes on with a coroutine. If something does,
   `called` goes on inside the event; if the future does not wait, `queued` does; if it was woken,
   `woken`. */
ALWAYS void fast_run_begin(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                           uint64_t key1, struct aprof_site *function, const void *self,
                           uint32_t clock, run_begin *called, run_found *queued, run_found *woken,
                           run_begin *born) {
  struct thread *t = aprof_self;
  struct aprof_block *b = t->block;
  if (!begin(t, b)) {
    timed_run_begin(site, token, key0, key1, function, self);
    return;
  }
  if (b->state != APROF_THREAD_OTHER) {
    called(site, token, key0, key1, function, self);
    return;
  }
  struct aprof_future *f = fast_find(site, key0, key1, token);
  if (f == NULL) {
    unbegin(t);
    token->word[0] = 0;
    born(site, token, key0, key1, function, self);
    return;
  }
  if (f->state != APROF_FUTURE_WAITING) {
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
  fast_runs_alone(t, b, token, f, c, function, now, a->await.site);
  note(t, APROF_TRACE_RUNNING, f, f->node, now);
  finish(b);
  return;
undo:
  run_undone(site, token, f, function, self);
}

typedef void run_over(struct aprof_token *token, int how, struct aprof_site *where);

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
    unbegin(t);
    timed_run_end(token, how, where);
    return;
  }
  f->open--;
  t->cur = NULL;
  finish(b);
}

/* It is over; or it waits from here on, until it is run again, where `how` is PENDING for sure. If
   that is odd, as of a part of a request, `member` goes on, for which it is NULL. `displaced`: its
   key may stand anywhere, and it may have run for a worker. Where it is not f that runs, but what
   it has called, `stack` goes on. */
ALWAYS void fast_run_end(struct aprof_token *token, int how, struct aprof_site *where, bool pauses,
                         bool displaced, uint32_t clock, run_over *member, run_over *stack) {
  struct thread *t = aprof_self;
  struct aprof_future *f = (struct aprof_future *)(uintptr_t)token->word[1];
  struct aprof_block *b = t->block;
  if (!begin(t, b))
    goto slow;
  if (b->state != APROF_THREAD_RUNNING) {
    fast_run_suspended(token, how, where, t, f, stack);
    return;
  }
  if (pauses && member == NULL && unlikely(t->cur != f)) {
    stack(token, how, where);
    return;
  }
  struct aprof_counters *c = t->counters, *sliced = t->slice_counters, *a = NULL;
  uint64_t *place = NULL;
  uint32_t index = 0;
  bool worker = displaced && sliced == &t->no_slices;
  if (!fast_stops(t, token, f, pauses || (member == NULL && !displaced)))
    goto undo;
  if (pauses)
    a = fast_pause(t, f, c, where, member == NULL);
  else if ((where == NULL || site_known(where)) && likely(how == APROF_DONE))
    index = index_of(f), place = displaced ? fast_displaced(t, f) : fast_may_end(t, f, index);
  if (unlikely(a == NULL) && unlikely(place == NULL))
    goto undo;
  uint64_t now = fast_clock(clock), wall = pauses ? 0 : now - f->created_tick;
  uint64_t ran = now - b->last, length = now - b->slice_tick;
  if (backwards(ran) || (!worker && fast_slice_long(sliced, length, clock)) ||
      (!pauses && (!fast_within(&c->function.ended_limit, wall, clock) ||
                   !fast_claim_running(f, token, b, c))))
    goto undo;
  c->function.exec += ran;
  if (worker)
    t->slice_count++;
  else
    fast_slice_close(t, sliced, length, clock);
  if (!pauses)
    note_index(t, APROF_TRACE_DONE, index, f->node, now);
  if (!pauses && member == NULL && !displaced) {
    fast_done(c, f, APROF_DONE, wall, clock);
    fast_forget_key(place);
    b->last = now;
    fast_parts(t, f, APROF_DONE, true, now);
    record_give(t, f, index);
    thread_rests(t, b, now);
    note_rests(t, now);
    finish_member(t, b);
    return;
  }
  if (pauses) {
    fast_pauses(f, a, now);
    f->open--;
    note(t, APROF_TRACE_WAITING, f, a->await.node, now);
  } else if (displaced) {
    fast_over_displaced(t, c, f, index, wall, clock);
  } else {
    fast_over(t, c, f, index, place, APROF_DONE, wall, clock);
  }
  thread_rests(t, b, now);
  note_rests(t, now);
  finish(b);
  return;
undo:
  unbegin(t);
  if (pauses && member != NULL) {
    member(token, how, where);
    return;
  }
slow:
  if (!pauses && member != NULL)
    member(token, how, where);
  else
    timed_run_end(token, how, where);
}

/* -- one set per clock --------------------------------------------------------- */
#define SET(name, clock)                                                                           \
  static __attribute__((noinline)) void run_nameless_##name(                                       \
      struct aprof_site *site, struct aprof_token *token, struct aprof_future *f,                  \
      struct aprof_site *function, const void *self) {                                             \
    fast_run_queued(site, token, f, function, self, clock, NULL, NULL);                            \
  }                                                                                                \
  static __attribute__((noinline)) void run_queued_##name(                                         \
      struct aprof_site *site, struct aprof_token *token, struct aprof_future *f,                  \
      struct aprof_site *function, const void *self) {                                             \
    fast_run_queued(site, token, f, function, self, clock, run_nameless_##name, run_stack_##name); \
  }                                                                                                \
  static __attribute__((noinline)) void run_born_##name(                                           \
      struct aprof_site *site, struct aprof_token *token, uint64_t key0, uint64_t key1,            \
      struct aprof_site *function, const void *self) {                                             \
    fast_run_born(site, token, key0, key1, function, self, clock);                                 \
  }                                                                                                \
  static void run_begin_##name(struct aprof_site *site, struct aprof_token *token, uint64_t key0,  \
                               uint64_t key1, struct aprof_site *function, const void *self) {     \
    fast_run_begin(site, token, key0, key1, function, self, clock, called_begin_##name,            \
                   run_queued_##name, run_woken_##name, run_born_##name);                          \
  }                                                                                                \
  static __attribute__((noinline)) void run_displaced_##name(struct aprof_token *token, int how,   \
                                                             struct aprof_site *where) {           \
    fast_run_end(token, how, where, false, true, clock, NULL, stack_pause_##name);                 \
  }                                                                                                \
  static __attribute__((noinline)) void run_member_##name(struct aprof_token *token, int how,      \
                                                          struct aprof_site *where) {              \
    if (runs_member())                                                                             \
      fast_run_end(token, how, where, false, false, clock, NULL, stack_pause_##name);              \
    else                                                                                           \
      run_displaced_##name(token, how, where);                                                     \
  }                                                                                                \
  static __attribute__((noinline)) void run_done_##name(struct aprof_token *token, int how,        \
                                                        struct aprof_site *where) {                \
    fast_run_end(token, how, where, false, false, clock, run_member_##name, stack_pause_##name);   \
  }                                                                                                \
  static __attribute__((noinline)) void run_pause_##name(struct aprof_token *token, int how,       \
                                                         struct aprof_site *where) {               \
    fast_run_end(token, how, where, true, false, clock, NULL, stack_pause_##name);                 \
  }                                                                                                \
  static void run_end_##name(struct aprof_token *token, int how, struct aprof_site *where) {       \
    if (unlikely(bracket_indexed(token)))                                                          \
      called_end_##name(token, how, where);                                                        \
    else if (how != APROF_PENDING)                                                                 \
      run_done_##name(token, how, where);                                                          \
    else                                                                                           \
      fast_run_end(token, APROF_PENDING, where, true, false, clock, run_pause_##name,              \
                   stack_pause_##name);                                                            \
  }

#define GOVERNED(clock) APROF_GATE_run_begin(CHOOSE, clock) APROF_GATE_run_end(CHOOSE, clock)

SETS(SET, GOVERNED)

void fast_keyed_runs(struct aprof_gate *gate, uint32_t clock) {
  gate->run_begin = FOR_CLOCK(clock, run_begin);
  gate->run_end = FOR_CLOCK(clock, run_end);
}
