/*
 * The fast events of futures that are found by a key: created by the loop or by a
 * running future, run by the loop. See fast.c for why, and brackets.c for what they
 * do; only the first place that a key can have in the table is looked at.
 */
#include "fast.h"

/* The future at its first place in the newest table, if it is that one. */
ALWAYS struct aprof_future *fast_find(const struct thread *t, uint64_t key0, uint64_t key1,
                                      uint32_t ns) {
  struct key_table *table = __atomic_load_n(&key_head, __ATOMIC_ACQUIRE);
  if (unlikely(table == NULL))
    return NULL;
  uint64_t hash = key_hash(key0, key1);
  uint64_t word = __atomic_load_n(&table->word[hash & table->mask], __ATOMIC_ACQUIRE);
  if (unlikely((word ^ hash) >> 32 != 0) || unlikely((uint32_t)word <= KEY_TOMB))
    return NULL;
  struct aprof_future *f = future_at((uint32_t)word);
  return likely(f->key0 == key0) && likely(f->key1 == key1) && likely(f->ns == ns) &&
                 likely(f->flags & APROF_F_KEYED) && likely(token_current(t, f->id))
             ? f
             : NULL;
}

/* The first place of f's key, where f is found there and in no older table. */
ALWAYS uint64_t *fast_place(const struct aprof_future *f, uint32_t index) {
  struct key_table *table = __atomic_load_n(&key_head, __ATOMIC_ACQUIRE);
  if (unlikely(!(f->flags & APROF_F_KEYED)) || unlikely(table->older != NULL))
    return NULL;
  uint64_t hash = key_hash(f->key0, f->key1);
  uint64_t *place = &table->word[hash & table->mask];
  return likely(*place == ((hash >> 32) << 32 | index)) ? place : NULL;
}

/* The first place of a key that no future has: free, and nothing lies behind it. */
ALWAYS uint64_t *fast_vacancy(struct key_table *table, uint64_t hash) {
  if (unlikely(table == NULL) || unlikely(table->older != NULL))
    return NULL;
  uint64_t *place = &table->word[hash & table->mask], word = *place;
  if (word == 0)
    return likely(table->used <= table->mask / 2) ? place : NULL;
  bool last = table->word[(hash + 1) & table->mask] == 0;
  return likely((uint32_t)word == KEY_TOMB) && likely(last) ? place : NULL;
}

/* -- run --------------------------------------------------------------------- */

/* Has the thread's entry for f's node know the body of its runs, and its counters. */
static bool learn(struct thread *t, uint64_t key0, uint64_t key1, uint32_t ns,
                  struct aprof_site *function) {
  struct aprof_future *f = fast_find(t, key0, key1, ns);
  if (f == NULL)
    return false;
  struct run_entry *e = run_entry_for(t, f->node);
  struct aprof_counters *c = fast_counters(t, f->node);
  if (c == NULL || (e->node == f->node && e->function == function))
    return false;
  if (function != NULL && (function->id != node_site(f->node) || function->instance != rt.instance))
    return false;
  *e = (struct run_entry){function, c, NULL, f->node};
  return true;
}

static __attribute__((noinline)) bool learn_run(uint64_t key0, uint64_t key1, uint32_t ns,
                                                struct aprof_site *function) {
  struct thread *t = aprof_self;
  if (!begin(t))
    return false;
  bool learnt = learn(t, key0, key1, ns, function);
  unbegin(t);
  return learnt;
}

/* Where f waits, if this thread has counted there before. */
ALWAYS struct aprof_counters *fast_waits(struct thread *t, const struct aprof_future *f,
                                         struct run_entry *e) {
  struct aprof_counters *a = e->await;
  if (likely(a != NULL) && likely(a->await.node == f->await))
    return a;
  a = fast_counters(t, f->await);
  if (a == NULL || a->await.function != (uintptr_t)e->counters || a->await.node != f->await)
    return NULL;
  e->await = a;
  return a;
}

static SLOW void run_begin_again(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                                 uint64_t key1, struct aprof_site *function, const void *self);

