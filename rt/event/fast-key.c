/* SPDX-License-Identifier: MIT */
/*
 * The fast events of futures that are found by a key: created by the loop or by a
 * running future, run by the loop. See fast.c for why, and create.c and run.c for what
 * they do; only the first place that a key can have in the table is looked at.
 */
#include "fast-key.h"

#include "birth.h"

/* The first place of a key that no future has: free, with nothing behind it. *seen: its word. */
ALWAYS uint64_t *fast_vacancy(struct key_segment *segment, uint32_t hash, uint64_t *seen) {
  if (unlikely(__atomic_load_n(&segment->older, __ATOMIC_ACQUIRE) != NULL))
    return NULL;
  uint64_t *place = &segment->word[hash % KEY_WORDS], word = *seen = relaxed(place);
  if (word == 0)
    return likely(__atomic_load_n(&segment->used, __ATOMIC_RELAXED) < KEY_ENOUGH) ? place : NULL;
  bool last = relaxed(&segment->word[(hash + 1) % KEY_WORDS]) == 0;
  return likely((uint32_t)word == KEY_TOMB) && likely(last) ? place : NULL;
}

static SLOW void finish_inserting(struct aprof_future *f, struct aprof_block *b) {
  key_insert(f);
  finish(b);
}

/* Ends an event by putting f at this place, where others may find it; or at any place, if another
   thread has taken this one or is replacing the segment. */
ALWAYS void finish_at(struct aprof_future *f, struct aprof_block *b, struct key_segment *segment,
                      uint64_t *place, uint64_t seen, uint32_t hash) {
  uint64_t word = (uint64_t)hash << 32 | index_of(f);
  if (unlikely(!__atomic_compare_exchange_n(place, &seen, word, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_RELAXED))) {
    finish_inserting(f, b);
    return;
  }
  if (seen == 0)
    __atomic_fetch_add(&segment->used, 1, __ATOMIC_RELAXED);
  if (unlikely(__atomic_load_n(&segment->replaced, __ATOMIC_SEQ_CST)))
    finish_inserting(f, b);
  else
    finish(b);
}

/* -- run --------------------------------------------------------------------- */

typedef void run_begin(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                       uint64_t key1, struct aprof_site *function, const void *self);

/* The first run of a future that was made runnable: it was queued. If it has no name yet,
   `nameless` goes on, for which `nameless` is NULL. */
ALWAYS void fast_run_queued(struct aprof_site *site, struct aprof_token *token,
                            struct aprof_future *f, struct aprof_site *function, const void *self,
                            uint32_t clock, run_found *nameless) {
  struct thread *t = aprof_self;
  struct aprof_block *b = t->block;
  uint32_t node;
  struct aprof_counters *c;
  if (!fast_runnable(t, b, f) || unlikely(f->state != APROF_FUTURE_QUEUED))
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
  if (!has_histogram(&c->function.queued_buckets) || fast_delayed(t, f))
    goto undo;
  uint64_t now = fast_clock(clock), rested = now - b->last, passed = now - f->last;
  if (either_backwards(rested, passed))
    goto undo;
  b->other += rested;
  if (nameless == NULL) {
    fast_owns(f, function);
    fast_rename(f, node);
  }
  fast_queued(f, c, passed, clock);
  f->flags |= APROF_F_STARTED;
  f->wake_tick = 0; /* when it was due */
  fast_runs_alone(t, b, token, f, c, function, now, (uint32_t)c->function.own);
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
  uint32_t odd = APROF_ORPHAN | APROF_POLLING | APROF_TUPLE | APROF_WORKER;
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
  f->create_site = named->id;
  f->parent = 0;
  f->parent_serial = 0;
  publish_fence();
  f->id = token->word[0] = id;
  fast_runs_alone(t, b, token, f, c, function, now, named->id);
  finish_at(f, b, segment, place, seen, hash);
  return;
undo:
  unbegin(t);
slow:
  timed_run_begin(site, token, key0, key1, function, self);
}

/* Nothing runs here: the loop calls a callback, or goes on with a coroutine. If the future does not
   wait, `queued` goes on inside the event; if it was woken, `woken` does. */
