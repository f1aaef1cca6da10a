/* SPDX-License-Identifier: MIT */
/* Switches between stacks by key: what runs here waits, and the future of the key goes on. */
#include "begin.h"
#include "general.h"
#include "rt/count/miss.h"
#include "rt/future/key.h"

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