/* Nothing runs here: the loop calls a callback, or goes on with a coroutine. */
ALWAYS void fast_run_begin(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                           uint64_t key1, struct aprof_site *function, const void *self,
                           uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_future *f;
  struct aprof_block *b = begin(t);
  if (unlikely(b == NULL))
    goto slow;
  if ((f = fast_find(t, key0, key1, site->ns)) == NULL)
    goto undo;
  struct run_entry *e = run_entry_for(t, f->node);
  if (unlikely(e->node != f->node) || unlikely(e->function != function))
    goto undo;
  struct aprof_counters *c = e->counters, *a = NULL, *sliced = fast_outer(t, f, c);
  if (unlikely(b->state != APROF_THREAD_OTHER) || unlikely(f->callee != 0) ||
      unlikely(f->block != t->index) ||
      unlikely(site->flags & (APROF_POLLING | APROF_TUPLE | APROF_WORKER)) ||
      unlikely(sliced == NULL))
    goto undo;
  bool waits = likely(f->state == APROF_FUTURE_WAITING);
  if (waits) {
    a = fast_waits(t, f, e);
    if (unlikely(a == NULL) || unlikely(f->wake_tick != 0) || !has_histogram(a->await.histogram))
      goto undo;
  } else if (unlikely(f->state != APROF_FUTURE_QUEUED) ||
             !has_histogram(c->function.queued_histogram)) {
    goto undo;
  }
  uint64_t now = fast_clock(clock), rested = now - b->last, passed = now - f->last;
  if (backwards(rested) || backwards(passed))
    goto undo;
  b->other += rested;
  b->state = APROF_THREAD_RUNNING;
  b->last = now;
  token->word[0] = f->id;
  token->word[1] = index_of(f);
  token->word[2] = t->slice_count << 32 | (function != NULL ? BRACKET_BODY : 0);
  if (likely(f->flags & APROF_F_IMPLICIT))
    f->await = 0;
  f->flags = (uint8_t)((f->flags & ~APROF_F_IMPLICIT) | APROF_F_STARTED);
  f->state = APROF_FUTURE_RUNNING;
  f->open++;
  f->caller = 0;
  f->last = now;
  t->cur = f;
  t->suspended = NULL;
  t->counters = c;
  if (waits) {
    fast_slice_open(t, f, sliced, now, a->await.site);
    fast_waited(f, a, passed);
    fast_count(a->await.histogram, passed);
  } else {
    fast_slice_open(t, f, sliced, now, node_site(f->node));
    f->queued += passed;
    c->function.queued += passed;
    fast_count(c->function.queued_histogram, passed);
  }
  finish(b);
  return;
undo:
  unbegin(t);
slow:
  run_begin_again(site, token, key0, key1, function, self);
}

/* Where the future that stops running waits, if that is known. */
ALWAYS struct aprof_counters *fast_pause(struct thread *t, const struct aprof_future *f,
                                         struct aprof_counters *c, struct aprof_site *where) {
  if (unlikely(f->await != 0) ||
      (unlikely(t->polled == f) && t->polled_sequence == t->block->sequence))
    return NULL;
  if (where != NULL)
    return fast_await(t, c, f->node, where);
  struct aprof_counters *a = (struct aprof_counters *)(uintptr_t)c->function.last_await;
  return a != NULL && likely(a->await.site == f->create_site) ? a : NULL;
}

/* What ran in the bracket has suspended itself: nothing to close but the bracket. */
ALWAYS void fast_run_suspended(struct aprof_token *token, int how, struct aprof_site *where,
                               struct thread *t, struct aprof_future *f) {
  struct aprof_block *b = t->block;
  if (unlikely(f->ending != 0) || unlikely(f->state != APROF_FUTURE_WAITING)) {
    unbegin(t);
    event_run_end(token, how, where);
    return;
  }
  f->open--;
  t->at = NULL;
  t->suspended = NULL;
  finish(b);
}

