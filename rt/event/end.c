/* SPDX-License-Identifier: MIT */
/* How futures end; see end.h. */
#include "end.h"

#include "rt/count/miss.h"
#include "rt/future/grace.h"
#include "rt/future/key.h"
#include "rt/future/record.h"
#include "rt/request/member.h"

void future_end(struct thread *t, struct aprof_future *f, uint64_t id, int how, uint64_t now) {
  uint32_t node = future_function(f); /* once: see unordered threads in doc/internals.md */
  bool runs = f->state == APROF_FUTURE_RUNNING;
  struct aprof_counters *c = counters_of(t, node);
  uint64_t wall = elapsed(f->created_tick, now), exec = elapsed(f->waiting + f->queued, wall);
  if (!runs)
    future_ending(t->block, f, t->lease, c, how);
  has_ended(f, c, how);
  raise_max(t, &c->function.exec_max, exec);
  raise_max(t, &c->function.wall_max, wall);
  histogram_value(t, node, OF_ENDED, c, exec, wall);
  if (f->flags & APROF_F_KEYED)
    key_remove(f);
  trace(t, APROF_TRACE_DONE + (unsigned)how, f, node, now);
  if (unlikely(f->flags & APROF_F_MEMBER))
    member_over(t, f, how, runs, now);
  if (unlikely(rt.callback != NULL))
    user_event(how == APROF_DONE     ? APROF_EVENT_DONE
               : how == APROF_FAILED ? APROF_EVENT_FAILED
                                     : APROF_EVENT_CANCELLED,
               f, id, 0, now);
  future_free(t, f);
}

/* As long as another thread's event lasts; one that has left it by a jump does not come back. */
void key_settles(struct thread *t, struct aprof_future *f) {
  uint8_t ending = ENDING_KEYED;
  for (unsigned i = 0; i < WAITS_MOST; i++) {
    thread_waits_between(t, i);
    if (__atomic_load_n(&f->ending, __ATOMIC_ACQUIRE) != ENDING_KEYED)
      return;
  }
  swapped(&f->ending, &ending, 0, SEQ_CST);
}

void callee_left(struct thread *t, struct aprof_future *caller, uint32_t callee, uint64_t now) {
  if (!is_aside(caller, callee))
    return;
  if (unlikely(caller->flags & APROF_F_MEMBER))
    share_waited(caller, caller->await, now);
  goes_on_by_itself(caller);
  trace(t, APROF_TRACE_WAITING, caller, caller->await, caller->last);
  may_rest(t, caller, now);
}

void cancel_above(struct thread *t, struct aprof_future *top, struct aprof_future *f,
                  uint64_t now) {
  while (top != f && top->caller != 0) {
    struct aprof_future *below = future_at(top->caller);
    uint64_t id = top->id, then = not_before(now, top);
    key_settled(t, top);
    future_ends(t->block, counters_of(t, function_node(top->node)), APROF_CANCELLED);
    if (!future_claim(top, id))
      break;
    if (top->ns == NS_FRAME && top->state != APROF_FUTURE_WAITING)
      mark_moves(top, below);
    if (top->state != APROF_FUTURE_RUNNING)
      close_off_thread(t, top, then);
    future_end(t, top, id, APROF_CANCELLED, then);
    top = below;
  }
}

void end_waiting(struct thread *t, struct aprof_future *f, uint64_t id, int how, uint64_t now) {
  key_settled(t, f);
  if (!future_claim(f, id))
    return;
  cancel_above(t, innermost(f), f, now);
  now = not_before(now, f);
  close_off_thread(t, f, now);
  future_end(t, f, id, how, now);
}

bool end_at_rest(struct thread *t, struct aprof_future *f, uint64_t id, int how, uint64_t now) {
  if (!future_hold(t, f, id))
    return false;
  end_waiting(t, f, id, how, now);
  return true;
}

bool rearm_at_rest(struct thread *t, struct aprof_future *f, uint64_t id, uint64_t due,
                   uint64_t now) {
  if (!future_hold(t, f, id))
    return false;
  if (f->state == APROF_FUTURE_WAITING) {
    now = not_before(now, f);
    close_waiting(t, f, now);
    f->last = now;
    trace(t, APROF_TRACE_WAITING, f, f->await, now);
    future_wakes_at(f, due);
  }
  if (threads_share())
    future_unhold(t);
  return true;
}

/* Leaves word for the close of f's bracket. False: f is over; the record's next future was not
   meant. */