ALWAYS void fast_run_begin(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                           uint64_t key1, struct aprof_site *function, const void *self,
                           uint32_t clock, run_begin *called, run_found *queued, run_found *woken,
                           run_begin *born) {
  struct thread *t = aprof_self;
  struct aprof_block *b = t->block;
  if (t->cur != NULL) {
    called(site, token, key0, key1, function, self);
    return;
  }
  if (!begin(t, b)) {
    timed_run_begin(site, token, key0, key1, function, self);
    return;
  }
  struct aprof_future *f = fast_find(site, key0, key1, token);
  if (f == NULL) {
    unbegin(t);
    token->word[0] = 0;
    born(site, token, key0, key1, function, self);
    return;
  }
  if (unlikely(f->state != APROF_FUTURE_WAITING)) {
    queued(site, token, f, function, self);
    return;
  }
  struct aprof_counters *a = fast_known(f);
  if (unlikely(f->wake_tick != 0) || !fast_plainly_own(a, function)) {
    woken(site, token, f, function, self);
    return;
  }
  if (!fast_runnable(t, b, f))
    goto undo;
  struct aprof_counters *c = (struct aprof_counters *)(uintptr_t)a->await.function;
  if (!has_histogram(&a->await.buckets))
    goto undo;
  uint64_t now = fast_clock(clock), rested = now - b->last, passed = now - f->last;
  if (either_backwards(rested, passed))
    goto undo;
  b->other += rested;
  fast_rested(f, a, passed, clock);
  fast_goes_on(f);
  fast_runs_alone(t, b, token, f, c, function, now, a->await.site);
  finish(b);
  return;
undo:
  run_undone(site, token, f, function, self);
}

/* What ran in the bracket has suspended itself: nothing to close but the bracket. */
ALWAYS void fast_run_suspended(struct aprof_token *token, int how, struct aprof_site *where,
                               struct thread *t, struct aprof_future *f) {
  struct aprof_block *b = t->block;
  if (unlikely(!in_profile((uintptr_t)f)) || unlikely(f->id != token->word[0]) ||
      unlikely(f->lease != t->lease) || unlikely(f->ending != 0) ||
      unlikely(f->state != APROF_FUTURE_WAITING)) {
    unbegin(t);
    timed_run_end(token, how, where);
    return;
  }
  f->open--;
  t->suspended = NULL;
  finish(b);
}

/* It waits from here on, until it is run again. */
ALWAYS void fast_run_pause(struct aprof_token *token, struct aprof_site *where, uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_future *f = (struct aprof_future *)(uintptr_t)token->word[1];
  struct aprof_block *b = t->block;
  if (!begin(t, b))
    goto slow;
  if (t->cur == NULL) {
    fast_run_suspended(token, APROF_PENDING, where, t, f);
    return;
  }
  struct aprof_counters *c = t->counters, *sliced = t->slice_counters;
  if (!fast_stops(t, token, f) || !has_histogram(&sliced->function.slice_buckets))
    goto undo;
  struct aprof_counters *a = fast_pause(t, f, c, where);
  if (unlikely(a == NULL))
    goto undo;
  uint64_t now = fast_clock(clock), ran = now - b->last, length = now - b->slice_tick;
  if (backwards(ran) || fast_slice_long(sliced, length, clock))
    goto undo;
  c->function.exec += ran;
  fast_slice_close(t, sliced, length, clock);
  fast_pauses(f, a, now);
  thread_rests(t, b, now);
  finish(b);
  return;
undo:
  unbegin(t);
slow:
  timed_run_end(token, APROF_PENDING, where);
}

/* It is over. */
ALWAYS void fast_run_done(struct aprof_token *token, int how, struct aprof_site *where,
                          uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_future *f = (struct aprof_future *)(uintptr_t)token->word[1];
  struct aprof_block *b = t->block;
  if (!begin(t, b))
    goto slow;
  if (t->cur == NULL) {
    fast_run_suspended(token, how, where, t, f);
    return;
  }
  struct aprof_counters *c = t->counters, *sliced = t->slice_counters;
  uint64_t *place;
  uint32_t index;
  if (!fast_stops(t, token, f) || (where != NULL && !site_known(where)) ||
      unlikely(how != APROF_DONE) || !has_histogram(&sliced->function.slice_buckets) ||
      unlikely((place = fast_may_end(t, f, index = index_of(f), c)) == NULL))
    goto undo;
  uint64_t now = fast_clock(clock), ran = now - b->last, length = now - b->slice_tick;
  if (backwards(ran) || fast_slice_long(sliced, length, clock) ||
      !fast_claim_running(f, token, b, c))
    goto undo;
  c->function.exec += ran;
  fast_slice_close(t, sliced, length, clock);
  fast_over(t, c, f, index, place, APROF_DONE, now, clock);
  thread_rests(t, b, now);
  finish(b);
  return;
undo:
  unbegin(t);
slow:
  timed_run_end(token, how, where);
}

