/* SPDX-License-Identifier: MIT */
/*
 * The fast events of creates, by the loop or by a running future. See fast.c for why, and create.c
 * for what they do.
 */
#include "birth.h"
#include "fast-key.h"

void finish_putting(uint64_t word, struct aprof_block *b) {
  key_put(word);
  finish(b);
}

/* Whose name there is none for, yet; that of a root has an entry of its own: root_slow. */
ALWAYS struct aprof_site *fast_nameless(struct aprof_site *site, bool root) {
  return root ? (struct aprof_site *)((uintptr_t)site + 1) : site;
}

/* The wrapper of the program's own in which it is created, where its creates are reported; 0: in
   none. */
ALWAYS uint32_t fast_helper(const struct aprof_future *creator, const struct aprof_token *token) {
  if (creator == NULL) {
    struct aprof_site *helper = helper_around(token);
    return helper != NULL ? site_id(helper) : 0;
  }
  uint32_t place = creator->await != 0 ? node_site(creator->await) : 0;
  return place != 0 && (site_record(place)->flags & APROF_HELPER) ? place : 0;
}

/* Odd: what is going to be a part of a request, or is created inside an await or another create, or
   of whose function no body has told its name. */
ALWAYS void fast_create_begin(struct thread *t, struct aprof_block *b, struct aprof_site *site,
                              struct aprof_token *token, struct aprof_site *function,
                              const void *fn, uint32_t clock, create_begin_event *other, bool odd) {
  struct aprof_future *creator = b->state == APROF_THREAD_RUNNING ? t->cur : NULL;
  if ((!odd && unlikely(t->tentative != NULL)) || unlikely(!nonzero(&t->free_list)) ||
      unlikely(site->flags & (APROF_KEYLESS | (odd ? 0 : APROF_BACKGROUND | APROF_ROOT))))
    goto undo;
  uint32_t above = 0, place = 0;
  bool root = odd && (site->flags & APROF_ROOT);
  if (creator != NULL) {
    above = root ? 0 : fast_above(t, creator->node, clock);
    if (!odd && unlikely((creator->await | creator->request) != 0))
      goto undo;
  } else if (!odd && unlikely(events_helper.at != 0)) {
    goto undo;
  }
  if (odd && (place = fast_helper(creator, token)) != 0 && (site->flags & APROF_BACKGROUND))
    goto undo;
  struct aprof_site *at = place != 0 ? number_as_site(place, APROF_NODE_AWAIT) : site;
  struct aprof_site *made = function != NULL ? function
                            : fn != NULL     ? address_as_site(fn)
                                             : fast_nameless(site, root);
  struct node_entry *e = fast_node_of(t, above, made, false, odd);
  bool alone = odd && e == NULL && function == NULL && fn != NULL;
  if (alone)
    e = fast_node_of(t, above, address_alone(fn), false, true);
  if (unlikely(e == NULL) || (alone && node_has_name(e->node)))
    goto undo;
  if (unlikely(e->callee != at)) {
    struct node_entry *waits = fast_node_of(t, e->node, at, true, odd);
    if (unlikely(waits == NULL) || unlikely(waits == e) || waits->counters->await.function == 0)
      goto undo;
    e->callee = at;
    e->callee_counters = site_waits(site->flags) ? waits->counters : e->counters;
    uint8_t named = made == fast_nameless(site, root) ? APROF_F_NAMELESS : APROF_F_NAMED;
    begins_so(&e->begins, e->node, APROF_FUTURE_TENTATIVE, alone ? 0 : named, 0, t->lease, site->ns,
              place != 0 ? place : site->id);
    e->begins.await = waits->node;
  }
  uint64_t now = fast_clock(clock);
  if (backwards(now - b->last))
    goto undo;
  uint32_t index = t->free_list, parent = creator != NULL ? index_of(creator) : 0;
  struct aprof_future *f = future_at(index);
  uint64_t id = record_begin(t, f, now, &e->begins, e->callee_counters);
  record_nears(future_at(t->free_list)); /* the next one */
  f->outer = e->node;
  f->caller = 0;
  if (odd)
    f->ns = site->ns;      /* other creates may lie in the same helper */
  f->polled = site->flags; /* until its bracket closes */
  tentative_lies(f, token, odd ? t->tentative : NULL);
  f->parent = parent;
  if (odd)
    member_created(t, f, site->flags, now);
  publish_fence();
  f->id = id;
  bracket_open_at(t, token, f, index, id, creator, parent, NULL);
  t->tentative = f;
  t->tentative_id = id;
  finish(b);
  return;
undo:
  odd ? create_begin_undone(t, site, token, function, fn) : other(site, token, function, fn);
}

