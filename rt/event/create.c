/* SPDX-License-Identifier: MIT */
/*
 * Creates: a future from before its call until somebody can find it by its key.
 *
 *     create_begin (site, tok, fn); r = uv_write (req, ...); create_end (tok, key, ok (r));
 *
 * A tentative record stands for the future while its create bracket is open, so
 * that a body entered inside can adopt it; until the bracket closes nobody can
 * find it and no count has it.
 */
#include "begin.h"
#include "birth.h"
#include "gates.h"
#include "rt/count/miss.h"
#include "rt/future/key.h"
#include "rt/future/record.h"
#include "rt/request/member.h"
#include "tokens.h"

/* The place at which a create is reported: its own call, or that of the program's wrapper in which
   it lies. */
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
    f = future_born(t, fn == NULL ? site : NULL, root, now);
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
  f->ns = site->ns;
  f->origin = create_place(t, site, token);
  f->polled = site->flags; /* until its bracket closes */
  tentative_lies(f, token, t->tentative);
  f->await = likely(aprof_create_site(f) == site->id)
                 ? node_find(t, f->node, site, true)->node
                 : node_beneath(t, f->node, aprof_create_site(f), APROF_NODE_AWAIT)->node;
  waits_at(t, f);
  member_created(t, f, site->flags, now);
  tentative_is(t, f);
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
  nothing_runs(t, now);
  bool immediate = bracket_immediate(t, token);
  slice_open(t, creator, now, node_site(creator->await));
  restore(t, creator, now, immediate);
}

static bool is_same(const struct aprof_future *old, const struct aprof_future *f) {
  return (f->flags & APROF_F_NAMELESS) || function_site(old) == function_site(f);
}

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
  swapped(&old->polled, &due, before, SEQ_CST);
  return false;
}

/* The waiting future is due anew, or at no time any more (0); until now it was not, whatever its
   bracket took. One that somebody woke stays runnable, and so does one that is overdue and due
   again at once. False: it was over. */
static bool rearm_waiting(struct thread *t, struct aprof_future *old, uint64_t id, uint64_t due,
                          uint64_t now) {
  uint64_t before = __atomic_load_n(&old->wake_tick, __ATOMIC_RELAXED);
  bool woken =
      is_mark(before) || (before != 0 && __atomic_load_n(&old->wake_site, __ATOMIC_RELAXED) != 0);
  bool overdue = before != 0 && before <= now;
  if (old->id == id && old->state == APROF_FUTURE_WAITING && !woken && before != due) {
    if (!overdue)
      future_wakes_at(old, due = due == 0 || due > now ? due : now);
    else if (due == 0 || due > now)
      rearm_at_rest(t, old, id, due, now);
  }
  if (likely(__atomic_load_n(&old->id, __ATOMIC_ACQUIRE) == id))
    return true;
  swapped(&old->wake_tick, &due, 0, RELAXED);
  return false; /* the record's next one was not meant */
}

/* Like key_taken, for a record that another thread may write, or that another future may have by
   now. First the bracket is told to end it, then the key goes: from then on no fast event over
   there takes the key's word for its own, which may soon be another key's. */
static SLOW bool key_taken_elsewhere(struct thread *t, struct aprof_future *old, uint64_t id,
                                     struct aprof_future *f, uint64_t key0, uint64_t key1,
                                     uint32_t flags, uint64_t now) {
  bool replaced = flags & APROF_REARM;
  if (replaced && is_same(old, f)) {
    if (is_busy(old) && rearm_asked(t, old, id, f->wake_tick))
      return true;
    member_handed(t, old, id, now); /* first: until now it was not due anew */
    return rearm_waiting(t, old, id, f->wake_tick, now);
  }
  uint8_t ending = replaced ? 1 + APROF_DONE : ENDING_KEYLESS;
  bool ended = false, asked = false;
  for (unsigned i = 0; i < TRIES && !ended && !asked && old->id == id; i++) {
    ended = end_at_rest(t, old, id, APROF_CANCELLED, now);
    if (ended || !is_busy(old))
      continue;
    key_settled(t, old);
    asked = old->open == 0 || (old->ending != 0 && old->ending != ENDING_REARMED) ||
            future_asked(t, old, id, ending);
  }
  if (ended && !replaced)
    event_missed(t, APROF_MISS_REUSED, aprof_create_site(f));
  if (!ended && old->id == id)
    key_withdraw(old, key0, key1);
  return false;
}

bool key_rearmed(struct thread *t, struct aprof_future *old, uint64_t id,
                 const struct aprof_future *f, uint64_t now) {
  if (is_elsewhere(t, old, id) || !is_same(old, f))
    return false;
  /* Due anew, or at no time any more; while it is busy, in the wait that comes behind its run. */
  if (is_busy(old)) {
    old->ending = ENDING_REARMED;
    old->polled = f->wake_tick;
  } else {
    member_handed(t, old, id, now);
    rearm_waiting(t, old, id, f->wake_tick, now);
  }
  return true;
}

