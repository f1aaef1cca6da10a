/* SPDX-License-Identifier: MIT */
/*
 * What the fast events of futures that are found by a key have in common; see fast-create.c,
 * fast-run.c.
 *
 * Purpose: the table's first places, and the two ends of a run's bracket.
 * Cost: inline. Locking: only inside an event.
 */
#ifndef APROF_FAST_KEY_H
#define APROF_FAST_KEY_H

#include "fast.h"
#include "run.h"

/* The future that stands at the first place of this key, if it has the key; else NULL. The token
   has the id from here on, read before the key, since another thread may end the future meanwhile.
   A future of an epoch that is over keeps its place; its lease is no thread's. */
ALWAYS struct aprof_future *fast_first(const struct aprof_site *site, uint64_t key0, uint64_t key1,
                                       struct aprof_token *token) {
  uint32_t hash = key_hash(key0, key1);
  struct key_segment *segment = directory_at(&key_directory, hash);
  const uint64_t *place = &segment->word[hash % KEY_WORDS];
  if (unlikely(!upper_is(place, hash)))
    return NULL;
  uint32_t index = lower_read(place);
  if (unlikely((int32_t)index <= (int32_t)KEY_TOMB))
    return NULL;                             /* or the word of a queue */
  struct aprof_future *f = future_at(index); /* of this key? */
  token->word[0] = __atomic_load_n(&f->id, __ATOMIC_ACQUIRE);
  return likely(token->word[0] != 0) && likely(f->key0 == key0) && likely(f->key1 == key1) &&
                 likely(f->ns == site->ns) && likely(f->flags & APROF_F_KEYED)
             ? f
             : NULL;
}

/* ... and the site needs no general event. Futures of equal keys are no matter of fast events
   (key_take). */
ALWAYS struct aprof_future *fast_find(const struct aprof_site *site, uint64_t key0, uint64_t key1,
                                      struct aprof_token *token) {
  if (unlikely(site->flags & (APROF_POLLING | APROF_TUPLE | APROF_WORKER)))
    return NULL;
  return fast_first(site, key0, key1, token);
}

/* A wake or end that has found a future before. */
ALWAYS bool fast_site(const struct aprof_site *site) {
  return site_known(site) && likely(site->reserved == rt.instance);
}

/* The first place of a key that no future has: free, with nothing behind it. *seen: its word. */
ALWAYS uint64_t *fast_vacancy(struct key_segment *segment, uint32_t hash, uint64_t *seen) {
  if (unlikely(__atomic_load_n(&segment->older, __ATOMIC_ACQUIRE) != NULL))
    return NULL;
  uint64_t *place = &segment->word[hash % KEY_WORDS];
  nears_written(place); /* who ended what was there may be another thread */
  uint64_t word = *seen = relaxed(place);
  if (word == 0)
    return likely(__atomic_load_n(&segment->used, __ATOMIC_RELAXED) < KEY_ENOUGH) ? place : NULL;
  bool last = relaxed(&segment->word[(hash + 1) % KEY_WORDS]) == 0;
  return likely((uint32_t)word == KEY_TOMB) && likely(last) ? place : NULL;
}

/* Puts that word, which others may have found already, wherever there is a place. */
BETWEEN SLOW void finish_putting(uint64_t word, struct aprof_block *b);

/* Ends an event by putting f at this place, where others may find it; or at any place, if another
   thread has taken this one or is replacing the segment. */
ALWAYS void finish_at(struct aprof_future *f, struct aprof_block *b, struct key_segment *segment,
                      uint64_t *place, uint64_t seen, uint32_t hash) {
  uint64_t word = (uint64_t)hash << 32 | index_of(f);
  if (unlikely(!swapped(place, &seen, word, SEQ_CST))) {
    finish_putting(word, b);
    return;
  }
  if (seen == 0)
    __atomic_fetch_add(&segment->used, 1, __ATOMIC_RELAXED);
  if (unlikely(__atomic_load_n(&segment->replaced, __ATOMIC_SEQ_CST)))
    finish_putting(word, b);
  else
    finish(b);
}

/* Did it run here last? The lease tells that it paused here, so no earlier than the thread's last
   event. */
ALWAYS bool fast_runnable(const struct thread *t, const struct aprof_future *f) {
  return likely(f->lease == t->lease);
}

