/* SPDX-License-Identifier: MIT */
/*
 * Events of futures that are found by a key: creates, runs, wakes, ends; and
 * the loop's own idling.
 *
 *     create_begin (site, tok, fn); r = uv_write (req, ...); create_end (tok, key, ok (r));
 *     on_write (req) { run_begin (site, tok, key); body; run_end (tok, how, where); }
 *
 * A tentative record stands for the future while its create bracket is open, so
 * that a body entered inside can adopt it; until the bracket closes nobody can
 * find it and no count has it.
 */
#include "begin.h"
#include "events.h"
#include "general.h"
#include "rt/count/miss.h"
#include "rt/future/key.h"
#include "rt/future/record.h"
#include "tokens.h"

/* See tokens.h. */
static inline void bracket_open(const struct thread *t, struct aprof_token *token,
                                struct aprof_future *f, uint64_t id,
                                const struct aprof_future *below,
                                const struct aprof_site *function) {
  token->word[0] = id;
  if (below == NULL) {
    token->word[1] = (uintptr_t)f;
    token->word[2] = (uintptr_t)function;
    return;
  }
  bracket_index(token, index_of(f),
                t->slice_count << 32 | index_of(below) | (function != NULL ? BRACKET_BODY : 0));
  token->word[1] |= below->id << 32;
}

static inline bool bracket_body(const struct aprof_token *token) {
  return bracket_indexed(token) ? token->word[2] & BRACKET_BODY : token->word[2] != 0;
}

static inline bool bracket_polls(const struct aprof_token *token) {
  return unlikely(bracket_indexed(token)) && unlikely(token->word[2] & BRACKET_POLL);
}

/* Who waits for the bracket to close: NULL if nobody, if it runs again already,
   or is over. */
static inline struct aprof_future *bracket_below(const struct aprof_token *token, uint32_t callee) {
  uint32_t index = (uint32_t)(token->word[2] & BRACKET_INDEX);
  if (likely(!bracket_indexed(token)))
    return NULL;
  struct aprof_future *f = record_at(index);
  if (index == 0 || (uint32_t)f->id != (uint32_t)(token->word[1] >> 32) || !is_aside(f, callee))
    return NULL;
  return f;
}

static inline bool bracket_immediate(const struct thread *t, const struct aprof_token *token) {
  uint32_t mask = token->word[2] & BRACKET_POLL ? 0xfff : UINT32_MAX;
  return (((uint32_t)(token->word[2] >> 32) ^ (uint32_t)t->slice_count) & mask) == 0;
}

/* -- create ---------------------------------------------------------------- */

/* Where a create is reported: at its own call, or at that of the program's wrapper
   which it lies in. */
static uint32_t create_place(const struct thread *t, struct aprof_site *site,
                             const struct aprof_token *token) {
  uint32_t place = 0;
  if (t->cur == NULL) {
    struct aprof_site *helper = helper_around(token);
    place = helper != NULL ? site_id(helper) : 0;
  } else if (unlikely(t->cur->await != 0)) {
    uint32_t await = node_site(t->cur->await);
    place = site_record(await)->flags & APROF_HELPER ? await : 0;
  }
  if (likely(place == 0))
    return site_id(site);
  return site->flags & APROF_BACKGROUND ? site_in_background(place) : place;
}

/* A function that is known by its address. One that has a name, too, is in the thread's cache
   like others, where the fast events find it by its address. */
static uint32_t node_of_address(struct thread *t, uint32_t above, const void *fn, uint8_t model) {
  uint32_t place = above << 1;
  struct aprof_site *key = address_as_site(fn);
  const struct node_entry *e = node_cached(t, place, key);
  if (e != NULL)
    return e->node;
  uint32_t site = site_of_address(fn, model), node = node_of_site_slow(above, site, false);
  if (site_record(site)->alias != 0)
    node_keep(t, place, key, node);
  return node;
}

/* Nobody has seen its body: it has the name of what is at that address. */
static void name_by_address(struct thread *t, struct aprof_future *f, const void *fn, uint8_t model,
                            bool root) {
  uint32_t above = t->cur != NULL && !root ? tree_parent(t, t->cur->node) : 0;
  f->node = node_of_address(t, above, fn, model);
  f->outer = f->node;
}