static bool leave_ending(struct aprof_future *f, uint64_t id, uint8_t ending) {
  if (f->id != id)
    return false;
  __atomic_exchange_n(&f->ending, ending, __ATOMIC_SEQ_CST);
  if (likely(f->id == id))
    return true;
  swapped(&f->ending, &ending, 0, SEQ_CST);
  return false;
}

bool future_asked(struct thread *t, struct aprof_future *f, uint64_t id, uint8_t ending) {
  uint32_t lease = runner_lease(t, f, id);
  if (!leave_ending(f, id, ending))
    return false;
  if (lease != 0)
    thread_settles(t, lease);
  return f->id == id && (is_busy(f) || !swapped(&f->ending, &ending, 0, SEQ_CST));
}

bool end_asked(struct thread *t, struct aprof_future *f, uint64_t id, int how) {
  uint32_t lease = runner_lease(t, f, id);
  if (lease == t->lease || lease == 0 || f->id != id)
    return false;
  if (!leave_ending(f, id, (uint8_t)(1 + how)))
    return true;
  thread_settles(t, lease);
  end_at_rest(t, f, id, how, event_time(t));
  return true;
}

/* -- rare ways out ----------------------------------------------------------- */

bool unwind_to(struct thread *t, struct aprof_future *top, struct aprof_future *f, uint64_t now) {
  if (!in_chain(top, f))
    return false;
  bool ran = t->cur != NULL;
  if (ran)
    close_running(t, now);
  else
    close_rest(t->block, now);
  t->block->last = now;
  cancel_above(t, top, f, now);
  if (f->state == APROF_FUTURE_WAITING || f->state == APROF_FUTURE_ASIDE) {
    if (!ran)
      slice_open(t, f, now, node_site(f->await));
    restore(t, f, now, false);
  }
  poller_left(t);
  return true;
}

void abandon_running(struct thread *t, uint64_t now) {
  struct aprof_future *f = t->cur;
  event_missed(t, APROF_MISS_UNSEEN, node_function(f->node));
  close_running(t, now);
  slice_close(t, now, node_function(f->node));
  set_left(t, f, now);
  may_rest(t, f, now);
  set_resting(t, now);
}

/* The thread that took f while f runs here is still in that event and gives it back, or learns it
   here if it has not seen that f runs. */
static bool taken_back(struct thread *t, struct aprof_future *f) {
  uint32_t lease = __atomic_load_n(&f->lease, __ATOMIC_ACQUIRE);
  return f->state == APROF_FUTURE_RUNNING && lease != 0 && thread_in_event(lease) &&
         swapped(&f->lease, &lease, t->lease, ACQ_REL) && !running_is_lost(t);
}

/* What ran here belongs to another thread, which books its time. This thread's time goes to no
   future. */
void running_lost(struct thread *t) {
  if (taken_back(t, t->cur) || !running_is_lost(t))
    return;
  node_shared(t->block->slice_node);
  uint64_t now = event_time(t);
  uint32_t site = node_site(t->block->slice_node);
  event_missed(t, APROF_MISS_UNSEEN, site);
  t->block->other += now - t->block->last;
  trace_stolen(t, now);
  slice_close(t, now, site);
  set_resting(t, now);
}

/* The future that awaits, or polls, in a call from which the thread does not return, for instance
   because it is cancelled. NULL for one with a stack of its own: it can go on elsewhere. */
static struct aprof_future *waits_in_vain(struct thread *t) {
  struct aprof_future *f = active_top(t);
  bool gone = f != t->suspended || on_own_stack(t, t->suspended_at);
  return f != NULL && gone && f->await != 0 ? f : NULL;
}

void cancel_running(struct thread *t, uint64_t now) {
  struct aprof_future *f = t->cur;
  if (f != NULL) {
    close_running(t, now);
    slice_close(t, now, node_function(f->node));
  } else {
    close_rest(t->block, now);
    f = waits_in_vain(t);
    if (f != NULL)
      close_off_thread(t, f, not_before(now, f));
  }
  while (f != NULL) {
    struct aprof_future *below = f->caller ? future_at(f->caller) : NULL;
    if (below != NULL && !is_aside(below, index_of(f)))
      below = NULL;
    if (!future_over(t, f, f->id, APROF_CANCELLED, now))
      break;
    if (below != NULL)
      close_off_thread(t, below, not_before(now, below));
    f = below;
  }
  t->cur = NULL;
  t->block->last = now;
}