/* It has been queued since before the end of a long hold, which is to be told. */
ALWAYS bool fast_delayed(const struct thread *t, const struct aprof_future *f) {
  return unlikely(f->last < t->held_until);
}

/* A wait that a wake ended at `end`, and that is not within the await's limit. */
BETWEEN SLOW void waited_long(struct thread *t, struct aprof_future *f, uint64_t end);

/* Can fast_close_rest end what lasts so long? */
ALWAYS bool fast_rest_ends(const struct aprof_future *f, const struct aprof_counters *a,
                           uint64_t passed, uint32_t clock) {
  return f->wake_tick != 0 ? a->await.limit != 0 : fast_within(&a->await.limit, passed, clock);
}

/* ... for new work, behind which a request begins, or at a create with a tier? */
ALWAYS bool fast_apart_ends(const struct aprof_future *f, const struct aprof_counters *a,
                            uint64_t passed) {
  return f->wake_tick != 0 ? a->await.apart > 1 : passed + 1 < a->await.apart;
}

/* ... ends: the tier has had it. */
ALWAYS void fast_apart_over(struct aprof_future *f, uint64_t now) {
  if (f->flags & APROF_F_MEMBER)
    share_waited(f, f->await, share_had(f, now, true).end);
}

/* f waits at `a`, or is queued where `a` is NULL. */
ALWAYS void fast_close_rest(struct thread *t, struct aprof_future *f, struct aprof_counters *a,
                            struct aprof_counters *c, uint64_t now, uint64_t passed,
                            uint32_t clock) {
  if (a == NULL) {
    fast_queued(f, c, passed, clock);
    return;
  }
  if (f->wake_tick != 0) {
    uint64_t end = NOTES ? close_woken_traced(t, f, now) : close_woken(t, f, now);
    passed = end - f->last;
    if (!fast_within(&a->await.limit, passed, clock)) {
      waited_long(t, f, end);
      return;
    }
  }
  fast_rested(f, a, passed, clock);
}

/* The counters of the await that f waits in, or of the function that it is queued as. Of one that
   was taken another thread's may stand in its record. NULL: not known here. */
ALWAYS struct aprof_counters *fast_counted(struct thread *t, const struct aprof_future *f,
                                           bool waits, bool taken) {
  if (!taken)
    return fast_known(f);
  struct aprof_counters *c = fast_counters(t, f->node), *a;
  if (unlikely(c == NULL) || unlikely(c->function.own == 0))
    return NULL;
  if (!waits)
    return c;
  a = fast_counters(t, f->await); /* it may have begun a span inside of that */
  return likely(a != NULL) && likely(a->await.function == (uintptr_t)c) ? a : NULL;
}

/* Is it open already? One of equal ones is, from when it was taken. */
ALWAYS bool fast_opened(const struct aprof_site *site, bool taken) {
  return taken && (site->flags & APROF_TUPLE);
}

/* A bracket of f opens that no caller waits for; where one does, the caller of this says so behind
   it. */
ALWAYS void fast_opens(struct aprof_future *f, struct aprof_token *token,
                       const struct aprof_site *function, bool opened) {
  token->word[1] = (uintptr_t)f;
  token->word[2] = (uintptr_t)function;
  f->open += !opened;
  f->caller = 0;
}

/* The future runs from here on, in such a bracket. */
ALWAYS void fast_runs(struct thread *t, struct aprof_block *b, struct aprof_token *token,
                      struct aprof_future *f, struct aprof_counters *c,
                      const struct aprof_site *function, uint64_t now, bool opened) {
  fast_opens(f, token, function, opened);
  f->state = APROF_FUTURE_RUNNING;
  f->last = now;
  thread_runs(t, b, f, c, now);
}

/* A job begins on a pool's thread, of which there are many: what the thread has of its own is cold
   by now, what it counts in, but for the odd one, that of the last time; the job's record and word
   are in the caches of who made it. All of it is asked for at once. */
ALWAYS void fast_nears(const struct thread *t, const struct aprof_site *site, uint64_t key0,
                       uint64_t key1) {
  if (!(site->flags & APROF_WORKER))
    return;
  uint32_t hash = key_hash(key0, key1);
  const struct key_segment *segment = directory_at(&key_directory, hash);
  const uint64_t *place = &segment->word[hash % KEY_WORDS];
  nears_written(place);
  nears_written(&t->segments);
  nears_written(&t->no_slices.function.slice_limit);
  nears_written(&t->block->migrations);
  for (unsigned i = 0; i < sizeof *t->counters; i += 64)
    nears_written((const char *)t->counters + i);
  record_nears(future_at(lower_read(place))); /* if it is one */
}