void general_create_begin(struct aprof_site *site, struct aprof_token *token,
                          struct aprof_site *function, const void *fn) {
  struct thread *t = event_begin_as(true);
  if (unlikely(t == NULL))
    return;
  uint64_t now = event_time(t);
  bool root = site->flags & APROF_ROOT;
  struct aprof_future *f;
  if (function != NULL) {
    f = future_born(t, function, root, now);
    if (fn != NULL)
      site_told(function, fn);
  } else {
    f = future_born(t, site, root, now);
    if (f != NULL && fn != NULL) {
      uint8_t model =
          site->flags & (APROF_ONCE | APROF_MULTI) ? APROF_MODEL_CALLBACK : APROF_MODEL_STACK;
      name_by_address(t, f, fn, model, root);
    }
  }
  if (unlikely(f == NULL))
    goto out;
  f->state = APROF_FUTURE_TENTATIVE;
  f->flags = function != NULL ? APROF_F_NAMED : fn == NULL ? APROF_F_NAMELESS : 0;
  if (site->flags & APROF_BACKGROUND)
    f->flags |= APROF_F_BACKGROUND;
  f->ns = site->ns;
  f->create_site = create_place(t, site, token);
  f->polled = site->flags; /* until its bracket closes */
  f->key0 = t->tentative != NULL ? index_of(t->tentative) : 0;
  f->await = likely(f->create_site == site->id)
                 ? node_find(t, f->node, site, true)->node
                 : node_of_site_slow(f->node, f->create_site, APROF_NODE_AWAIT);
  waits_at(t, f);
  t->tentative = f;
  t->tentative_id = f->id;
  bracket_open(t, token, f, f->id, t->cur, NULL);
out:
  event_end(t);
}

/* The child that ran inside the bracket is done with this stack: its creator
   goes on. */
static SLOW void restore_creator(struct thread *t, struct aprof_token *token) {
  struct aprof_future *creator = bracket_below(token, CALLEE_CREATE);
  if (creator == NULL)
    return;
  uint64_t now = not_before(event_time(t), creator);
  if (t->cur != NULL)
    abandon_running(t, now);
  else
    close_rest(t->block, now);
  bool immediate = bracket_immediate(t, token);
  slice_open(t, creator, now, node_site(creator->await));
  restore(t, creator, now, immediate);
}

/* The site of f's function, by name where it was known by its address at first, as in a field. */
static uint32_t function_site(const struct aprof_future *f) {
  uint32_t site = node_site(f->node), alias = site_record(site)->alias;
  return alias != 0 ? alias : site;
}

static bool is_same(const struct aprof_future *old, const struct aprof_future *f) {
  return (f->flags & APROF_F_NAMELESS) || function_site(old) == function_site(f);
}

#define TRIES 8u /* a lease may go from thread to thread */

/* May another thread be about to run old, or to end it? */
static bool is_elsewhere(struct thread *t, struct aprof_future *old, uint64_t id) {
  return threads_share() && future_lease(t, old, id) != t->lease;
}

/* It runs on another thread: when its bracket closes there, it goes on, and is due then. False: it
   is over, or had just been left there. */
static bool rearm_asked(struct thread *t, struct aprof_future *old, uint64_t id, uint64_t due) {
  uint64_t before = __atomic_exchange_n(&old->polled, due, __ATOMIC_SEQ_CST);
  if (future_asked(t, old, id, ENDING_REARMED))
    return true;
  __atomic_compare_exchange_n(&old->polled, &due, before, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_RELAXED);
  return false;
}

/* It waits, and is due anew, or at no time any more; but what somebody woke is runnable all the
   same, and what is overdue and due again at once. False: it was over. */
