/* SPDX-License-Identifier: MIT */
/*
 * Runs of futures that are found by a key.
 *
 *     on_write (req) { run_begin (site, tok, key); body; run_end (tok, how, where); }
 */
#include "run.h"
#include "begin.h"
#include "birth.h"
#include "gates.h"
#include "rt/count/miss.h"
#include "rt/future/key.h"
#include "rt/future/record.h"
#include "rt/request/member.h"
#include "span.h"
#include "tokens.h"

/* Was there a time before this epoch, whose futures are not known any more? */
static bool began_late(void) {
  const struct aprof_header *h = rt.header;
  return h->epochs[h->epoch % APROF_EPOCHS].begin_tick != h->tick0;
}

/* The plugin knows the create lines of its own unit only. */
static bool makes_orphan(const struct aprof_site *site) {
  return (site->flags & APROF_ORPHAN) && !site_creates(site->ns);
}

static bool is_adopting(const struct aprof_site *function) {
  return function != NULL && began_late();
}

static void run_of_none(struct thread *t, struct aprof_site *site) {
  if (!(site->flags & APROF_QUIET))
    event_missed(t, APROF_MISS_RUN, site_id(site));
}

/* Unknown key: the first sight of a future that nobody creates, or that was created before
   anybody looked; or an error. */
static SLOW struct aprof_future *run_unknown(struct thread *t, struct aprof_site *site,
                                             uint64_t key0, uint64_t key1,
                                             struct aprof_site *function, const void *self,
                                             uint64_t now) {
  bool orphan = makes_orphan(site), adopted = !orphan && is_adopting(function);
  if (!orphan && !adopted) {
    run_of_none(t, site);
    return NULL;
  }
  struct aprof_future *f =
      future_born(t, function != NULL ? function : site, site->flags & APROF_ROOT, now);
  if (f == NULL)
    return NULL;
  if (function == NULL && self != NULL)
    name_by_address(t, f, self, APROF_MODEL_CALLBACK, site->flags & APROF_ROOT);
  if (adopted)
    event_missed(t, APROF_MISS_BEFORE, site_id(site));
  f->flags = function != NULL ? APROF_F_NAMED : 0;
  member_created(t, f, site->flags & APROF_ROOT, now);
  f->ns = site->ns;
  f->key0 = key0;
  f->key1 = key1;
  f->origin = site_id(function != NULL && !adopted ? function : site);
  key_insert(f);
  trace_born(t, f, now);
  tell(APROF_EVENT_CREATED, f, aprof_create_site(f), now);
  return f;
}

/* -- polling: a run after which the same wait may go on ------------------------- */

/* The wait's sum grows, but the wait is not over yet. */
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

/* True: the wait goes on, at the same place. False: it is over, and counted. */
static SLOW bool poll_end(struct thread *t, struct aprof_token *token, struct aprof_future *f,
                          int how, uint64_t now) {
  uint32_t await = (uint32_t)(token->word[2] >> 44);
  if (how == APROF_POLLED && t->cur == f) {
    close_running(t, now);
    set_waiting_as(t, f, APROF_TRACE_AGAIN, await, now);
    f->flags |= APROF_F_IMPLICIT;
    return true;
  }
  struct aprof_counters *a = counters_of(t, await);
  a->await.count++;
  raise_max(t, &a->await.max, f->polled);
  histogram_add(t, await, OF_WAITING, a, f->polled);
  f->polled = 0;
  return false;
}

/* f was made for one function, and this body is another: callbacks of one type, on one object, have
   a future each. */
static bool of_another(struct aprof_future *f, struct aprof_site *function, const void *self) {
  uint32_t known = node_function(f->node);
  if ((f->flags & APROF_F_NAMELESS) || known == 0 || known == site_id(function))
    return false;
  uint64_t address = site_record(known)->address;
  return address == 0 || (self != NULL && address != (uint64_t)(uintptr_t)self);
}

/* The future of the create bracket that is open here, if no body has run it yet: a body with its
   key is its own. */
static struct aprof_future *published_here(const struct thread *t,
                                           const struct aprof_site *function) {
  struct aprof_future *f = t->published;
  if (likely(f == NULL) || f->id != t->published_id || function == NULL)
    return NULL;
  return !(f->flags & APROF_F_STARTED) ? f : NULL;
}

static void give_back(struct aprof_future *f, uint64_t id, bool taken) {
  if (taken)
    run_given_back(f, id);
}