/* ... and ends: the time until then is little more than it was queued. */
ALWAYS void fast_nears_end(const struct aprof_site *site, const struct aprof_counters *c,
                           uint64_t queued) {
  if (site->flags & APROF_WORKER)
    nears_written((char *)(uintptr_t)c->function.ended_buckets + 4 * fast_bucket(queued));
}

/* What runs on a pool's thread holds no loop. */
ALWAYS void fast_works(struct thread *t, const struct aprof_site *site) {
  if (site->flags & APROF_WORKER)
    slice_open_worker(t);
}

/* Made for this function, where the site asks for that; of one that was known by its
   address, once it is told. */
ALWAYS bool fast_own(const struct aprof_future *f, const struct aprof_site *site,
                     const struct aprof_site *function) {
  if (!(site->flags & APROF_OWN))
    return true;
  uint32_t known = node_site(f->node);
  return site_known(function) &&
         (likely(known == function->id) || site_record(known)->alias == function->id);
}

/* The same for what waits or is queued, told by its counters alone. False: they do not tell. */
ALWAYS bool fast_plainly_own(const struct aprof_counters *c, const struct aprof_site *function) {
  return function == NULL || likely(fast_is_own(c, function));
}

/* Lets the counters, which are f's, tell it the next time. */
ALWAYS void fast_owns(struct aprof_counters *c, const struct aprof_future *f,
                      const struct aprof_site *function) {
  if (function != NULL && (f->flags & APROF_F_NAMED) && site_known(function) &&
      c->function.own != 0 && site_record(node_site(f->node))->alias == function->id)
    c->function.own = own_site(function->id);
}

/* Is f known to be of this function? Also true where the body does not tell its own. */
ALWAYS bool fast_named(const struct aprof_future *f, const struct aprof_site *site,
                       const struct aprof_site *function) {
  return function == NULL || (likely(f->flags & APROF_F_NAMED) && fast_own(f, site, function));
}

/* The node and counters that f, which is queued, has once this body runs. If f was created without
   a name, fast_rename gives it this one. */
ALWAYS bool fast_name(struct thread *t, const struct aprof_future *f, const struct aprof_site *site,
                      struct aprof_site *function, uint32_t *node, struct aprof_counters **counters,
                      bool taken) {
  *node = f->node;
  *counters = fast_counted(t, f, false, taken);
  if (fast_named(f, site, function))
    return !taken || *counters != NULL;
  if (!(f->flags & APROF_F_NAMELESS))
    return false;
  struct node_entry *e = fast_node(t, node_parent(f->node), function, false);
  if (unlikely(e == NULL))
    return false;
  *node = e->node;
  *counters = e->counters;
  return true;
}

ALWAYS void fast_rename(struct aprof_future *f, uint32_t node) {
  if (likely(f->node == node))
    return;
  if (f->outer == f->node)
    f->outer = node;
  f->node = node;
  f->flags = (uint8_t)((f->flags & ~APROF_F_NAMELESS) | APROF_F_NAMED);
}

/* The bracket's future f is what runs here, where anything does, and was not asked to end. It may
   go on as part of a request, but not be over as that. */
ALWAYS bool fast_stops(const struct thread *t, const struct aprof_token *token,
                       const struct aprof_future *f, bool pauses) {
  uint32_t odd = 0xffu << 24 | (pauses ? 0 : APROF_F_MEMBER << 8);
  return likely(t->cur == f) && likely(f->id == token->word[0]) && likely(!(fast_word(f) & odd));
}

/* APROF_ORIGIN_TIER, by itself: GCC would shift the whole. */
ALWAYS uint32_t fast_in_tier(const struct aprof_future *f) {
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return __atomic_load_n((const uint8_t *)&f->origin + APROF_ORIGIN_BITS / 8, __ATOMIC_RELAXED);
#else
  return f->origin >> APROF_ORIGIN_BITS;
#endif
}

/* The counters of the await in which f waits when it stops running; NULL: not known. If they are,
   so is `where`. `others`: also where its last await was another one, as of what also waits inside
   its runs, and as part of a request; `leaves`: also of one that it leaves by that (member_rests).
 */