static bool rearm_waiting(struct thread *t, struct aprof_future *old, uint64_t id, uint64_t due,
                          uint64_t now) {
  uint64_t before = __atomic_load_n(&old->wake_tick, __ATOMIC_RELAXED);
  bool woken =
      is_mark(before) || (before != 0 && __atomic_load_n(&old->wake_site, __ATOMIC_RELAXED) != 0);
  bool overdue = before != 0 && before <= now;
  if (old->id == id && old->state == APROF_FUTURE_WAITING && !woken && before != due) {
    if (!overdue)
      future_wakes_at(old, due);
    else if (due == 0 || due > now)
      rearm_at_rest(t, old, id, due, now);
  }
  if (likely(__atomic_load_n(&old->id, __ATOMIC_ACQUIRE) == id))
    return true;
  __atomic_compare_exchange_n(&old->wake_tick, &due, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return false; /* the record's next one was not meant */
}

/* What key_taken does where the record may be another thread's to write, or another future's by
   now. That its bracket is to tell comes before its key goes: no fast event there takes the key's
   word for its own any more, which may soon be another key's. */
static SLOW bool key_taken_elsewhere(struct thread *t, struct aprof_future *old, uint64_t id,
                                     struct aprof_future *f, uint64_t key0, uint64_t key1,
                                     uint32_t flags, uint64_t now) {
  bool replaced = flags & APROF_REARM;
  if (replaced && is_same(old, f))
    return (is_busy(old) && rearm_asked(t, old, id, f->wake_tick)) ||
           rearm_waiting(t, old, id, f->wake_tick, now);
  uint8_t ending = replaced ? 1 + APROF_DONE : ENDING_KEYLESS;
  bool ended = false, asked = false;
  for (unsigned i = 0; i < TRIES && !ended && !asked && old->id == id; i++) {
    ended = end_at_rest(t, old, id, APROF_CANCELLED, now);
    if (ended || !is_busy(old))
      continue;
    asked = old->open == 0 || (old->ending != 0 && old->ending != ENDING_REARMED) ||
            future_asked(t, old, id, ending);
  }
  if (ended && !replaced)
    event_missed(t, APROF_MISS_REUSED, f->create_site);
  if (!ended && old->id == id)
    key_withdraw(old, key0, key1);
  return false;
}

/* The key belongs to a future that lives. True: that one goes on (rearm). */
static SLOW bool key_taken(struct thread *t, struct aprof_future *old, uint64_t id,
                           struct aprof_future *f, uint64_t key0, uint64_t key1, uint32_t flags,
                           uint64_t now) {
  if (is_elsewhere(t, old, id))
    return key_taken_elsewhere(t, old, id, f, key0, key1, flags, now);
  if ((flags & APROF_REARM) && is_same(old, f)) {
    /* Due anew, or at no time any more; while it is busy, in the wait that comes behind its run. */
    if (is_busy(old)) {
      old->ending = ENDING_REARMED;
      old->polled = f->wake_tick;
    } else {
      rearm_waiting(t, old, id, f->wake_tick, now);
    }
    return true;
  }
  key_remove(old);
  bool replaced = flags & APROF_REARM; /* who arms anew expects one there */
  if (end_at_rest(t, old, id, APROF_CANCELLED, now)) {
    if (!replaced)
      event_missed(t, APROF_MISS_REUSED, f->create_site);
  } else if (old->open != 0 && (!old->ending || old->ending == ENDING_REARMED)) {
    old->ending = replaced ? 1 + APROF_DONE
                           : ENDING_KEYLESS; /* its bracket tells whether it was over anyway */
  }
  return false;
}

/* The bracket closed before it ran: it waits for what was asked, or for its turn. */
static void settle(struct thread *t, struct aprof_future *f, uint32_t flags) {
  tell(APROF_EVENT_CREATED, f, f->create_site, f->last);
  f->flags |= APROF_F_WAITED;
  if ((flags & (APROF_ONCE | APROF_MULTI)) && !(flags & APROF_READY)) {
    f->flags |= APROF_F_IMPLICIT;
    f->state = APROF_FUTURE_WAITING;
  } else {
    f->await = 0;
    known_counters(t, f);
    f->state = APROF_FUTURE_QUEUED;
  }
}

/* No longer the innermost create bracket of this thread. */
static void forget_tentative(struct thread *t, const struct aprof_future *f, uint64_t id,
                             bool tentative) {
  if (t->tentative != f || t->tentative_id != id)
    return;
  t->tentative = tentative ? tentative_around(f) : NULL;
  t->tentative_id = t->tentative != NULL ? t->tentative->id : 0;
}

/* Is f on the stack that runs here? */
static bool runs_here(const struct thread *t, struct aprof_future *f) {
  return t->cur == f ||
         (t->cur != NULL && f->state == APROF_FUTURE_ASIDE && innermost(f) == t->cur);
}

/* Who has the key already gives it up, or goes on. Equal tuples live side by side, but
   one that is armed again is there. */
static bool takes_key(uint32_t flags) {
  return !(flags & APROF_KEYLESS) && (!(flags & APROF_TUPLE) || (flags & APROF_REARM));
}

/* The future can be found from here on, unless the one that has its key goes on. */
static void publish(struct thread *t, struct aprof_future *f, bool tentative, uint64_t key0,
                    uint64_t key1) {
  uint32_t flags = (uint32_t)f->polled;
  f->polled = 0;
  struct aprof_future *old = takes_key(flags) ? key_find(key0, key1, f->ns) : NULL;
  uint64_t old_id = old != NULL ? key_id(old, key0, key1) : 0;
  if (unlikely(old_id != 0 && old != f) &&
      key_taken(t, old, old_id, f, key0, key1, flags, event_time(t))) {
    if (tentative && future_claim(f, f->id))
      future_free(t, f);
    return;
  }
  f->key0 = key0;
  f->key1 = key1;
  if (tentative)
    settle(t, f, flags);
  /* Last: from here on another thread may run it. */
  if (flags & APROF_KEYLESS)
    return;
  if (flags & APROF_TUPLE)
    key_insert_equal(f);
  else
    key_insert(f);
}

/* The key is that one's again which runs here, if f had it from there. */
static void unpublish(struct thread *t, struct aprof_future *f) {
  key_remove(f);
  struct aprof_future *old = t->cur;
  if (old == NULL || old->ending != ENDING_KEYLESS || old->key0 != f->key0 ||
      old->key1 != f->key1 || old->ns != f->ns || key_find(f->key0, f->key1, f->ns) != NULL)
    return;
  old->ending = 0;
  key_insert(old);
}

void general_create_key(struct aprof_token *token, uint64_t key0, uint64_t key1) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = bracket_future(token), *old = NULL;
  if (takes_key((uint32_t)f->polled))
    old = key_find(key0, key1, f->ns);
  /* Where another one has the key, only the call's result tells whether it is over; but not of
     one that makes its successor itself: that may run elsewhere before the call returns. */
  bool fresh = old == NULL || (t->cur == old && !(f->polled & APROF_REARM));
  if (token_current(t, token->word[0]) && f->id == token->word[0] &&
      f->state == APROF_FUTURE_TENTATIVE && fresh) {
    forget_tentative(t, f, f->id, true);
    publish(t, f, true, key0, key1);
    t->published = f;
    t->published_id = token->word[0];
  }
  event_end(t);
}

