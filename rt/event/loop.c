/* SPDX-License-Identifier: MIT */
/* The loop itself: its idling, and calls that block it. */
#include "begin.h"
#include "birth.h"
#include "gates.h"
#include "waker.h"

/* -- idle -------------------------------------------------------------------- */

void general_idle_begin(struct aprof_site *site, struct aprof_token *token) {
  struct thread *t = event_begin_light();
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
    event_unusual(t);
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
  struct thread *t = event_begin_light();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = record_of(token->word[1]);
  if (!token_current(t, token->word[0])) {
    event_unusual(t);
    /* It has been open since before this epoch, or as the thread was last in it. */
    if (t->cur == NULL) {
      /* While profiling is off, that is no time. */
      bool on = __atomic_load_n(&rt.header->enabled, __ATOMIC_RELAXED);
      uint64_t woke = on ? idle_time(t) : t->block->last;
      t->block->idle += woke - t->block->last;
      trace_idle(t, t->block->last);
      set_resting(t, woke);
    }
    goto out;
  }
  t->rest = token->word[2] == APROF_THREAD_IDLE ? APROF_THREAD_IDLE : APROF_THREAD_OTHER;
  t->idler = NULL;
  uint64_t now = idle_time(t);
  if (slice_polled(t, t->block->last, now))
    now = idle_time(t);
  if (t->cur == NULL)
    close_rest(t->block, now);
  if (f->id == token->word[0] && is_aside(f, CALLEE_IDLE)) {
    event_unusual(t);
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

/* -- blocking calls ---------------------------------------------------------- */

/* A pool's thread blocks for each job, and runs nothing then: no event, nor a look at its block,
   which is cold where the kernel has moved the thread meanwhile. */
void general_blocking_begin(struct aprof_site *site, struct aprof_token *token) {
  struct thread *t = aprof_self;
  if (t->cur == NULL || t->block->state != APROF_THREAD_RUNNING ||
      (t = event_begin_light()) == NULL)
    return;
  if (t->cur != NULL && t->slice_counters != &t->no_slices) { /* a worker may block */
    token->word[0] = t->cur->id;
    token->word[1] = event_time(t);
    token->word[2] = (uint64_t)t->cur->node << 32 | site_id(site);
  }
  event_end(t);
}

void general_blocking_end(struct aprof_token *token) {
  struct thread *t = event_begin_light();
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
