/* SPDX-License-Identifier: MIT */
/* What futures get from outside: wakes and ends. */
#include "begin.h"
#include "gates.h"
#include "rt/count/miss.h"
#include "rt/future/key.h"
#include "rt/request/member.h"
#include "run.h"

/* The first future that is meant; NULL: none. */
static struct aprof_future *first_meant(struct thread *t, struct aprof_site *site,
                                        struct key_search *s, enum aprof_miss miss) {
  struct aprof_future *f = key_next(s, NULL);
  if (f != NULL)
    site_found(site);
  else if (site->ns != APROF_NS_ANY)
    event_missed(t, miss, site_id(site));
  return f;
}

/* A wake counts once, and a due time that is still to come gives way to it. It means the future
   that would go on, the innermost of a stack. One that does not wait now will not wait the next
   time. */
static void wake_future(struct thread *t, struct aprof_future *f, struct aprof_site *site) {
  f = innermost_own(f);
  uint64_t seen = __atomic_load_n(&f->wake_tick, __ATOMIC_RELAXED);
  if (f->state == APROF_FUTURE_RUNNING || f->state == APROF_FUTURE_ASIDE) {
    if (seen == 0 && swapped(&f->wake_tick, &seen, site_id(site), RELAXED) && traces(t))
      trace_put(t, APROF_TRACE_WAKE, index_of(f), 0, event_time(t));
    return;
  }
  if (f->state != APROF_FUTURE_WAITING)
    return;
  uint64_t now = not_before(event_time(t), f);
  if (seen != 0 && seen <= now)
    return;
  if (swapped(&f->wake_tick, &seen, now ? now : 1, RELAXED)) {
    __atomic_store_n(&f->wake_site, site_id(site), __ATOMIC_RELAXED);
    trace(t, APROF_TRACE_WAKE, f, 0, now);
    tell(APROF_EVENT_QUEUED, f, site->id, now);
  }
}

/* ... and, if the line says so, that the woken go over to the request of who wakes them. */
static void wake_and_hand(struct thread *t, struct aprof_future *f, struct aprof_site *site) {
  uint64_t id = __atomic_load_n(&f->id, __ATOMIC_ACQUIRE);
  wake_future(t, f, site);
  if (unlikely(site->flags & APROF_HAND))
    member_handed(t, f, id, event_time(t));
}

void general_wake(struct aprof_site *site, uint64_t key0, uint64_t key1) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct key_search s = key_searching(key0, key1, site->ns);
  struct aprof_future *f = first_meant(t, site, &s, APROF_MISS_WAKE);
  const struct aprof_future *first = f;
  while (f != NULL) {
    wake_and_hand(t, f, site);
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
  slice_close(t, now, node_function(f->node));
  future_over(t, f, id, how, now);
  set_resting(t, now);
}

/* f, which is this thread's, runs, or a bracket of it is open. */
static void end_mine(struct thread *t, struct aprof_future *f, uint64_t id, int how, uint64_t now) {
  if (f->flags & APROF_F_KEYED)
    key_remove(f);
  if (f->open != 0) {
    key_settled(t, f);
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

/* The call that ends it does not return, so no bracket inside it closes: f, which runs here, is
   over at once, with all that lies above it. Its caller goes on when its own bracket closes. */
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

/* One of equal ones, which other threads run and end meanwhile: the oldest that rests, or that this
   thread has; else one that runs elsewhere. */
static SLOW void end_equal(struct thread *t, struct aprof_site *site, uint64_t key0, uint64_t key1,
                           int how) {
  struct key_search s = key_searching(key0, key1, site->ns);
  s.lease = t->lease;
  for (unsigned i = 0; i < TRIES; i++) {
    bool taken;
    struct aprof_future *f = key_take(t, &s, NULL, &taken);
    if (f == NULL)
      break;
    uint64_t id = key_id(f, key0, key1);
    if (taken && id != 0) {
      if (end_at_rest(t, f, id, how, event_time(t)))
        return;
      run_given_back(f, id); /* what it called runs */
    }
    if (id == 0 || f->id != id)
      continue; /* another thread has just ended it */
    if (!end_of(t, f, id, site, how))
      key_withdraw(f, key0, key1);
    return;
  }
  event_missed(t, APROF_MISS_END, site_id(site));
}

void general_end(struct aprof_site *site, uint64_t key0, uint64_t key1, int how) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct key_search s = key_searching(key0, key1, site->ns);
  struct aprof_future *f = first_meant(t, site, &s, APROF_MISS_END);
  if (unlikely(f != NULL && (site->flags & APROF_TUPLE) && site->ns != APROF_NS_ANY)) {
    end_equal(t, site, key0, key1, how);
    f = NULL;
  }
  while (f != NULL) {
    /* What another thread is asked to end has no key from here on, unless it stands among equal
       ones. */
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