void general_create_end(struct aprof_token *token, uint64_t key0, uint64_t key1, int ok) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  if (unlikely(!token_current(t, token->word[0])))
    goto out;
  struct aprof_future *f = bracket_future(token);
  bool tentative = f->id == token->word[0] && f->state == APROF_FUTURE_TENTATIVE;
  forget_tentative(t, f, token->word[0], tentative);
  t->published = NULL;
  if (unlikely(!tentative))
    restore_creator(t, token);
  if (unlikely(f->id != token->word[0]))
    goto out; /* ran to its end inside the bracket */
  if (unlikely(!ok)) {
    bool unused = (f->flags & (APROF_F_KEYED | APROF_F_STARTED)) == APROF_F_KEYED;
    if ((tentative || unused) && future_claim(f, token->word[0])) {
      if (unused)
        unpublish(t, f); /* its key was published too early */
      future_free(t, f);
    }
    goto out;
  }
  if (likely(!(f->flags & APROF_F_KEYED))) /* else published, or closed, before */
    publish(t, f, tentative, key0, key1);
out:
  event_end(t);
}

void general_due(struct aprof_token *token, uint64_t ns) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = bracket_future(token);
  if (token_current(t, token->word[0]) && f->id == token->word[0] &&
      f->state == APROF_FUTURE_TENTATIVE) {
    future_due(f, ns);
  }
  event_end(t);
}

/* -- run ------------------------------------------------------------------- */

/* Has there been a time of which no future is known any more? */
static bool began_late(void) {
  const struct aprof_header *h = rt.header;
  return h->epochs[h->epoch % APROF_EPOCHS].begin_tick != h->tick0;
}

/* Unknown key: the first sight of a future that nobody creates, or that was created before
   anybody looked; or an error. */
static SLOW struct aprof_future *run_unknown(struct thread *t, struct aprof_site *site,
                                             uint64_t key0, uint64_t key1,
                                             struct aprof_site *function, const void *self,
                                             uint64_t now) {
  /* The plugin knows the create lines of its own unit only. */
  bool orphan = (site->flags & APROF_ORPHAN) && !site_creates(site->ns);
  bool adopted = !orphan && function != NULL && began_late();
  if (!orphan && !adopted) {
    if (!(site->flags & APROF_QUIET))
      event_missed(t, APROF_MISS_RUN, site_id(site));
    return NULL;
  }
  struct aprof_future *f = future_born(t, function != NULL ? function : site, false, now);
  if (f == NULL)
    return NULL;
  if (function == NULL && self != NULL)
    name_by_address(t, f, self, APROF_MODEL_CALLBACK, false);
  if (adopted)
    event_missed(t, APROF_MISS_BEFORE, site_id(site));
  f->flags = function != NULL ? APROF_F_NAMED : 0;
  f->ns = site->ns;
  f->key0 = key0;
  f->key1 = key1;
  f->create_site = site_id(function != NULL && !adopted ? function : site);
  key_insert(f);
  tell(APROF_EVENT_CREATED, f, f->create_site, now);
  return f;
}