ALWAYS struct aprof_counters *fast_pause(struct thread *t, const struct aprof_future *f,
                                         struct aprof_counters *c, struct aprof_site *where,
                                         bool others, bool leaves) {
  /* It waits; or has a tier open, which a bracket around its body closes: one test for two. */
  if (unlikely((f->await | fast_in_tier(f)) != 0) ||
      unlikely(f->lease != t->lease)) /* another thread took it */
    return NULL;
  if (where != NULL) {
    bool polls = unlikely(t->polled == f) && t->polled_sequence == t->block->sequence;
    if (polls || !fast_waits_at(t, c, f, where, false))
      return NULL;
    struct aprof_counters *a = fast_await(c);
    if (a == NULL)
      __builtin_unreachable(); /* last_site has one */
    return a;
  }
  struct aprof_counters *a = (struct aprof_counters *)(uintptr_t)c->function.last_await;
  if (a == NULL || unlikely(a->await.site != f->origin)) {
    struct aprof_site *create = number_as_site(f->origin, APROF_NODE_AWAIT);
    struct node_entry *e = others ? fast_node(t, f->node, create, true) : NULL;
    if (e == NULL || (a = e->counters)->await.function != (uintptr_t)c)
      return NULL;
  }
  if (!(f->flags & APROF_F_MEMBER) || !a->await.apart)
    return a;
  /* What waits for new work leaves a request that has no root. */
  return leaves || (others && !request_is_implicit(request_of(f))) ? a : NULL;
}

/* What runs, and whose exec is closed, waits at `a` from here on, until it is run again. */
ALWAYS void fast_pauses(struct aprof_future *f, const struct aprof_counters *a, uint64_t now) {
  f->await = a->await.node;
  f->counters = (uintptr_t)a;
  f->last = now;
  fast_stops_running(f, APROF_F_IMPLICIT);
}

/* The bracket's future f has suspended itself, or what it has called has, and it was not asked to
   end. */
ALWAYS bool fast_suspended(const struct thread *t, const struct aprof_token *token,
                           const struct aprof_future *f) {
  return likely(in_profile((uintptr_t)f)) && token_current(t, token->word[0]) &&
         likely(f->id == token->word[0]) && likely(f->ending == 0) &&
         (f->state == APROF_FUTURE_WAITING ? f->lease == t->lease : f->state == APROF_FUTURE_ASIDE);
}

/* ... and its bracket closes. */
ALWAYS void fast_stack_waits(struct thread *t, struct aprof_future *f) {
  if (unlikely(f->state == APROF_FUTURE_ASIDE) && t->cur != NULL)
    top_of(t, f, t->cur);
  record_closes(f);
}

/* f, which waited, goes on. That ends an await that only its bracket made. */
ALWAYS void fast_goes_on(struct aprof_future *f) {
  if (likely(f->flags & APROF_F_IMPLICIT))
    f->await = 0;
  f->flags = (uint8_t)((f->flags & ~APROF_F_IMPLICIT) | APROF_F_STARTED);
}

/* f's place in the table, if fast_over can end f; else NULL. */
ALWAYS uint64_t *fast_may_end(const struct thread *t, const struct aprof_future *f,
                              uint32_t index) {
  uint64_t *place = fast_place(f, index);
  return unlikely(t->free_count >= FREE_ENOUGH) ? NULL : place;
}

ALWAYS void fast_over(struct thread *t, struct aprof_counters *c, struct aprof_future *f,
                      uint32_t index, uint64_t *place, int how, uint64_t wall, uint32_t clock) {
  fast_done(c, f, how, wall, clock);
  fast_forget_key(place);
  record_give(t, f, index);
}

/* Goes on with the end of a run. Each of these three is a step above or in a file, with what else
   it is told. */
typedef void run_over(struct aprof_token *token, int how, struct aprof_site *where);
#define RUN_OVER(scope, name, step, ...)                                                           \
  scope void name(struct aprof_token *token, int how, struct aprof_site *where) {                  \
    step(token, how, where, __VA_ARGS__);                                                          \
  }
/* Goes on with a run. */
typedef void run_begin(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                       uint64_t key1, struct aprof_site *function, const void *self);
#define RUN_BEGIN(scope, name, step, ...)                                                          \
  scope void name(struct aprof_site *site, struct aprof_token *token, uint64_t key0,               \
                  uint64_t key1, struct aprof_site *function, const void *self) {                  \
    step(site, token, key0, key1, function, self, __VA_ARGS__);                                    \
  }