/* f can be found from here on. */
ALWAYS void note_settled(struct thread *t, const struct aprof_future *f) {
  if (!NOTES)
    return;
  note_born(t, f, f->parent != 0 && aprof_is_parent(future_at(f->parent), f), true, f->last);
  if (f->state == APROF_FUTURE_WAITING)
    note(t, APROF_TRACE_WAITING, f, f->await, f->last);
}

/* The bracket's future, if no body ran inside; else NULL. `nested`: another one may be around.
   Without a key nobody else has found it: it is still this thread's. */
ALWAYS struct aprof_future *fast_tentative(const struct thread *t, const struct aprof_token *token,
                                           bool nested) {
  uint64_t id = token->word[0];
  struct aprof_future *f = t->tentative;
  return unlikely(t->tentative_id != id) || unlikely(f->id != id) ||
                 unlikely(f->state != APROF_FUTURE_TENTATIVE) ||
                 (!nested && unlikely(tentative_inside(f)))
             ? NULL
             : f;
}

/* It waits from here on, or is queued, while its bracket may still be open. */
ALWAYS void fast_settle(struct thread *t, struct aprof_future *f, struct aprof_token *token,
                        uint64_t key0, uint64_t key1, bool still_open, bool nested) {
  uint32_t flags = (uint32_t)f->polled;
  /* First: while it is tentative, its key is its bracket; a jump may leave this event. */
  tentative_is(t, nested ? tentative_around(f) : NULL);
  if (still_open) {
    token->word[2] |= BRACKET_PUBLISHED;
    t->published = f;
    t->published_id = token->word[0];
  }
  publish_fence();
  f->polled = 0;
  f->open = 0; /* see open_free of rt/future/key.c */
  f->key0 = key0;
  f->key1 = key1;
  created_rests(t, f, flags, APROF_F_KEYED);
  note_settled(t, f);
}

/* No future has that key: from here on it can be found. False: nothing has changed. */
ALWAYS bool fast_publish(struct thread *t, struct aprof_token *token, uint64_t key0, uint64_t key1,
                         bool still_open) {
  struct aprof_future *f = fast_tentative(t, token, false);
  if (unlikely(f == NULL) || unlikely(f->polled & (APROF_TUPLE | APROF_KEYLESS)))
    return false;
  uint32_t hash = key_hash(key0, key1);
  struct key_segment *segment = directory_at(&key_directory, hash);
  uint64_t seen, *place = fast_vacancy(segment, hash, &seen);
  if (unlikely(place == NULL))
    return false;
  fast_settle(t, f, token, key0, key1, still_open, false);
  finish_at(f, t->block, segment, place, seen, hash);
  return true;
}

/* The key was known before the call, and no future that is aside waits for this end: nothing is
   left to do, whatever has become of what was created, here or on another thread. */
ALWAYS bool fast_published(struct thread *t, const struct aprof_token *token) {
  uint64_t id = token->word[0];
  uint32_t below = bracket_indexed(token) ? (uint32_t)(token->word[2] & BRACKET_INDEX) : 0;
  if (unlikely(!(token->word[2] & BRACKET_PUBLISHED)) || unlikely(!token_current(t, id)) ||
      unlikely(t->tentative_id == id) || unlikely(below != 0 && running(t) != future_at(below)))
    return false;
  t->published = NULL;
  finish(t->block);
  return true;
}

/* What runs here makes its successor itself, and gives its key up to it: its bracket tells whether
   it is over. False: `old` does not run here, or was asked to end. */