/* -- polling: a run after which the same wait may go on ------------------------- */

/* Its sum grows, but it is not over yet. */
static SLOW bool poll_begin(struct thread *t, struct aprof_token *token, struct aprof_future *f,
                            uint64_t now) {
  if (f->state != APROF_FUTURE_WAITING || !(f->flags & APROF_F_IMPLICIT) || f->wake_tick != 0) {
    f->polled = 0;
    return false;
  }
  uint64_t passed = elapsed(f->last, now);
  f->waiting += passed;
  f->polled += passed;
  counters_of(t, f->await)->await.waiting += passed;
  if (!bracket_indexed(token))
    bracket_index(token, index_of(bracket_future(token)), bracket_body(token) ? BRACKET_BODY : 0);
  token->word[2] = (token->word[2] & UINT32_MAX) | BRACKET_POLL | (t->slice_count & 0xfff) << 32 |
                   (uint64_t)f->await << 44;
  return true;
}

/* True: it goes on, at the same place. Else it is over, and counted. */
static SLOW bool poll_end(struct thread *t, struct aprof_token *token, struct aprof_future *f,
                          int how, uint64_t now) {
  uint32_t await = (uint32_t)(token->word[2] >> 44);
  if (how == APROF_POLLED && t->cur == f) {
    close_running(t, now);
    set_waiting(f, await, now);
    f->flags |= APROF_F_IMPLICIT;
    return true;
  }
  struct aprof_counters *a = counters_of(t, await);
  a->await.count++;
  raise_max(t, &a->await.max, f->polled);
  histogram_add(t, await, OF_WAITING, &a->await.histogram, f->polled);
  f->polled = 0;
  return false;
}

/* It was made for one function, and this body is another one: of callbacks of one type, on
   one object, each has a future of its own. */
static bool of_another(struct aprof_future *f, struct aprof_site *function, const void *self) {
  uint32_t known = node_site(f->node);
  if ((f->flags & APROF_F_NAMELESS) || known == 0 || known == site_id(function))
    return false;
  uint64_t address = site_record(known)->address;
  return address == 0 || (self != NULL && address != (uint64_t)(uintptr_t)self);
}

/* The future of the create bracket that is open here, which no body has run yet: one
   that has its key is its own. */
static struct aprof_future *published_here(const struct thread *t,
                                           const struct aprof_site *function) {
  struct aprof_future *f = t->published;
  if (likely(f == NULL) || f->id != t->published_id || function == NULL)
    return NULL;
  return !(f->flags & APROF_F_STARTED) ? f : NULL;
}

void general_run_begin(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                       uint64_t key1, struct aprof_site *function, const void *self) {
  struct thread *t = event_begin_as(site->flags & APROF_ORPHAN);
  if (unlikely(t == NULL))
    return;
  struct aprof_future *caller = t->cur, *f, *runs;
  bool born = false, taken = false;
  f = runs = unlikely(site->flags & APROF_TUPLE)
                 ? key_take(key0, key1, site->ns, published_here(t, function), &taken)
                 : key_find(key0, key1, site->ns);
  uint64_t now = event_time(t), id = f != NULL ? key_id(f, key0, key1) : 0;
  if (unlikely(id == 0)) {
    runs = f = run_unknown(t, site, key0, key1, function, self, now);
    if (f == NULL)
      goto out;
    id = f->id;
    born = true;
  } else if ((site->flags & APROF_OWN) && of_another(f, function, self)) {
    f->open -= taken;
    goto out;
  } else if (unlikely(f->state == APROF_FUTURE_ASIDE)) {
    runs = innermost(f);
  }
  if (unlikely(runs->state == APROF_FUTURE_RUNNING || runs->state == APROF_FUTURE_ASIDE) && !born) {
    if (runs != caller && runs->state == APROF_FUTURE_RUNNING) {
      node_shared(runs->node);
      event_missed(t, APROF_MISS_BUSY, site_id(site));
    }
    f->open -= taken;
    goto out; /* inside itself: idempotent */
  }
  if (unlikely(runs == f && f->lease != t->lease) && !future_take(t, f, id)) {
    f->open -= taken; /* it is being ended */
    goto out;
  }
  now = not_before(now, runs);
  if (function != NULL && unlikely(!(f->flags & APROF_F_NAMED)))
    future_named(t, f, function, self);
  f->caller = caller != NULL ? index_of(caller) : 0;
  f->outer = f->node;
  if (caller != NULL) {
    close_running(t, now);
    put_aside(t, caller, take_call_site(t, function != NULL ? function : site), index_of(f), now);
    for (struct aprof_future *g = runs; g != f; g = future_at(g->caller))
      g->outer = 0;
    f->outer = 0;
  } else {
    close_rest(t->block, now);
    slice_open(t, f, now,
               runs->state == APROF_FUTURE_WAITING ? node_site(runs->await)
                                                   : node_site(runs->node));
  }
  if (unlikely(site->flags & APROF_WORKER) && caller == NULL)
    slice_open_worker(t);
  bracket_open(t, token, f, id, caller, function);
  if (runs->state == APROF_FUTURE_WAITING)
    await_known(t, runs->await);
  if (unlikely(site->flags & APROF_POLLING) && poll_begin(t, token, runs, now))
    ; /* the wait may go on */
  else if (!born)
    close_off_thread(t, runs, now);
  f->open += !taken;
  f->flags |= APROF_F_STARTED;
  set_running(t, runs, now);
  tell(APROF_EVENT_RUNNING, runs, site->id, now);
out:
  event_end(t);
}

