/* SPDX-License-Identifier: MIT */
/*
 * Records of futures: slabs in the arena, handed out through a list per thread,
 * with one shared list that evens out threads which create what others end.
 */
#include "key.h"
#include "rt/event/transitions.h"

#define SLAB 255u /* records in a chunk: 32 KB with its head */
#define BATCH 51u /* of them moved between a thread and the shared list at once; 5 a slab */
#define KEEP (6 * BATCH)

/*
 * Of batches: linked by `parent` within, by `parent_serial` between. Both are written at a
 * birth only: a thread that lost its future to another one, and does not know it yet, may
 * write everything else of the record.
 */
static uint32_t shared_list;

static uint32_t sweeping, swept; /* a thread does; the epoch of the last time */

void future_reset(void) {
  shared_list = 0;
  sweeping = swept = 0;
}

/* rt.lock held. */
static uint32_t slab_new(void) {
  struct aprof_future *slab =
      arena_chunk(APROF_CHUNK_FUTURES, 0, 0, SLAB, sizeof(struct aprof_future));
  if (slab == NULL)
    return 0;
  uint32_t first = index_of(slab);
  for (uint32_t i = 0; i < SLAB; i++) {
    bool batch_ends = (i + 1) % BATCH == 0;
    slab[i].parent = batch_ends ? 0 : first + i + 1;
    if (i % BATCH == 0)
      slab[i].parent_serial = i + BATCH < SLAB ? first + i + BATCH : shared_list;
  }
  arena_publish(slab, APROF_CHUNK_FUTURES);
  return first;
}

/* -- futures of closed epochs -------------------------------------------------- */

/* A thread that has stood still in an event since that epoch may be about to run what is its own,
   or to create it: that is left for the next time. None begins to after this. */