APART bool fast_succeeds(struct thread *t, struct aprof_future *old, uint64_t key0, uint64_t key1) {
  uint8_t none = 0;
  if (t->block->state != APROF_THREAD_RUNNING || t->cur != old || old->lease != t->lease ||
      old->open == 0 || key_id(old, key0, key1) == 0 ||
      !swapped(&old->ending, &none, ENDING_KEYLESS, SEQ_CST))
    return false;
  key_remove(old);
  return true;
}

/* `old` has the key, and goes on, armed again as f, which is none then. False: it does not. */
APART bool fast_rearms(struct thread *t, struct aprof_future *old, struct aprof_future *f,
                       uint64_t key0, uint64_t key1) {
  uint64_t id = key_id(old, key0, key1);
  if (id == 0 || !key_rearmed(t, old, id, f, event_time(t)))
    return false;
  tentative_is(t, tentative_around(f));
  if (future_claim(f, f->id))
    future_free(t, f);
  finish_member(t, t->block);
  return true;
}

/* Others that are equal may have the key, and keep it; or the first place is another key's, or what
   runs here has it, or is armed again; or the create lies in another one. False: nothing has
   changed. */
ALWAYS bool fast_publish_equal(struct thread *t, struct aprof_token *token, uint64_t key0,
                               uint64_t key1, bool still_open) {
  struct aprof_future *f = fast_tentative(t, token, true);
  if (f == NULL || (f->polled & APROF_KEYLESS))
    return false;
  bool equal = f->polled & APROF_TUPLE, rearms = f->polled & APROF_REARM;
  if (!equal && !rearms) {
    uint32_t hash = key_hash(key0, key1);
    struct key_segment *segment = directory_at(&key_directory, hash);
    uint64_t seen, *place = tentative_inside(f) ? fast_vacancy(segment, hash, &seen) : NULL;
    if (place == NULL) /* or it was looked at before */
      place = key_vacancy(hash, &segment, &seen);
    if (place != NULL) {
      fast_settle(t, f, token, key0, key1, still_open, true);
      finish_at(f, t->block, segment, place, seen, hash);
      return true;
    }
  }
  struct aprof_future *old = equal && !rearms ? NULL : key_find(key0, key1, f->ns);
  if (old != NULL && still_open && (rearms || running(t) != old)) {
    finish(t->block); /* the call's result tells */
    return true;
  }
  if (old != NULL && rearms)
    return fast_rearms(t, old, f, key0, key1);
  if (old != NULL && !fast_succeeds(t, old, key0, key1))
    return false;
  fast_settle(t, f, token, key0, key1, still_open, true);
  if (equal)
    key_insert_equal(f);
  else
    key_insert(f);
  finish(t->block);
  return true;
}

/* Both go on inside the event, where it is no usual key. */
APART void create_equal(struct aprof_token *token, uint64_t key0, uint64_t key1, bool still_open) {
  struct thread *t = aprof_self;
  if (fast_publish_equal(t, token, key0, key1, still_open))
    return;
  unbegin(t);
  if (still_open)
    GENERAL(create_key)(token, key0, key1);
  else
    GENERAL(create_end)(token, key0, key1, true);
}

static void create_end_any(struct aprof_token *token, uint64_t key0, uint64_t key1, int ok) {
  struct thread *t = aprof_self;
  if (likely(ok) && begin(t, block_here())) {
    if (!fast_publish(t, token, key0, key1, false) && !fast_published(t, token))
      create_equal(token, key0, key1, false);
    return;
  }
  GENERAL(create_end)(token, key0, key1, ok);
}

static void create_key_any(struct aprof_token *token, uint64_t key0, uint64_t key1) {
  struct thread *t = aprof_self;
  if (begin(t, block_here())) {
    if (!fast_publish(t, token, key0, key1, true))
      create_equal(token, key0, key1, true);
    return;
  }
  GENERAL(create_key)(token, key0, key1);
}

/* -- one set per clock --------------------------------------------------------- */

#define SET(name, clock) APROF_GATE_create_begin(BOTH, name)
#define GOVERNED(clock) APROF_GATE_create_begin(CHOOSE, clock)

#include "fast-sets.h"

void fast_creates(struct aprof_gate *gate, uint32_t clock) {
  gate->create_begin = FOR_CLOCK(clock, create_begin);
  gate->create_key = create_key_any;
  gate->create_end = create_end_any;
}