ALWAYS void fast_run_end(struct aprof_token *token, int how, struct aprof_site *where,
                         uint32_t clock) {
  struct thread *t = aprof_self;
  uint64_t id = token->word[0];
  uint32_t index = (uint32_t)token->word[1];
  struct aprof_future *f = future_at(index);
  struct aprof_block *b = begin(t);
  if (unlikely(b == NULL))
    goto slow;
  if (unlikely(!token_current(t, id)) || unlikely(f->id != id) ||
      unlikely((uint32_t)token->word[2] & ~(uint32_t)BRACKET_BODY))
    goto undo;
  if (t->cur == NULL) {
    fast_run_suspended(token, how, where, t, f);
    return;
  }
  struct aprof_counters *c = t->counters, *sliced = t->slice_counters, *a = NULL;
  uint64_t *place = NULL;
  if (unlikely(t->cur != f) || unlikely(f->ending != 0) ||
      (where != NULL && unlikely(where->instance != rt.instance)) ||
      !has_histogram(sliced->function.slice_histogram))
    goto undo;
  if (how == APROF_PENDING) {
    if (unlikely((a = fast_pause(t, f, c, where)) == NULL))
      goto undo;
  } else {
    place = fast_place(f, index);
    if (unlikely(place == NULL) || unlikely(how != APROF_DONE) ||
        unlikely(t->free_count >= FREE_ENOUGH) || !has_histogram(c->function.exec_histogram) ||
        !has_histogram(c->function.wall_histogram))
      goto undo;
  }
  uint64_t now = fast_clock(clock), ran = now - b->last;
  if (backwards(ran))
    goto undo;
  c->function.exec += ran;
  if (fast_slice_close(t, sliced, now))
    sliced->function.slice_to = where != NULL ? where->id : node_site(f->node);
  if (a != NULL) {
    f->exec += ran;
    f->await = a->await.node;
    f->wake_tick = 0;
    f->last = now;
    f->state = APROF_FUTURE_WAITING;
    f->flags |= APROF_F_WAITED | APROF_F_IMPLICIT;
    f->open--;
  } else {
    fast_done(c, f, f->exec + ran, now - f->created_tick);
    __atomic_store_n(place, (*place >> 32) << 32 | KEY_TOMB, __ATOMIC_RELEASE);
    fast_free(t, f, index);
  }
  t->at = NULL;
  t->cur = NULL;
  t->suspended = NULL;
  b->state = t->rest;
  b->last = now;
  finish(b);
  return;
undo:
  unbegin(t);
slow:
  event_run_end(token, how, where);
}

/* -- create ------------------------------------------------------------------ */

ALWAYS void fast_create_begin(struct aprof_site *site, struct aprof_token *token,
                              struct aprof_site *function, const void *fn, uint32_t clock) {
  struct thread *t = aprof_self;
  struct aprof_block *b = begin(t);
  if (unlikely(b == NULL))
    goto slow;
  struct aprof_future *creator = t->cur;
  if (unlikely(t->tentative != NULL) || unlikely(t->free_list == 0) ||
      unlikely(creator != NULL && creator->await != 0) ||
      unlikely(site->flags & (APROF_ROOT | APROF_BACKGROUND | APROF_TUPLE | APROF_KEYLESS)) ||
      (function == NULL && fn != NULL))
    goto undo;
  struct node_entry *e =
      fast_node(t, creator != NULL ? creator->node : 0, function != NULL ? function : site, false);
  struct node_entry *waits = e != NULL ? fast_node(t, e->node, site, true) : NULL;
  if (unlikely(waits == NULL))
    goto undo;
  uint64_t now = fast_clock(clock);
  if (backwards(now - b->last))
    goto undo;
  struct aprof_future *f = future_at(t->free_list);
  uint64_t id =
      fast_new(t, f, now, APROF_FUTURE_TENTATIVE, function == NULL ? APROF_F_NAMELESS : 0, 0);
  f->node = f->outer = e->node;
  f->await = waits->node;
  f->ns = site->ns;
  f->create_site = site->id;
  f->caller = 0;
  f->polled = site->flags; /* until its bracket closes */
  f->key0 = 0;
  token->word[1] = index_of(f);
  token->word[2] = t->slice_count << 32;
  if (creator != NULL) {
    f->parent = index_of(creator);
    f->parent_serial = (uint32_t)creator->id;
    token->word[1] |= creator->id << 32;
    token->word[2] |= f->parent;
  } else {
    f->parent = 0;
    f->parent_serial = 0;
  }
  publish_fence();
  f->id = id;
  token->word[0] = id;
  t->tentative = f;
  t->tentative_id = id;
  finish(b);
  return;
undo:
  unbegin(t);
slow:
  event_create_begin(site, token, function, fn);
}