/* How the bracket of f ends it, given what was asked while it ran. */
static inline int run_verdict(struct thread *t, struct aprof_future *f, int how) {
  uint8_t ending = f->ending;
  if (likely(ending == 0))
    return how;
  f->ending = 0;
  if (ending == ENDING_REARMED)
    return APROF_PENDING;
  if (ending != ENDING_KEYLESS)
    return ending - 1;
  if (how < APROF_PENDING)
    return how;
  struct aprof_future *heir = key_find(f->key0, f->key1, f->ns);
  event_missed(t, APROF_MISS_REUSED, heir != NULL ? heir->create_site : f->create_site);
  return APROF_CANCELLED;
}

/* Where a future that stops running without an await of its own waits. */
static uint32_t pause_place(struct thread *t, struct aprof_future *f, struct aprof_site *where) {
  if (where == NULL)
    return node_of_site_slow(f->node, f->create_site, true);
  if (t->polled == f && t->polled_sequence == t->block->sequence)
    return t->polled_node; /* on the stackless child it polled last */
  return node_find(t, f->node, where, true)->node;
}

/* The running future, whose exec is closed, waits until it is run again. */
static void pause_running(struct thread *t, struct aprof_site *where, uint64_t now, uint64_t due) {
  struct aprof_future *f = t->cur;
  if (f->await == 0) {
    uint32_t await = pause_place(t, f, where);
    set_waiting(f, await, now);
    f->flags |= APROF_F_IMPLICIT;
    struct aprof_counters *a = waits_at(t, f);
    if (where == NULL && a->await.function == (uintptr_t)t->counters) {
      t->counters->function.last_site = 0;
      t->counters->function.last_await = (uintptr_t)a;
    }
  } else {
    set_waiting(f, f->await, now);
  }
  if (unlikely(due != 0) && f->wake_tick == 0) /* woken, it need not wait for that */
    future_wakes_at(f, due);
  tell(APROF_EVENT_WAITING, f, node_site(f->await), now);
}

/* f, whose bracket closes, still runs here, or a body above it does. */
static void run_stop(struct thread *t, const struct aprof_token *token, struct aprof_future *f,
                     int how, struct aprof_site *where, bool held, uint64_t now) {
  uint32_t last = where != NULL ? site_id(where) : node_site(t->cur->node);
  /* This stack, also where f itself goes on. */
  bool over = bracket_body(token) || how < APROF_PENDING;
  uint64_t due = unlikely(f->ending == ENDING_REARMED) ? f->polled : 0;
  if (unlikely(f->ending != 0))
    f->polled = 0;
  how = run_verdict(t, f, how);
  if (unlikely(t->cur != f) && (over || how < APROF_PENDING))
    unwind_to(t, t->cur, f, now);
  close_running(t, now);
  if (!held)
    slice_close(t, now, last);
  if (t->cur != f || how >= APROF_PENDING)
    pause_running(t, where, now, t->cur == f ? due : 0);
  else
    future_over(t, f, token->word[0], how, now);
  set_resting(t, now);
}