/* -- create ------------------------------------------------------------------ */

/* Waits for what was asked for; else it is queued. */
ALWAYS bool fast_created_waiting(uint32_t flags) {
  return (flags & (APROF_ONCE | APROF_MULTI)) && !(flags & APROF_READY);
}

ALWAYS void fast_create_begin(struct aprof_site *site, struct aprof_token *token,
                              struct aprof_site *function, const void *fn, uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_block *b = t->block;
  if (!begin(t, b))
    goto slow;
  struct aprof_future *creator = t->cur;
  if (unlikely(t->tentative != NULL) || unlikely(t->free_list == 0) ||
      unlikely(site->flags & (APROF_BACKGROUND | APROF_TUPLE | APROF_KEYLESS)))
    goto undo;
  uint32_t above = 0;
  if (creator != NULL) {
    if (!(site->flags & APROF_ROOT))
      above = fast_above(t, creator->node, clock);
    if (unlikely(creator->await != 0))
      goto undo;
  } else if (unlikely(events_helper.at != 0)) {
    goto undo;
  }
  struct aprof_site *made = function != NULL ? function : fn != NULL ? address_as_site(fn) : site;
  struct node_entry *e = fast_node(t, above, made, false);
  if (unlikely(e == NULL))
    goto undo;
  if (unlikely(e->callee != site)) {
    struct node_entry *waits = fast_node(t, e->node, site, true);
    if (unlikely(waits == NULL) || unlikely(waits == e) || waits->counters->await.function == 0)
      goto undo;
    e->callee = site;
    e->callee_node = waits->node;
    e->callee_counters = fast_created_waiting(site->flags) ? waits->counters : e->counters;
  }
  uint64_t now = fast_clock(clock);
  if (backwards(now - b->last))
    goto undo;
  struct aprof_future *f = future_at(t->free_list);
  uint64_t id = record_take(t, f, now, APROF_FUTURE_TENTATIVE,
                         made == site ? APROF_F_NAMELESS : APROF_F_NAMED, 0, e->callee_counters);
  f->node = f->outer = e->node;
  f->await = e->callee_node;
  f->ns = site->ns;
  f->create_site = site->id;
  f->caller = 0;
  f->polled = site->flags; /* until its bracket closes */
  f->key0 = 0;
  f->parent = creator != NULL ? index_of(creator) : 0;
  f->parent_serial = creator != NULL ? (uint32_t)creator->id : 0;
  publish_fence();
  f->id = id;
  bracket_open(t, token, f, id, creator, NULL);
  t->tentative = f;
  t->tentative_id = id;
  finish(b);
  return;
undo:
  unbegin(t);
slow:
  timed_create_begin(site, token, function, fn);
}

/* No body ran inside the bracket, and no future has that key: from here on the future waits, or is
   queued, and can be found, while its bracket may still be open. False: nothing has changed. */
ALWAYS bool fast_publish(struct thread *t, const struct aprof_token *token, uint64_t key0,
                         uint64_t key1, bool still_open) {
  struct aprof_block *b = t->block;
  uint64_t id = token->word[0];
  struct aprof_future *f = t->tentative;
  if (unlikely(t->tentative_id != id) || unlikely(f->id != id) || unlikely(f->lease != t->lease) ||
      unlikely(f->state != APROF_FUTURE_TENTATIVE) || unlikely(f->key0 != 0))
    return false;
  uint32_t hash = key_hash(key0, key1);
  struct key_segment *segment = directory_at(&key_directory, hash);
  uint64_t seen, *place = fast_vacancy(segment, hash, &seen);
  if (unlikely(place == NULL) || unlikely(f->polled & (APROF_TUPLE | APROF_KEYLESS)))
    return false;
  uint32_t flags = (uint32_t)f->polled;
  /* First: while it is tentative, key0 is the bracket around; a jump may leave this event. */
  t->tentative = NULL;
  t->tentative_id = 0;
  if (still_open) {
    t->published = f;
    t->published_id = id;
  }
  publish_fence();
  f->polled = 0;
  f->key0 = key0;
  f->key1 = key1;
  uint8_t now = (uint8_t)(f->flags | APROF_F_KEYED | APROF_F_WAITED);
  if (fast_created_waiting(flags)) {
    f->flags = now | APROF_F_IMPLICIT;
    f->state = APROF_FUTURE_WAITING;
  } else {
    f->flags = now;
    f->await = 0;
    f->state = APROF_FUTURE_QUEUED;
  }
  finish_at(f, b, segment, place, seen, hash);
  return true;
}