/* No body ran inside, and no future has that key. */
ALWAYS void fast_create_end(struct aprof_token *token, uint64_t key0, uint64_t key1, int ok) {
  struct thread *t = aprof_self;
  uint64_t id = token->word[0];
  uint32_t index = (uint32_t)token->word[1];
  struct aprof_future *f = future_at(index);
  struct aprof_block *b = begin(t);
  if (unlikely(b == NULL))
    goto slow;
  if (unlikely(!token_current(t, id)) || unlikely(t->tentative != f) ||
      unlikely(t->tentative_id != id) || unlikely(f->id != id) ||
      unlikely(f->state != APROF_FUTURE_TENTATIVE) || unlikely(f->key0 != 0) || unlikely(!ok))
    goto undo;
  struct key_table *table = __atomic_load_n(&key_head, __ATOMIC_ACQUIRE);
  uint64_t hash = key_hash(key0, key1), *place = fast_vacancy(table, hash), seen;
  if (unlikely(place == NULL) || unlikely(f->polled & (APROF_TUPLE | APROF_KEYLESS)))
    goto undo;
  seen = *place;
  uint32_t flags = (uint32_t)f->polled;
  f->polled = 0;
  f->key0 = key0;
  f->key1 = key1;
  uint8_t now = (uint8_t)(f->flags | APROF_F_KEYED | APROF_F_WAITED);
  if ((flags & (APROF_ONCE | APROF_MULTI)) && !(flags & APROF_READY)) {
    f->flags = now | APROF_F_IMPLICIT;
    f->state = APROF_FUTURE_WAITING;
  } else {
    f->flags = now;
    f->await = 0;
    f->state = APROF_FUTURE_QUEUED;
  }
  t->tentative = NULL;
  t->tentative_id = 0;
  /* From here on another thread may run it; or take the place first. */
  uint64_t word = (hash >> 32) << 32 | index;
  if (unlikely(!__atomic_compare_exchange_n(place, &seen, word, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_RELAXED)))
    key_insert(f);
  else if (seen == 0)
    __atomic_fetch_add(&table->used, 1, __ATOMIC_RELAXED);
  if (unlikely(table != __atomic_load_n(&key_head, __ATOMIC_SEQ_CST)))
    key_insert(f);
  finish(b);
  return;
undo:
  unbegin(t);
slow:
  event_create_end(token, key0, key1, ok);
}

/* -- one set per clock --------------------------------------------------------- */

#define SET(name, clock)                                                                           \
  static void run_begin_##name(struct aprof_site *site, struct aprof_token *token, uint64_t key0,  \
                               uint64_t key1, struct aprof_site *function, const void *self) {     \
    fast_run_begin(site, token, key0, key1, function, self, clock);                                \
  }                                                                                                \
  static void run_end_##name(struct aprof_token *token, int how, struct aprof_site *where) {       \
    fast_run_end(token, how, where, clock);                                                        \
  }                                                                                                \
  static void create_begin_##name(struct aprof_site *site, struct aprof_token *token,              \
                                  struct aprof_site *function, const void *fn) {                   \
    fast_create_begin(site, token, function, fn, clock);                                           \
  }

static void create_end_any(struct aprof_token *token, uint64_t key0, uint64_t key1, int ok) {
  fast_create_end(token, key0, key1, ok);
}

#if defined __x86_64__ || defined __i386__
SET(tsc, APROF_CLOCK_TSC)
#endif
SET(virtual, APROF_CLOCK_VIRTUAL)

/* The thread's entry was about another node, or nothing is as usual. */
static void run_begin_again(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                            uint64_t key1, struct aprof_site *function, const void *self) {
  if (!learn_run(key0, key1, site->ns, function))
    event_run_begin(site, token, key0, key1, function, self);
  else if (rt.clock == APROF_CLOCK_VIRTUAL)
    run_begin_virtual(site, token, key0, key1, function, self);
#if defined __x86_64__ || defined __i386__
  else
    run_begin_tsc(site, token, key0, key1, function, self);
#endif
}

void fast_brackets(struct aprof_gate *gate, uint32_t clock) {
  gate->create_begin = event_create_begin;
  gate->create_end = create_end_any;
  gate->run_begin = event_run_begin;
  gate->run_end = event_run_end;
#if defined __x86_64__ || defined __i386__
  if (clock == APROF_CLOCK_TSC) {
    gate->create_begin = create_begin_tsc;
    gate->run_begin = run_begin_tsc;
    gate->run_end = run_end_tsc;
  }
#endif
  if (clock == APROF_CLOCK_VIRTUAL) {
    gate->create_begin = create_begin_virtual;
    gate->run_begin = run_begin_virtual;
    gate->run_end = run_end_virtual;
  }
}