/* One of equal ones that is at rest: `taken`, it is this thread's, and no other one runs or ends
   it. What another thread is ending is left to it. */
static SLOW struct aprof_future *run_equal(struct thread *t, const struct aprof_site *site,
                                           uint64_t key0, uint64_t key1,
                                           const struct aprof_site *function, bool *taken) {
  struct key_search s = key_searching(key0, key1, site->ns);
  for (unsigned i = 0; i < TRIES; i++) {
    struct aprof_future *f = key_take(t, &s, published_here(t, function), taken);
    if (!*taken)
      return f;
    uint64_t id = key_id(f, key0, key1);
    if (id != 0 && (f->state == APROF_FUTURE_ASIDE || run_takes(t, f, id, true)))
      return f;
    give_back(f, id, id != 0);
  }
  *taken = false;
  return key_find(key0, key1, site->ns);
}

struct aprof_future *run_sought(struct thread *t, const struct aprof_site *site,
                                struct aprof_token *token, uint64_t key0, uint64_t key1,
                                struct aprof_site *function) {
  bool equal = site->flags & APROF_TUPLE, taken = false;
  if (unlikely(site->flags & APROF_POLLING))
    return NULL;
  struct aprof_future *f =
      equal ? run_equal(t, site, key0, key1, function, &taken) : key_find(key0, key1, site->ns);
  uint64_t id = f != NULL ? key_id(f, key0, key1) : 0;
  if (unlikely(id == 0))
    return NULL;
  if (!taken &&
      (equal || !run_may_begin(f) || /* or it is left to whom it is made for */
       ((site->flags & APROF_OWN) && of_another(f, function, NULL)) || !run_takes(t, f, id, false)))
    return NULL;
  token->word[0] = id;
  return f;
}

bool run_changes_nothing(struct thread *t, struct aprof_site *site, uint64_t key0, uint64_t key1,
                         const struct aprof_site *function) {
  const struct aprof_future *f = key_find(key0, key1, site->ns);
  if (f != NULL)
    return running(t) == f && f->state == APROF_FUTURE_RUNNING && f->lease == t->lease &&
           !(site->flags & APROF_TUPLE);
  bool counts = !(site->flags & APROF_QUIET);
  if (makes_orphan(site) || is_adopting(function) || (counts && !site_known(site)))
    return false;
  run_of_none(t, site);
  return true;
}

void general_run_begin(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                       uint64_t key1, struct aprof_site *function, const void *self) {
  struct thread *t = event_begin_as(site->flags & APROF_ORPHAN);
  if (unlikely(t == NULL))
    return;
  struct aprof_future *caller = t->cur, *f, *runs;
  bool born = false, taken = false;
  f = runs = unlikely(site->flags & APROF_TUPLE) ? run_equal(t, site, key0, key1, function, &taken)
                                                 : key_find(key0, key1, site->ns);
  uint64_t now = event_time(t), id = f != NULL ? key_id(f, key0, key1) : 0;
  if (unlikely(id == 0)) {
    taken = false; /* what was found is over */
    runs = f = run_unknown(t, site, key0, key1, function, self, now);
    if (f == NULL)
      goto out;
    id = f->id;
    born = true;
  } else if ((site->flags & APROF_OWN) && of_another(f, function, self)) {
    give_back(f, id, taken);
    goto out;
  } else if (unlikely(f->state == APROF_FUTURE_ASIDE)) {
    runs = innermost(f);
  }
  if (unlikely(runs->state == APROF_FUTURE_RUNNING || runs->state == APROF_FUTURE_ASIDE) && !born) {
    if (runs != caller && runs->state == APROF_FUTURE_RUNNING) {
      node_shared(function_node(runs->node));
      event_missed(t, APROF_MISS_BUSY, site_id(site));
    }
    give_back(f, id, taken);
    goto out; /* inside itself: idempotent */
  }
  if (unlikely(runs == f && f->lease != t->lease) && !taken && !run_takes(t, f, id, false)) {
    if (unlikely(site->flags & APROF_TUPLE))
      event_missed(t, APROF_MISS_BUSY, site_id(site));
    goto out;
  }
  now = not_before(now, runs);
  if (function != NULL && unlikely(!(f->flags & APROF_F_NAMED)))
    future_named(t, f, function, self);
  f->caller = caller != NULL ? index_of(caller) : 0;
  f->outer = function_node(f->node);
  if (caller != NULL) {
    close_running(t, now);
    put_aside(t, caller, take_call_site(t, function != NULL ? function : site), index_of(f), now);
    outer_unknown(runs, f);
  } else {
    close_rest(t->block, now);
    slice_open(t, f, now, rests_at(runs));
  }
  if (unlikely(site->flags & APROF_WORKER) && caller == NULL)
    slice_open_worker(t);
  bracket_open(t, token, f, id, caller, function);
  if (runs->state == APROF_FUTURE_WAITING)
    await_known(t, runs->await);
  bool polls = unlikely(site->flags & APROF_POLLING) && poll_begin(t, token, runs, now);
  if (!polls && !born) /* else the wait may go on, or there was none */
    close_off_thread(t, runs, now);
  f->open += !taken;
  f->flags |= APROF_F_STARTED;
  set_going_on(t, runs, polls ? APROF_TRACE_POLLED : APROF_TRACE_RUNNING, site->id, now);
out:
  event_end(t);
}