/* The key was known before the call, and no future that is aside waits for this end. */
ALWAYS bool fast_published(struct thread *t, const struct aprof_token *token) {
  struct aprof_future *f = t->published;
  uint32_t below = bracket_indexed(token) ? (uint32_t)(token->word[2] & BRACKET_INDEX) : 0;
  if (unlikely(f == NULL) || unlikely(f->id != token->word[0]) ||
      unlikely(!(f->flags & APROF_F_KEYED)) || unlikely(t->tentative == f) ||
      unlikely(below != 0 && t->cur != future_at(below)))
    return false;
  t->published = NULL;
  finish(t->block);
  return true;
}

static void create_end_any(struct aprof_token *token, uint64_t key0, uint64_t key1, int ok) {
  struct thread *t = aprof_self;
  if (likely(ok) && begin(t, t->block)) {
    if (fast_publish(t, token, key0, key1, false) || fast_published(t, token))
      return;
    unbegin(t);
  }
  timed_create_end(token, key0, key1, ok);
}

static void create_key_any(struct aprof_token *token, uint64_t key0, uint64_t key1) {
  struct thread *t = aprof_self;
  if (begin(t, t->block)) {
    if (fast_publish(t, token, key0, key1, true))
      return;
    unbegin(t);
  }
  timed_create_key(token, key0, key1);
}

/* -- one set per clock --------------------------------------------------------- */
#define SET(name, clock)                                                                           \
  static __attribute__((noinline)) void run_nameless_##name(                                       \
      struct aprof_site *site, struct aprof_token *token, struct aprof_future *f,                  \
      struct aprof_site *function, const void *self) {                                             \
    fast_run_queued(site, token, f, function, self, clock, NULL);                                  \
  }                                                                                                \
  static __attribute__((noinline)) void run_queued_##name(                                         \
      struct aprof_site *site, struct aprof_token *token, struct aprof_future *f,                  \
      struct aprof_site *function, const void *self) {                                             \
    fast_run_queued(site, token, f, function, self, clock, run_nameless_##name);                   \
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
  static __attribute__((noinline)) void run_done_##name(struct aprof_token *token, int how,        \
                                                        struct aprof_site *where) {                \
    fast_run_done(token, how, where, clock);                                                       \
  }                                                                                                \
  static void run_end_##name(struct aprof_token *token, int how, struct aprof_site *where) {       \
    if (unlikely(bracket_indexed(token)))                                                          \
      called_end_##name(token, how, where);                                                        \
    else if (how != APROF_PENDING)                                                                 \
      run_done_##name(token, how, where);                                                          \
    else                                                                                           \
      fast_run_pause(token, where, clock);                                                         \
  }                                                                                                \
  static void create_begin_##name(struct aprof_site *site, struct aprof_token *token,              \
                                  struct aprof_site *function, const void *fn) {                   \
    fast_create_begin(site, token, function, fn, clock);                                           \
  }

#define GOVERNED(clock)                                                                            \
  APROF_GATE_create_begin(CHOOSE, clock)                                                           \
  APROF_GATE_run_begin(CHOOSE, clock)                                                              \
  APROF_GATE_run_end(CHOOSE, clock)

SETS(SET, GOVERNED)

void fast_brackets(struct aprof_gate *gate, uint32_t clock) {
  gate->create_begin = FOR_CLOCK(clock, create_begin);
  gate->create_key = create_key_any;
  gate->create_end = create_end_any;
  gate->run_begin = FOR_CLOCK(clock, run_begin);
  gate->run_end = FOR_CLOCK(clock, run_end);
}