/* The key belongs to a future that lives. True: that one goes on (rearm). */
static SLOW bool key_taken(struct thread *t, struct aprof_future *old, uint64_t id,
                           struct aprof_future *f, uint64_t key0, uint64_t key1, uint32_t flags,
                           uint64_t now) {
  if ((flags & APROF_REARM) && key_rearmed(t, old, id, f, now))
    return true;
  if (is_elsewhere(t, old, id))
    return key_taken_elsewhere(t, old, id, f, key0, key1, flags, now);
  key_remove(old);
  bool replaced = flags & APROF_REARM; /* who arms anew expects one there */
  if (end_at_rest(t, old, id, APROF_CANCELLED, now)) {
    if (!replaced)
      event_missed(t, APROF_MISS_REUSED, aprof_create_site(f));
  } else if (old->open != 0 && (!old->ending || old->ending == ENDING_REARMED)) {
    old->ending = replaced ? 1 + APROF_DONE
                           : ENDING_KEYLESS; /* its bracket tells whether it was over anyway */
  }
  return false;
}

/* No longer the innermost create bracket of this thread. */
static void forget_tentative(struct thread *t, const struct aprof_future *f, uint64_t id,
                             bool tentative) {
  if (t->tentative == f && t->tentative_id == id)
    tentative_is(t, tentative ? tentative_around(f) : NULL);
}

/* Does a future that has the key already give it up, or go on? Equal tuples live side by side,
   unless one is armed again. */
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
  if (tentative) {
    trace_born(t, f, f->last);
    tell(APROF_EVENT_CREATED, f, aprof_create_site(f), f->last);
    created_rests(t, f, flags, 0);
    if (f->state == APROF_FUTURE_WAITING)
      trace(t, APROF_TRACE_WAITING, f, f->await, f->last);
    else
      known_counters(t, f);
    f->open = 0; /* see open_free of rt/future/key.c */
  }
  /* Last: from here on another thread may run it. */
  if (flags & APROF_KEYLESS)
    return;
  if (flags & APROF_TUPLE)
    key_insert_equal(f);
  else
    key_insert(f);
}

/* f is a body, which may have gone on elsewhere: it does not end there until its key stands. */
static SLOW void publish_body(struct thread *t, struct aprof_future *f, uint64_t id, uint64_t key0,
                              uint64_t key1) {
  uint8_t ending = 0;
  bool stays = threads_share() && swapped(&f->ending, &ending, ENDING_KEYED, SEQ_CST);
  uint32_t lease = __atomic_load_n(&f->lease, __ATOMIC_SEQ_CST);
  if (stays && lease != t->lease)
    thread_settles(t, lease); /* out of the event in which it may have ended there */
  if (__atomic_load_n(&f->id, __ATOMIC_ACQUIRE) == id)
    publish(t, f, false, key0, key1);
  ending = ENDING_KEYED;
  if (stays)
    swapped(&f->ending, &ending, 0, SEQ_CST);
}

/* Gives the key back to the future that runs here, if f took it from that one. Whoever has taken it
   from f since has claimed f; those that are equal may have it, too. */
static void unpublish(struct thread *t, struct aprof_future *f) {
  key_remove(f);
  struct aprof_future *old = t->cur;
  if (old == NULL || old->ending != ENDING_KEYLESS || old->key0 != f->key0 ||
      old->key1 != f->key1 || old->ns != f->ns)
    return;
  old->ending = 0;
  key_insert_again(old);
}

void general_create_key(struct aprof_token *token, uint64_t key0, uint64_t key1) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = bracket_future(token), *old = NULL;
  if (takes_key((uint32_t)f->polled))
    old = key_find(key0, key1, f->ns);
  /* Where another future has the key, only the call's result tells whether it is over. Not so for
     one that makes its successor itself: the successor may run elsewhere before the call
     returns. */
  bool fresh = old == NULL || (t->cur == old && !(f->polled & APROF_REARM));
  if (token_current(t, token->word[0]) && f->id == token->word[0] &&
      f->state == APROF_FUTURE_TENTATIVE && fresh) {
    forget_tentative(t, f, f->id, true);
    publish(t, f, true, key0, key1);
    token->word[2] |= BRACKET_PUBLISHED;
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
  /* Looked at first: another thread that ends it takes its id away before its key. */
  bool keyed = __atomic_load_n(&f->flags, __ATOMIC_ACQUIRE) & APROF_F_KEYED;
  if (unlikely(__atomic_load_n(&f->id, __ATOMIC_RELAXED) != token->word[0]))
    goto out; /* ran to its end inside the bracket, or elsewhere */
  if (unlikely(!ok)) {
    bool unused = (f->flags & (APROF_F_KEYED | APROF_F_STARTED)) == APROF_F_KEYED;
    if ((tentative || (unused && future_hold(t, f, token->word[0]))) &&
        future_claim(f, token->word[0])) {
      if (unused) {
        unpublish(t, f); /* its key was published too early */
        trace(t, APROF_TRACE_UNBORN, f, 0, f->last);
      }
      future_free(t, f);
    }
    goto out;
  }
  /* What has had its key has given it up since, to its end or to a successor. */
  if (unlikely(keyed) || unlikely(token->word[2] & BRACKET_PUBLISHED))
    goto out;
  if (likely(tentative))
    publish(t, f, true, key0, key1);
  else
    publish_body(t, f, token->word[0], key0, key1);
out:
  event_end(t);
}

void general_due(struct aprof_token *token, uint64_t ns) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = bracket_future(token);
  if (token_current(t, token->word[0]) && f->id == token->word[0] &&
      f->state == APROF_FUTURE_TENTATIVE)
    future_due(f, ns);
  event_end(t);
}