/* How the bracket of f ends it, given what was asked while it ran. */
static inline int run_verdict(struct thread *t, struct aprof_future *f, int how) {
  key_settled(t, f);
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
  event_missed(t, APROF_MISS_REUSED, heir != NULL ? aprof_create_site(heir) : aprof_create_site(f));
  return APROF_CANCELLED;
}

/* Where a future that stops running without an await of its own waits. */
static uint32_t pause_place(struct thread *t, struct aprof_future *f, struct aprof_site *where) {
  if (where == NULL)
    return node_of_site_slow(function_node(f->node), aprof_create_site(f), true);
  if (t->polled == f && t->polled_sequence == t->block->sequence)
    return t->polled_node; /* on the stackless child it polled last */
  return node_find(t, function_node(f->node), where, true)->node;
}

/* The running future, whose exec is closed, waits until it is run again. */
static void pause_running(struct thread *t, struct aprof_site *where, uint64_t now, uint64_t due) {
  struct aprof_future *f = t->cur;
  if (f->await == 0) {
    uint32_t await = pause_place(t, f, where);
    set_waiting(t, f, await, now);
    f->flags |= APROF_F_IMPLICIT;
    struct aprof_counters *a = waits_at(t, f);
    if (where == NULL && a->await.function == (uintptr_t)t->counters && !await_in_span(await)) {
      uint64_t last = t->counters->function.last_await;
      if (last != 0 && last != (uintptr_t)a) /* it also waits elsewhere */
        node_beneath(t, function_node(f->node), aprof_create_site(f), APROF_NODE_AWAIT);
      t->counters->function.last_site = 0;
      t->counters->function.last_await = (uintptr_t)a;
    }
  } else {
    set_waiting(t, f, f->await, now);
  }
  if (unlikely(due != 0) && f->wake_tick == 0) /* woken, it need not wait for that */
    future_wakes_at(f, due);
  may_rest(t, f, now);
  tell(APROF_EVENT_WAITING, f, node_site(f->await), now);
}

/* f, whose bracket closes, still runs here, or a body above it does. */
static void run_stop(struct thread *t, const struct aprof_token *token, struct aprof_future *f,
                     int how, struct aprof_site *where, bool held, uint64_t now) {
  uint32_t last = where != NULL ? site_id(where) : node_function(t->cur->node);
  /* This stack, also where f itself goes on. */
  bool over = bracket_body(token) || how < APROF_PENDING;
  uint64_t due = unlikely(f->ending == ENDING_REARMED) ? f->polled : 0;
  if (unlikely(f->ending != 0))
    f->polled = 0;
  how = run_verdict(t, f, how);
  if (unlikely(t->cur != f) && (over || how < APROF_PENDING))
    unwind_to(t, t->cur, f, now);
  close_running(t, now);
  if (bracket_body(token) && t->cur == f)
    spans_left(t, f, now);
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
  struct aprof_future *top = t->cur != NULL ? t->cur : t->suspended;
  bool alive = f->id == token->word[0], polled = false, held = t->cur != NULL;
  if (likely(alive)) {
    if (likely(runs_here(t, f))) {
      now = not_before(now, t->cur);
      if (bracket_polls(token) && poll_end(t, token, f, how, now)) {
        if (caller == NULL)
          slice_close(t, now, node_function(f->node));
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
    if (f->state == APROF_FUTURE_ASIDE && top != NULL)
      top_of(t, f, top);
    if (f->id == token->word[0])
      record_closes(f);
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
