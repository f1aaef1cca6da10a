/* SPDX-License-Identifier: MIT */
/*
 * Who may run a future.
 *
 * The thread of a future's lease runs it without asking anybody. Another one takes the
 * lease first, and who ends a future that may be run meanwhile takes it away; then it waits
 * until the thread that had it has left the event in which that may have begun to run it.
 */
#include "owner.h"

#include "rt/count/node.h"
#include "stack.h"

#define REST_TRIES 1000u

uint32_t future_lease(struct thread *t, const struct aprof_future *f, uint64_t id) {
  uint32_t lease = __atomic_load_n(&f->lease, __ATOMIC_ACQUIRE);
  if (likely(lease != 0))
    return lease;
  for (unsigned i = 0; lease == 0 && f->id == id && i < WAITS_MOST; i++) {
    thread_waits_between(t, i);
    lease = __atomic_load_n(&f->lease, __ATOMIC_ACQUIRE);
  }
  return lease;
}

/* Another thread has begun to run f while this one took it; or has taken it since. */
static bool runs_elsewhere(const struct thread *t, struct aprof_future *f) {
  return __atomic_load_n(&f->lease, __ATOMIC_ACQUIRE) != t->lease || is_busy(f);
}

/* Who had f last: where that is nobody, who made it. */
static uint16_t last_thread(const struct aprof_future *f, uint32_t lease) {
  return (uint16_t)lease != 0 ? (uint16_t)lease : (uint16_t)(f->id >> 32);
}

bool future_take(struct thread *t, struct aprof_future *f, uint64_t id, bool opened) {
  uint32_t lease = future_lease(t, f, id);
  if (lease == t->lease)
    return f->id == id;
  if (lease == 0 || !swapped(&f->lease, &lease, t->lease, ACQ_REL))
    return false;
  uint32_t mine = t->lease;
  if (unlikely(f->id != id)) { /* another future's, by then */
    swapped(&f->lease, &mine, lease, ACQ_REL);
    return false;
  }
  /* That thread may have been about to run it: then it is that one's. Not so where it would have to
     open it first, and has no await to resume it from. */
  bool begun = !opened || (f->flags & APROF_F_STARTED);
  uint64_t sequence = begun ? thread_sequence(lease) : 0;
  if (unlikely(sequence & 1) && (thread_leaves(t, lease, sequence), runs_elsewhere(t, f))) {
    node_shared(function_node(f->node));
    swapped(&f->lease, &mine, lease, ACQ_REL);
    return false;
  }
  if (unlikely(f->id != id)) /* it was over with that */
    return false;
  t->block->migrations += (uint16_t)(last_thread(f, lease) ^ t->lease) != 0;
  f->counters = (uintptr_t)nowhere;
  return true;
}

/* Is f at rest, now that the thread of that lease cannot begin to run it? What runs on f's stack
   goes on meanwhile, so a look at it counts only if that thread was in no event: inside one, a body
   may be over and the one below not yet restored. */
static bool rests(struct thread *t, struct aprof_future *f, uint64_t id, uint32_t lease) {
  for (unsigned i = 0; i < REST_TRIES; i++) {
    uint64_t before = thread_sequence(lease);
    if (f->id != id || is_busy(f) || __atomic_load_n(&f->lease, __ATOMIC_ACQUIRE) != 0)
      return false; /* or it went on there after all, and has its lease again */
    if (lease == t->lease || (!(before & 1) && thread_sequence(lease) == before))
      return true;
    if ((before & 1) && !thread_settles(t, lease))
      break;
  }
  return true; /* it stands still there, or ended */
}

/* f is at rest, and no thread begins to run it any more; its lease is gone. */
bool future_hold(struct thread *t, struct aprof_future *f, uint64_t id) {
  if (!threads_share())
    return !is_busy(f) && f->id == id;
  uint32_t lease = future_lease(t, f, id);
  if (is_busy(f) || lease == 0 || f->id != id)
    return false;
  t->held = f;
  t->held_lease = lease;
  if (!swapped(&f->lease, &lease, 0, SEQ_CST))
    return false;
  if (lease != t->lease)
    thread_settles(t, lease);
  if (likely(rests(t, f, id, lease)))
    return true;
  future_unhold(t);
  return false;
}

void future_unhold(struct thread *t) {
  uint32_t none = 0;
  if (t->held != NULL) /* of another id: it was not the one that was meant */
    swapped(&t->held->lease, &none, t->held_lease, ACQ_REL);
}

void future_migrated(struct thread *t, struct aprof_future *f) {
  t->block->migrations += f->lease != 0 && (uint16_t)(last_thread(f, f->lease) ^ t->lease) != 0;
  __atomic_store_n(&f->lease, t->lease, __ATOMIC_SEQ_CST); /* before `ending` is looked at */
  f->counters = (uintptr_t)nowhere;
}

uint32_t runner_lease(struct thread *t, struct aprof_future *f, uint64_t id) {
  struct aprof_future *top = innermost(f);
  return top != f ? __atomic_load_n(&top->lease, __ATOMIC_ACQUIRE) : future_lease(t, f, id);
}