static bool lease_withdrawn(struct aprof_future *f) {
  uint32_t lease = __atomic_load_n(&f->lease, __ATOMIC_ACQUIRE);
  return lease == 0 ||
         (!thread_lags(lease) && __atomic_compare_exchange_n(&f->lease, &lease, 0, false,
                                                             __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

/* Folds a record that nobody will touch again into the counts, as its epoch's end
   found it. What lies before the last reset counts nowhere. */
static void sweep_one(struct thread *t, struct aprof_future *f, uint64_t id, uint32_t epoch) {
  struct aprof_header *h = rt.header;
  if (!lease_withdrawn(f) || !future_claim(f, id))
    return;
  bool known = h->epoch - epoch < APROF_EPOCHS; /* else its slot is another one's by now */
  uint64_t passed = known ? elapsed(f->last, h->epochs[epoch % APROF_EPOCHS].end_tick) : 0;
  if (epoch >= h->reset_epoch && f->state != APROF_FUTURE_TENTATIVE) {
    struct aprof_counters *c = counters_of(t, f->node);
    c->function.detached++;
    if (f->state == APROF_FUTURE_QUEUED)
      c->function.queued += passed;
    else
      counters_of(t, f->await)->await.waiting += passed;
  }
  if (f->flags & APROF_F_KEYED)
    key_remove(f);
  future_free(t, f);
  __atomic_fetch_add(&h->detached_swept, 1, __ATOMIC_RELAXED);
}

/* The records of epochs that are over, once each. */
static SLOW void sweep(struct thread *t) {
  struct aprof_header *h = rt.header;
  uint32_t epoch = h->epoch;
  if (epoch == __atomic_load_n(&swept, __ATOMIC_RELAXED) ||
      __atomic_exchange_n(&sweeping, 1, __ATOMIC_ACQUIRE))
    return;
  __atomic_store_n(&swept, epoch, __ATOMIC_RELAXED);
  for (uint64_t at = h->header_size; at < h->used;) {
    struct aprof_chunk *chunk = (struct aprof_chunk *)(rt_base() + at);
    struct aprof_future *f = (struct aprof_future *)(chunk + 1);
    for (uint32_t i = 0; chunk->type == APROF_CHUNK_FUTURES && i < chunk->count; i++) {
      uint64_t id = __atomic_load_n(&f[i].id, __ATOMIC_ACQUIRE);
      uint16_t ago = (uint16_t)(epoch - (uint32_t)(id >> 48));
      bool newer = ago > UINT16_MAX / 2; /* of an epoch that began meanwhile: none is so old */
      /* What ran then is part of its thread's time: it stays. */
      if (id != 0 && ago != 0 && !newer && f[i].state != APROF_FUTURE_RUNNING)
        sweep_one(t, &f[i], id, epoch - ago);
    }
    at += chunk->size != 0 ? chunk->size : APROF_PAGE;
  }
  __atomic_store_n(&sweeping, 0, __ATOMIC_RELEASE);
}

void future_epoch(struct thread *t) {
  if (likely(rt.header->epoch - __atomic_load_n(&swept, __ATOMIC_RELAXED) < APROF_EPOCHS / 2) ||
      (t->block->sequence & 1))
    return;
  t->block->sequence++;
  publish_fence();
  sweep(t);
  publish_fence();
  t->block->sequence++;
}

static SLOW bool refill(struct thread *t) {
  if (__atomic_load_n(&shared_list, __ATOMIC_RELAXED) == 0)
    sweep(t); /* before more memory is taken */
  if (t->free_list != 0)
    return true;
  rt_lock();
  if (shared_list == 0)
    shared_list = slab_new();
  t->free_list = shared_list;
  if (shared_list != 0) {
    shared_list = future_at(shared_list)->parent_serial;
    t->free_count = BATCH;
  }
  rt_unlock();
  if (t->free_list != 0)
    return true;
  __atomic_fetch_add(&rt.header->lost_futures, 1, __ATOMIC_RELAXED);
  return false;
}

struct aprof_future no_future;

struct aprof_future *future_new(struct thread *t) {
  if (unlikely(t->free_list == 0) && !refill(t))
    return NULL;
  struct aprof_future *f = future_at(t->free_list);
  t->free_list = f->parent;
  t->free_count--;
  f->state = APROF_FUTURE_TENTATIVE;
  f->flags = f->open = f->ending = 0;
  f->lease = t->lease;
  f->counters = (uintptr_t)nowhere;
  f->waiting = f->queued = 0;
  f->await = 0;
  f->ns = 0;
  f->caller = 0;
  f->callee = 0;
  f->wake_tick = 0;
  f->wake_site = 0;
  f->polled = 0;
  publish_fence();
  f->id = next_id(t);
  return f;
}

static SLOW void give_back(struct thread *t) {
  uint32_t batch = t->free_list, last = batch;
  for (uint32_t i = 1; i < BATCH; i++)
    last = future_at(last)->parent;
  t->free_list = future_at(last)->parent;
  future_at(last)->parent = 0;
  t->free_count -= BATCH;
  rt_lock();
  future_at(batch)->parent_serial = shared_list;
  shared_list = batch;
  rt_unlock();
}

void future_free(struct thread *t, struct aprof_future *f) {
  publish_fence(); /* it is counted */
  f->state = APROF_FUTURE_FREE;
  f->flags = f->open = f->ending = 0; /* and what else fast_new relies upon */
  f->callee = 0;
  f->polled = 0;
  f->parent = t->free_list;
  t->free_list = index_of(f);
  if (unlikely(++t->free_count > KEEP))
    give_back(t);
}

void future_end(struct thread *t, struct aprof_future *f, uint64_t id, int how, uint64_t now) {
  uint32_t node = f->node; /* once: see unordered threads in doc/internals.md */
  struct aprof_counters *c = counters_of(t, node);
  uint64_t wall = elapsed(f->created_tick, now), exec = elapsed(f->waiting + f->queued, wall);
  if (f->state != APROF_FUTURE_RUNNING)
    future_ending(t->block, f, t->lease, c, how);
  if (likely(how == APROF_DONE))
    c->function.done++;
  else if (how == APROF_FAILED)
    c->function.failed++;
  else
    c->function.cancelled++;
  raise_max(t, &c->function.exec_max, exec);
  raise_max(t, &c->function.wall_max, wall);
  histogram_add(t, node, OF_EXEC, &c->function.exec_histogram, exec);
  histogram_add(t, node, OF_WALL, &c->function.wall_histogram, wall);
  if (!(f->flags & APROF_F_WAITED))
    c->function.born_done++;
  if (f->flags & APROF_F_KEYED)
    key_remove(f);
  if (unlikely(rt.callback != NULL))
    user_event(how == APROF_DONE     ? APROF_EVENT_DONE
               : how == APROF_FAILED ? APROF_EVENT_FAILED
                                     : APROF_EVENT_CANCELLED,
               f, id, 0, now);
  future_free(t, f);
}

/* -- who may run it ------------------------------------------------------------ */

/*
 * The thread of a future's lease runs it without asking anybody. Another one takes the
 * lease first, and who ends a future that may be run meanwhile takes it away; then it waits
 * until the thread that had it has left the event in which that may have begun to run it.
 */
#define HELD_TRIES 200000u /* longer than thread_settles */
#define REST_TRIES 1000u

uint32_t future_lease(struct thread *t, const struct aprof_future *f, uint64_t id) {
  uint32_t lease = __atomic_load_n(&f->lease, __ATOMIC_ACQUIRE);
  if (likely(lease != 0))
    return lease;
  for (unsigned i = 0; lease == 0 && f->id == id && i < HELD_TRIES; i++) {
    thread_waits(t, true);
    wait_for_other(i, profile_confined_lately());
    thread_waits(t, false); /* before the look: who took the lease away again waits for us, then */
    lease = __atomic_load_n(&f->lease, __ATOMIC_ACQUIRE);
  }
  return lease;
}

/* Another thread has begun to run f while this one took it; or has taken it since. */
static bool runs_elsewhere(const struct thread *t, struct aprof_future *f) {
  return __atomic_load_n(&f->lease, __ATOMIC_ACQUIRE) != t->lease || is_busy(f);
}

bool future_take(struct thread *t, struct aprof_future *f, uint64_t id) {
  uint32_t lease = future_lease(t, f, id);
  if (lease == t->lease)
    return f->id == id;
  if (lease == 0 || !__atomic_compare_exchange_n(&f->lease, &lease, t->lease, false,
                                                 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return false;
  uint32_t mine = t->lease;
  if (unlikely(f->id != id)) { /* another future's, by then */
    __atomic_compare_exchange_n(&f->lease, &mine, lease, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    return false;
  }
  /* That thread may have been about to run it: then it is that one's. */
  if (unlikely(thread_sequence(lease) & 1) && (thread_settles(t, lease), runs_elsewhere(t, f))) {
    node_shared(f->node);
    __atomic_compare_exchange_n(&f->lease, &mine, lease, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    return false;
  }
  if (unlikely(f->id != id)) /* it was over with that */
    return false;
  t->block->migrations += (uint16_t)(lease ^ t->lease) != 0;
  f->counters = (uintptr_t)nowhere;
  return true;
}

/* Is f at rest, now that the thread of that lease does not begin to run it any more? What runs on
   f's stack goes on meanwhile: a look at it is believed only where that thread was in no event, in
   which one body is over, and the one below not yet restored. */
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
static bool future_hold(struct thread *t, struct aprof_future *f, uint64_t id) {
  if (!threads_share())
    return !is_busy(f) && f->id == id;
  uint32_t lease = future_lease(t, f, id);
  if (is_busy(f) || lease == 0 || f->id != id)
    return false;
  t->held = f;
  t->held_lease = lease;
  if (!__atomic_compare_exchange_n(&f->lease, &lease, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
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
    __atomic_compare_exchange_n(&t->held->lease, &none, t->held_lease, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
}

void future_migrated(struct thread *t, struct aprof_future *f) {
  t->block->migrations += f->lease != 0 && (uint16_t)(f->lease ^ t->lease) != 0;
  f->lease = t->lease;
  f->counters = (uintptr_t)nowhere;
}

/* -- stacks ------------------------------------------------------------------ */

/*
 * Chains of calls end, but for one that threads have knotted by running each other's
 * futures at once, without an order between them. Seen as by Brent: what is met again
 * after twice as many steps as before.
 */
struct chain {
  const struct aprof_future *met;
  uint32_t steps, turn;
};

static bool knotted(struct chain *chain, const struct aprof_future *f) {
  if (unlikely(f == chain->met))
    return true;
  if (chain->steps++ == chain->turn) {
    chain->met = f;
    chain->turn = 2 * chain->turn + 1;
  }
  return false;
}

static inline struct aprof_future *top_of_stack(struct aprof_future *f, bool own) {
  for (struct chain chain = {0}; !knotted(&chain, f);) {
    uint32_t callee = f->callee & ~CALLEE_MINE;
    if (f->state != APROF_FUTURE_ASIDE || callee >= CALLEE_NO_FUTURE)
      break;
    struct aprof_future *above = future_at(callee);
    if (above->caller != index_of(f) || above->id == 0 || (own && above->ns != NS_FRAME))
      break;
    f = above;
  }
  return f;
}

struct aprof_future *innermost(struct aprof_future *f) {
  return top_of_stack(f, false);
}

struct aprof_future *innermost_own(struct aprof_future *f) {
  return top_of_stack(f, true);
}

uint32_t outermost(const struct aprof_future *f) {
  for (struct chain chain = {0}; f->caller != 0 && !knotted(&chain, f);) {
    const struct aprof_future *caller = future_at(f->caller);
    if (!is_aside(caller, index_of(f)))
      break;
    f = caller;
  }
  return f->node;
}

void goes_on_by_itself(struct aprof_future *f) {
  if (f->callee & CALLEE_MINE)
    f->flags |= APROF_F_IMPLICIT;
  f->callee = 0;
  f->wake_tick = 0;
  f->counters = (uintptr_t)nowhere; /* those of an older wait, as long as it ran */
  f->state = APROF_FUTURE_WAITING;
}

void forget_caller(struct aprof_future *f) {
  struct aprof_future *caller = f->caller != 0 ? future_at(f->caller) : NULL;
  if (caller != NULL && is_aside(caller, index_of(f)))
    goes_on_by_itself(caller);
}

void cancel_above(struct thread *t, struct aprof_future *top, struct aprof_future *f,
                  uint64_t now) {
  while (top != f && top->caller != 0) {
    struct aprof_future *below = future_at(top->caller);
    uint64_t id = top->id, then = not_before(now, top);
    future_ends(t->block, counters_of(t, top->node), APROF_CANCELLED);
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
  if (!future_claim(f, id))
    return;
  cancel_above(t, innermost(f), f, now);
  now = not_before(now, f);
  close_off_thread(t, f, now);
  future_end(t, f, id, how, now);
}

bool is_busy(struct aprof_future *f) {
  struct aprof_future *top = innermost(f);
  return top->state == APROF_FUTURE_RUNNING || top->state == APROF_FUTURE_ASIDE;
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
    future_wakes_at(f, due);
  }
  if (threads_share())
    future_unhold(t);
  return true;
}

uint32_t runner_lease(struct thread *t, struct aprof_future *f, uint64_t id) {
  struct aprof_future *top = innermost(f);
  return top != f ? __atomic_load_n(&top->lease, __ATOMIC_ACQUIRE) : future_lease(t, f, id);
}

/* For the close of f's bracket. False: f is over, and the record's next one was not meant. */
static bool leave_ending(struct aprof_future *f, uint64_t id, uint8_t ending) {
  if (f->id != id)
    return false;
  __atomic_exchange_n(&f->ending, ending, __ATOMIC_SEQ_CST);
  if (likely(f->id == id))
    return true;
  __atomic_compare_exchange_n(&f->ending, &ending, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  return false;
}

bool future_asked(struct thread *t, struct aprof_future *f, uint64_t id, uint8_t ending) {
  uint32_t lease = runner_lease(t, f, id);
  if (!leave_ending(f, id, ending))
    return false;
  if (lease != 0)
    thread_settles(t, lease);
  return f->id == id &&
         (is_busy(f) || !__atomic_compare_exchange_n(&f->ending, &ending, 0, false,
                                                     __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
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

static bool in_chain(struct aprof_future *top, struct aprof_future *f) {
  for (struct chain chain = {0}; top != f;) {
    if (top->caller == 0 || knotted(&chain, top))
      return false;
    struct aprof_future *below = future_at(top->caller);
    if (!is_aside(below, index_of(top)))
      return false;
    top = below;
  }
  return true;
}

struct aprof_future *active_top(struct thread *t) {
  if (t->cur != NULL)
    return t->cur;
  struct aprof_future *f = t->suspended;
  if (f != NULL && f->id == t->suspended_id && f->state == APROF_FUTURE_WAITING &&
      f->lease == t->lease)
    return f;
  f = t->idler;
  return f != NULL && is_aside(f, CALLEE_IDLE) ? f : NULL;
}

bool unwind_to(struct thread *t, struct aprof_future *top, struct aprof_future *f, uint64_t now) {
  if (!in_chain(top, f))
    return false;
  bool ran = t->cur != NULL;
  if (ran)
    close_running(t, now);
  else
    close_rest(t->block, now);
  t->block->last = now;
  if (top == t->idler && !ran)
    t->rest = APROF_THREAD_OTHER; /* the poller was jumped out of */
  cancel_above(t, top, f, now);
  if (f->state == APROF_FUTURE_WAITING || f->state == APROF_FUTURE_ASIDE) {
    if (!ran)
      slice_open(t, f, now, node_site(f->await));
    restore(t, f, now, false);
  }
  return true;
}

void abandon_running(struct thread *t, uint64_t now) {
  struct aprof_future *f = t->cur;
  event_missed(t, APROF_MISS_UNSEEN, node_site(f->node));
  close_running(t, now);
  slice_close(t, now, node_site(f->node));
  bool mine = f->await == 0;
  set_waiting(f, mine ? node_of_site_slow(f->node, f->create_site, true) : f->await, now);
  if (mine)
    f->flags |= APROF_F_IMPLICIT;
  set_resting(t, now);
}

/* The thread that took f while it runs here is still in that event, and gives it back: or is told
   so here, should it not have seen that. */
static bool taken_back(struct thread *t, struct aprof_future *f) {
  uint32_t lease = __atomic_load_n(&f->lease, __ATOMIC_ACQUIRE);
  return f->state == APROF_FUTURE_RUNNING && lease != 0 && thread_in_event(lease) &&
         __atomic_compare_exchange_n(&f->lease, &lease, t->lease, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED) &&
         !running_is_lost(t);
}

/* What ran here is another thread's, which books its time: this one's is that of no future. */
void running_lost(struct thread *t) {
  if (taken_back(t, t->cur) || !running_is_lost(t))
    return;
  node_shared(t->block->slice_node);
  uint64_t now = event_time(t);
  uint32_t site = node_site(t->block->slice_node);
  event_missed(t, APROF_MISS_UNSEEN, site);
  t->block->other += now - t->block->last;
  slice_close(t, now, site);
  set_resting(t, now);
}

/*
 * Only a stack known to be the thread's own can be told from a coroutine's by
 * address; between two unknown ones only frames a few KB apart are believed to
 * be of one stack. Apart from where the frame of the first ends: its token may lie
 * above all else in it.
 */
#define FRAME_MOST (64u << 10)

bool on_suspended_stack(const struct thread *t, uintptr_t inner) {
  uintptr_t outer = t->suspended_at, frame = outer - t->suspended_stack;
  bool outer_own = outer >= t->stack_low && outer < t->stack_high;
  bool inner_own = inner >= t->stack_low && inner < t->stack_high;
  if (outer_own != inner_own || inner >= outer)
    return false;
  return outer_own || outer - inner < 4096 + (frame < FRAME_MOST ? frame : 0);
}