/* ... of what was found inside the event, its id in the token. */
typedef void run_found(struct aprof_site *site, struct aprof_token *token, struct aprof_future *f,
                       struct aprof_site *function, const void *self);
#define RUN_FOUND(scope, name, step, ...)                                                          \
  scope void name(struct aprof_site *site, struct aprof_token *token, struct aprof_future *f,      \
                  struct aprof_site *function, const void *self) {                                 \
    step(site, token, f, function, self, __VA_ARGS__);                                             \
  }
/* ... where that needs the general event. `taken`: it was. */
BETWEEN SLOW run_found run_undone, run_undone_taken;

/* ... where nobody is to run, as far as was looked: inside the event, which may be over with that.
 */
BETWEEN SLOW run_begin run_none;

/* The run that closes may be what its caller waits for, if that is no body that was called: see
   pause_place. */
ALWAYS void fast_polled(struct thread *t, struct aprof_future *caller, int how,
                        const struct aprof_site *where) {
  if (how < APROF_PENDING || where == NULL)
    return;
  t->polled = caller;
  t->polled_node = caller->await;
  t->polled_sequence = t->block->sequence + 2; /* while inside the next event */
}

/* The future that waits for f's bracket to close, at an await whose records are all there: *a; else
   NULL. */
ALWAYS struct aprof_future *fast_caller(struct thread *t, const struct aprof_token *token,
                                        uint32_t index, struct aprof_counters **a) {
  struct aprof_future *caller = future_at((uint32_t)(token->word[2] & BRACKET_INDEX));
  if (unlikely((uint32_t)caller->id != token->word[1] >> 32) ||
      unlikely((*a = fast_counters(t, caller->await)) == NULL) ||
      unlikely((*a)->await.function == 0) || !fast_restorable(t, caller, index, true))
    return NULL;
  return caller;
}

/* f, which was queued or woken, runs from here on; `from`: the site that its slice begins with. The
   event is to be finished. */
ALWAYS void fast_run_begins(struct thread *t, const struct aprof_site *site,
                            struct aprof_token *token, struct aprof_future *f,
                            struct aprof_counters *c, const struct aprof_site *function,
                            uint64_t now, uint32_t from, bool taken) {
  struct aprof_block *b = t->block;
  fast_runs(t, b, token, f, c, function, now, fast_opened(site, taken));
  t->slice_counters = c;
  f->outer = f->node;
  slice_starts(b, f->node, now, from);
  if (taken)
    fast_works(t, site);
  note(t, APROF_TRACE_RUNNING, f, f->node, now);
}

/* The first run of a future that was made runnable: it was queued. If it has no name yet,
   `nameless` goes on, for which `nameless` is NULL; if it has called bodies, `stack`. */
ALWAYS void fast_run_queued(struct aprof_site *site, struct aprof_token *token,
                            struct aprof_future *f, struct aprof_site *function, const void *self,
                            uint32_t clock, bool taken, run_found *nameless, run_found *stack,
                            run_found *undone) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
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
    if (!fast_name(t, f, site, function, &node, &c, taken))
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
    fast_owns(c, f, function);
    note_named(t, f, node);
    fast_rename(f, node);
  }
  fast_queued(f, c, passed, clock);
  if (taken)
    fast_nears_end(site, c, passed);
  f->flags |= APROF_F_STARTED;
  f->wake_tick = 0; /* when it was due */
  fast_run_begins(t, site, token, f, c, function, now, (uint32_t)c->function.own, taken);
  finish(b);
  return;
undo:
  undone(site, token, f, function, self);
}

/* fast-close.c: of runs that close in a rare way, or that a running future made; fast-called.c: of
   those that it makes; fast-stack.c: of what has called bodies; fast-rest.c: of what was woken,
   what another thread had last, and what was taken. */
#define OTHERS(name)                                                                               \
  BETWEEN run_begin called_begin_##name;                                                           \
  BETWEEN run_over called_end_##name, called_ends_##name, called_pauses_##name, run_ends_##name,   \
      run_pauses_##name, stack_end_##name, stack_pause_##name;                                     \
  BETWEEN run_found run_woken_##name, run_moved_##name, run_taken_##name, run_stack_##name,        \
      called_stack_##name;
OTHERS(tsc)
OTHERS(virtual)
UNLESS_SOME(OTHERS(shed))
#undef OTHERS

#endif