void general_run_end(struct aprof_token *token, int how, struct aprof_site *where) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  if (unlikely(!token_current(t, token->word[0])))
    goto out;
  struct aprof_future *f = bracket_future(token);
  struct aprof_future *caller = bracket_below(token, bracket_indexes(token));
  uint64_t now = event_time(t);
  if (unlikely(caller != NULL && f->id != token->word[0]) &&
      ((f->id != 0 && f->caller == index_of(caller)) ||
       aside_for(caller) != (uint32_t)token->word[0]))
    caller = NULL; /* it is aside for another one, which has the record now */
  bool alive = f->id == token->word[0], polled = false, held = t->cur != NULL;
  if (likely(alive)) {
    if (likely(runs_here(t, f))) {
      now = not_before(now, t->cur);
      if (bracket_polls(token) && poll_end(t, token, f, how, now)) {
        if (caller == NULL)
          slice_close(t, now, node_site(f->node));
        set_resting(t, now);
      } else {
        run_stop(t, token, f, how, where, caller != NULL, now);
      }
      polled = how >= APROF_PENDING && where != NULL;
    } else if (unlikely(f->ending != 0 && !is_busy(f))) {
      if (f->ending == ENDING_REARMED)
        f->polled = 0; /* when it was due: it suspended instead of waiting for that */
      how = run_verdict(t, f, how);
      if (how < APROF_PENDING)
        end_waiting(t, f, token->word[0], how, now); /* it was asked to, and waits meanwhile */
    }
    /* Last: of equal tuples, another thread may run it from here on. 0: closed before. */
    if (f->id == token->word[0] && f->open != 0)
      __atomic_store_n(&f->open, (uint8_t)(f->open - 1), __ATOMIC_RELEASE);
  }
  if (caller != NULL) {
    if (unlikely(t->cur != NULL)) {
      abandon_running(t, now);
      held = false;
    } else {
      close_rest(t->block, now);
    }
    now = not_before(now, caller);
    uint32_t called_from = caller->await;
    bool immediate = bracket_immediate(t, token);
    if (!held)
      slice_open(t, caller, now, node_site(called_from));
    restore(t, caller, now, immediate);
    if (polled) {
      t->polled = caller;
      t->polled_node = called_from;
      t->polled_sequence = t->block->sequence + 2; /* while inside the next event */
    }
  } else {
    t->suspended = NULL;
  }
out:
  event_end(t);
}

/* -- wake, end, idle --------------------------------------------------------- */

/* A wake counts once; a due time that is still to come gives way to it. It is for what
   would go on: on a stack, the innermost; what does not wait now will not wait the next time. */
static void wake_future(struct thread *t, struct aprof_future *f, struct aprof_site *site) {
  f = innermost_own(f);
  uint64_t seen = __atomic_load_n(&f->wake_tick, __ATOMIC_RELAXED);
  if (f->state == APROF_FUTURE_RUNNING || f->state == APROF_FUTURE_ASIDE) {
    if (seen == 0)
      __atomic_compare_exchange_n(&f->wake_tick, &seen, site_id(site), false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED);
    return;
  }
  if (f->state != APROF_FUTURE_WAITING)
    return;
  uint64_t now = not_before(event_time(t), f);
  if (seen != 0 && seen <= now)
    return;
  if (__atomic_compare_exchange_n(&f->wake_tick, &seen, now ? now : 1, false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED)) {
    __atomic_store_n(&f->wake_site, site_id(site), __ATOMIC_RELAXED);
    tell(APROF_EVENT_QUEUED, f, site->id, now);
  }
}

void general_wake(struct aprof_site *site, uint64_t key0, uint64_t key1) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct key_search s = key_searching(key0, key1, site->ns);
  struct aprof_future *f = key_next(&s, NULL);
  if (unlikely(f == NULL) && site->ns != APROF_NS_ANY)
    event_missed(t, APROF_MISS_WAKE, site_id(site));
  else if (f != NULL)
    site_found(site);
  const struct aprof_future *first = f;
  while (f != NULL) {
    wake_future(t, f, site);
    f = key_next(&s, f);
    if (f == first)
      break;
  }
  event_end(t);
}

void general_wake_current(struct aprof_site *site) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  if (t->cur != NULL)
    wake_future(t, t->cur, site);
  else if (t->suspended != NULL && t->suspended->id == t->suspended_id &&
           t->suspended->lease == t->lease)
    wake_future(t, t->suspended, site);
  event_end(t);
}

/* f, of this id, runs here, and is over with that. */
static void end_running(struct thread *t, struct aprof_future *f, uint64_t id, int how,
                        uint64_t now) {
  close_running(t, now);
  slice_close(t, now, node_site(f->node));
  future_over(t, f, id, how, now);
  set_resting(t, now);
}

/* f, which is this thread's, runs, or a bracket of it is open. */
static void end_mine(struct thread *t, struct aprof_future *f, uint64_t id, int how, uint64_t now) {
  if (f->flags & APROF_F_KEYED)
    key_remove(f);
  if (f->open != 0) {
    f->ending = (uint8_t)(1 + how); /* when its bracket closes */
  } else if (f == t->cur) {
    end_running(t, f, id, how, now);
  }
}

