/* SPDX-License-Identifier: MIT */
/*
 * Events and steps that are rare beside the others: switches between stacks by
 * key, wakers and due times, calls that block the loop.
 */
#include "transitions.h"

#include "events.h"
#include "rt/future/key.h"

/* -- wakers ---------------------------------------------------------------- */

/* A place beneath a function: a waker, or a blocking call. Sites are known by number alone
   here; the thread's cache has it in place of a record, which is never at an odd address. */
static struct node_entry *node_beneath(struct thread *t, uint32_t above, uint32_t site,
                                       uint32_t kind) {
  struct aprof_site *number = (struct aprof_site *)((uintptr_t)site << 3 | kind << 1 | 1);
  uint32_t place = above << 1 | 1;
  struct node_entry *e = node_cached(t, place, number);
  if (likely(e != NULL))
    return e;
  uint32_t node = node_of_site_slow(above, site, kind);
  if (rt.node_segments[node / NODE_CHUNK][node % NODE_CHUNK].is_await != kind)
    return NULL; /* (other): there is no room to tell them apart */
  return node_keep(t, place, number, node);
}

static void count_beneath(struct thread *t, uint32_t above, uint32_t site, uint32_t kind,
                          uint64_t length) {
  struct node_entry *e = node_beneath(t, above, site, kind);
  if (unlikely(e == NULL))
    return;
  struct aprof_counters *c = e->counters;
  c->await.count++;
  c->await.waiting += length;
  raise_max(t, &c->await.max, length);
  histogram_add(t, e->node, OF_WAITING, &c->await.histogram, length);
}

uint64_t close_woken(struct thread *t, struct aprof_future *f, uint64_t now) {
  uint64_t woken = __atomic_exchange_n(&f->wake_tick, 0, __ATOMIC_RELAXED);
  uint32_t waker = __atomic_exchange_n(&f->wake_site, 0, __ATOMIC_RELAXED);
  if (woken > now)
    return now; /* due later: it came before its time */
  if (woken < f->last) {
    if (is_mark(woken))
      waker = (uint32_t)woken;
    woken = f->last;
  }
  close_queued_since(t, f, woken, now);
  if (waker == 0 || unlikely(waker > rt.header->sites)) /* of one put aside meanwhile: aside_for */
    waker = f->create_site;
  if (likely(f->id != 0)) /* one that is over has been claimed: nobody ran for that wake */
    count_beneath(t, f->node, waker, APROF_NODE_WAKER, elapsed(woken, now));
  return woken;
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

/* -- switch ---------------------------------------------------------------- */

/* The future of the key takes over this thread's stack of execution. */
static void switch_in(struct thread *t, struct aprof_future *f, struct aprof_site *site,
                      uint64_t now) {
  struct aprof_future *runs = innermost(f);
  if (runs->state == APROF_FUTURE_RUNNING || runs->state == APROF_FUTURE_ASIDE ||
      (runs == f && !future_take(t, f, f->id))) {
    node_shared(runs->node);
    event_missed(t, APROF_MISS_BUSY, site_id(site)); /* ..., or is inside a bracket there */
    return;
  }
  now = not_before(now, runs);
  slice_open(t, runs, now,
             runs->state == APROF_FUTURE_WAITING ? node_site(runs->await) : node_site(runs->node));
  close_rest(t->block, now);
  close_off_thread(t, runs, now);
  f->flags |= APROF_F_STARTED;
  set_running(t, runs, now);
  tell(APROF_EVENT_RUNNING, runs, 0, now);
}

void general_switch_to(struct aprof_site *site, struct aprof_token *token, uint64_t key0,
                       uint64_t key1) {
  general_suspend(site, token);
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = key_find(key0, key1, site->ns);
  if (f != NULL)
    site_found(site);
  else
    event_missed(t, APROF_MISS_SWITCH, site_id(site));
  if (f != NULL && t->cur == NULL)
    switch_in(t, f, site, event_time(t));
  event_end(t);
}

/* -- blocking calls ---------------------------------------------------------- */

void general_blocking_begin(struct aprof_site *site, struct aprof_token *token) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  if (t->cur != NULL && t->slice_counters != &t->no_slices) { /* a worker may block */
    token->word[0] = t->cur->id;
    token->word[1] = event_time(t);
    token->word[2] = (uint64_t)t->cur->node << 32 | site_id(site);
  }
  event_end(t);
}

void general_blocking_end(struct aprof_token *token) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  uint64_t now = event_time(t);
  /* Only where the same future held the thread all the time. */
  if (token_current(t, token->word[0]) && t->cur != NULL && t->cur->id == token->word[0] &&
      now >= token->word[1])
    count_beneath(t, (uint32_t)(token->word[2] >> 32), (uint32_t)token->word[2],
                  APROF_NODE_BLOCKING, now - token->word[1]);
  event_end(t);
}