/* True: it can be found no more. */
static bool end_future(struct thread *t, struct aprof_future *f, uint64_t id, int how) {
  uint64_t now = event_time(t);
  for (unsigned i = 0; i < TRIES; i++) {
    if (end_at_rest(t, f, id, how, now) || f->id != id)
      return true;
    if (runner_lease(t, f, id) == t->lease && is_busy(f)) {
      end_mine(t, f, id, how, now);
      return true;
    }
    if (end_asked(t, f, id, how))
      return f->id != id;
  }
  return false;
}

/* The call that ends it does not return, so no bracket inside it closes: f, which runs
   here, is over at once, with all that lies above it. Whom it was called by goes on when
   its own bracket closes. */
static bool end_unreturned(struct thread *t, struct aprof_future *f, uint64_t id, int how) {
  if (t->cur == NULL || !runs_here(t, f))
    return false;
  uint64_t now = not_before(event_time(t), t->cur);
  if (t->cur != f && !unwind_to(t, t->cur, f, now))
    return false;
  if (f->flags & APROF_F_KEYED)
    key_remove(f);
  end_running(t, f, id, how, now);
  return true;
}

static bool end_of(struct thread *t, struct aprof_future *f, uint64_t id,
                   const struct aprof_site *site, int how) {
  return ((site->flags & APROF_NORETURN) && end_unreturned(t, f, id, how)) ||
         end_future(t, f, id, how);
}

void general_end(struct aprof_site *site, uint64_t key0, uint64_t key1, int how) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct key_search s = key_searching(key0, key1, site->ns);
  struct aprof_future *f = key_next(&s, NULL);
  if (unlikely(f == NULL) && site->ns != APROF_NS_ANY)
    event_missed(t, APROF_MISS_END, site_id(site));
  else if (f != NULL)
    site_found(site);
  while (f != NULL) {
    /* What another thread is asked to end goes by no key from here on; but equal keys do. */
    bool gone = end_of(t, f, key_id(f, key0, key1), site, how) || key_withdraw(f, key0, key1);
    s.cell = 0; /* others may have been found since */
    /* any: names every future of the address; each look-up finds another. */
    f = site->ns != APROF_NS_ANY ? NULL : gone ? key_find(key0, key1, site->ns) : key_next(&s, f);
  }
  event_end(t);
}

void general_end_current(struct aprof_site *site, int how) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  if (t->cur != NULL)
    end_of(t, t->cur, t->cur->id, site, how);
  else
    event_missed(t, APROF_MISS_CURRENT, site_id(site));
  event_end(t);
}

void general_idle_begin(struct aprof_site *site, struct aprof_token *token) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = t->cur;
  if (f == NULL && t->rest == APROF_THREAD_IDLE)
    goto out; /* inside itself: idempotent */
  uint64_t now = idle_time(t);
  token->word[0] = (uint64_t)t->epoch << 48 | 1;
  token->word[1] = 0;
  token->word[2] = t->rest;
  if (f != NULL) {
    close_running(t, now);
    put_aside(t, f, take_call_site(t, site), CALLEE_IDLE, now);
    slice_close(t, now, site_id(site));
    token->word[0] = f->id;
    token->word[1] = (uintptr_t)f;
  } else {
    close_rest(t->block, now);
  }
  t->suspended = NULL;
  t->idler = f;
  t->rest = APROF_THREAD_IDLE;
  set_resting(t, now);
out:
  event_end(t);
}

void general_idle_end(struct aprof_token *token) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = record_of(token->word[1]);
  if (!token_current(t, token->word[0])) {
    /* It has been open since before this epoch, or as the thread was last in it. */
    if (t->cur == NULL) {
      uint64_t woke = idle_time(t);
      t->block->idle += woke - t->block->last;
      set_resting(t, woke);
    }
    goto out;
  }
  t->rest = token->word[2] == APROF_THREAD_IDLE ? APROF_THREAD_IDLE : APROF_THREAD_OTHER;
  t->idler = NULL;
  slice_polled(t, t->block->last);
  uint64_t now = idle_time(t);
  if (t->cur == NULL)
    close_rest(t->block, now);
  if (f->id == token->word[0] && is_aside(f, CALLEE_IDLE)) {
    if (t->cur != NULL)
      abandon_running(t, now);
    now = not_before(now, f);
    slice_open(t, f, now, node_site(f->await));
    restore(t, f, now, false);
  } else if (t->cur == NULL) {
    set_resting(t, now);
  }
out:
  event_end(t);
}
