/*
 * The four events that a coroutine program makes most, when all is as usual: the
 * thread known, nothing odd about the future, every record found before.
 *
 * Why twice: events.c may register, allocate and unwind anywhere, so its functions
 * save six registers and test as they go. Here every condition is tested before
 * anything is written, nothing is called, and whatever is out of the ordinary goes
 * on, as a tail call, in events.c. Both do the same to the ledger; the random
 * programs run through both.
 *
 * To debug: make `usual` false, and the profiler is the same without this file.
 */
#include "transitions.h"

#include "events.h"

static inline bool usual(const struct thread *t) {
  return likely(t->epoch == rt.header->epoch) && !(t->block->sequence & 1);
}

/* The time of an event; false where telling it needs a call. */
static inline bool fast_time(const struct thread *t, uint64_t *now) {
  uint64_t last = t->block->last;
#if defined __x86_64__ || defined __i386__
  if (likely(rt.fast == APROF_CLOCK_TSC)) {
    uint64_t ticks = __builtin_ia32_rdtsc();
    *now = likely(ticks >= last) ? ticks : last;
    return true;
  }
#endif
  if (rt.fast == 0)
    return false;
  *now = __atomic_load_n(&rt.header->virtual_now, __ATOMIC_RELAXED);
  return *now >= last;
}

/* What node_find would answer, if the thread's cache knows it. */
static inline struct node_entry *fast_node(struct thread *t, uint32_t parent,
                                           struct aprof_site *site, bool is_await) {
  uint32_t place = parent << 1 | is_await;
  struct node_entry *e = node_entry_for(t, place, site);
  return likely(e->site == site && e->place == place && e->site_id == site->id) ? e : NULL;
}

static inline void begin(struct aprof_block *b) {
  b->sequence++;
  publish_fence();
}

static inline void finish(struct aprof_block *b) {
  publish_fence();
  b->sequence++;
}

/* A histogram there is: 0 not made yet, 1 never to be. */
static inline uint64_t *fast_bucket(uint32_t histogram, uint64_t value) {
  return (uint64_t *)(rt_base() + ((uint64_t)histogram << 6)) + aprof_bucket_of(value);
}

static inline void fast_rest(struct thread *t, struct aprof_block *b, uint64_t now) {
  uint64_t *sum = t->rest == APROF_THREAD_IDLE ? &b->idle : &b->other;
  *sum += now - b->last;
}

/* slice_close with a histogram known to exist. */
static inline void fast_slice_close(struct thread *t, struct aprof_counters *c, uint64_t now,
                                    uint32_t site) {
  uint64_t length = now - t->slice_begin;
  t->slice_count++;
  c->function.slices++;
  if (unlikely(length > c->function.slice_max)) {
    c->function.slice_max = length;
    c->function.slice_from = t->slice_from;
    c->function.slice_to = site;
  }
  uint64_t *bucket = fast_bucket(c->function.slice_histogram, length);
  t->slice_bucket = bucket;
  ++*bucket;
}

/* -- awaits ---------------------------------------------------------------- */

void fast_suspend(struct aprof_site *site, struct aprof_token *token) {
  struct thread *t = aprof_self;
  struct aprof_future *f;
  uint64_t now;
  if (unlikely(!usual(t)) || unlikely((f = t->cur) == NULL) || unlikely(f->await != 0))
    goto slow;
  struct node_entry *e = fast_node(t, f->node, site, true);
  struct aprof_counters *sliced = t->slice_counters;
  if (unlikely(e == NULL) || unlikely(site->flags & APROF_NAMES) ||
      unlikely(sliced->function.slice_histogram <= 1) || unlikely(!fast_time(t, &now)))
    goto slow;
  struct aprof_block *b = t->block;
  begin(b);
  uint64_t ran = now - b->last;
  f->exec += ran;
  t->counters->function.exec += ran;
  f->await = e->node;
  f->wake_tick = 0;
  f->last = now;
  f->state = APROF_FUTURE_WAITING;
  f->flags |= APROF_F_WAITED;
  fast_slice_close(t, sliced, now, site->id);
  uint64_t id = f->id;
  token->word[0] = id;
  token->word[1] = (uintptr_t)f;
  token->word[2] = (uintptr_t)e->counters | AWAIT_OUTER;
  t->at = NULL;
  t->cur = NULL;
  t->suspended = f;
  t->suspended_id = id;
  t->suspended_at = (uintptr_t)token;
  b->state = t->rest;
  b->last = now;
  finish(b);
  return;
slow:
  event_suspend(site, token);
}

void fast_resume(struct aprof_token *token) {
  struct thread *t = aprof_self;
  uint64_t id = token->word[0], now;
  struct aprof_future *f = (struct aprof_future *)(uintptr_t)token->word[1];
  struct aprof_counters *a =
      (struct aprof_counters *)(uintptr_t)(token->word[2] & AWAIT_COUNTERS);
  if (unlikely(!usual(t)) || unlikely(!token_current(t, id)) || unlikely(f->id != id) ||
      unlikely(t->cur != NULL) || unlikely(a == NULL) || unlikely(f->block != t->index) ||
      unlikely(f->state != APROF_FUTURE_WAITING) || unlikely(f->callee != 0) ||
      unlikely(f->wake_tick != 0) || unlikely(a->await.histogram <= 1) ||
      unlikely(!fast_time(t, &now)))
    goto slow;
  struct aprof_block *b = t->block;
  if (unlikely(now < f->last))
    goto slow;
  begin(b);
  fast_rest(t, b, now);
  uint64_t waited = now - f->last;
  f->waiting += waited;
  a->await.waiting += waited;
  a->await.count++;
  if (unlikely(waited > a->await.max))
    a->await.max = waited;
  ++*fast_bucket(a->await.histogram, waited);
  struct aprof_counters *c = (struct aprof_counters *)(uintptr_t)a->await.function;
  uint32_t outer = f->outer;
  t->slice_begin = now;
  t->slice_from = a->await.site;
  t->slice_owner = outer;
  t->slice_counters = likely(outer == f->node)
                          ? c
                          : t->segments[outer / NODE_SEGMENT] + outer % NODE_SEGMENT;
  f->await = 0;
  f->state = APROF_FUTURE_RUNNING;
  f->last = now;
  t->cur = f;
  t->suspended = NULL;
  t->counters = c;
  b->state = APROF_THREAD_RUNNING;
  b->last = now;
  finish(b);
  return;
slow:
  event_resume(token);
}

/* -- bodies ---------------------------------------------------------------- */

/* A call of an async function: its caller runs on this stack. */
void fast_enter(struct aprof_site *site, struct aprof_token *token, const void *self) {
  struct thread *t = aprof_self;
  struct aprof_future *caller, *f;
  uint64_t now;
  if (unlikely(!usual(t)) || unlikely((caller = t->cur) == NULL) ||
      unlikely(t->tentative != NULL) || unlikely(t->free_list == 0) ||
      unlikely(!(caller->flags & APROF_F_BODY)) || unlikely(site->flags & APROF_ROOT))
    goto slow;
  uint32_t above = caller->node, await = caller->await, mine = 0;
  struct node_entry *e = fast_node(t, above, site, false);
  if (unlikely(e == NULL))
    goto slow;
  if (likely(await == 0)) {
    struct aprof_site *at = t->at_future == caller && t->at != NULL ? t->at : site;
    struct node_entry *called = fast_node(t, above, at, true);
    if (unlikely(called == NULL))
      goto slow;
    await = called->node;
    mine = CALLEE_MINE;
  }
  if (unlikely(!fast_time(t, &now)))
    goto slow;
  struct aprof_block *b = t->block;
  f = future_at(t->free_list);
  begin(b);
  uint64_t ran = now - b->last;
  caller->exec += ran;
  t->counters->function.exec += ran;
  caller->await = await;
  caller->callee = t->free_list | mine;
  caller->wake_tick = 0;
  caller->last = now;
  caller->state = APROF_FUTURE_WAITING;
  t->at = NULL;

  t->free_list = (uint32_t)f->key0;
  t->free_count--;
  f->node = e->node;
  f->await = 0;
  f->exec = f->waiting = f->queued = 0;
  f->last = now;
  f->state = APROF_FUTURE_RUNNING;
  f->flags = APROF_F_BODY | APROF_F_STARTED;
  f->open = 1;
  f->ending = 0;
  f->block = t->index;
  f->created_tick = now;
  f->ns = 0;
  f->create_site = site->id;
  f->parent = f->caller = index_of(caller);
  f->parent_serial = (uint32_t)caller->id;
  f->outer = caller->outer;
  f->callee = 0;
  f->wake_tick = 0;
  publish_fence();
  uint64_t id = (uint64_t)t->epoch << 48 | (uint64_t)t->index << 32 | ++t->serial;
  f->id = id;

  token->word[0] = id;
  token->word[1] = (uintptr_t)f;
  token->word[2] = t->slice_count;
  t->cur = f;
  t->suspended = NULL;
  t->counters = e->counters;
  b->last = now;
  finish(b);
  return;
slow:
  event_enter(site, token, self);
}

/* ... and returns to it. */
void fast_leave(struct aprof_token *token, int how) {
  struct thread *t = aprof_self;
  uint64_t id = token->word[0], now;
  struct aprof_future *f = (struct aprof_future *)(uintptr_t)token->word[1], *caller;
  if (unlikely(!usual(t)) || unlikely(t->cur != f) || unlikely(f->id != id) ||
      unlikely(how != APROF_DONE) || unlikely(f->ending != 0) || unlikely(f->caller == 0) ||
      unlikely(f->flags & APROF_F_KEYED) || unlikely(t->free_count >= 256))
    goto slow;
  uint32_t index = index_of(f);
  caller = future_at(f->caller);
  struct aprof_counters *c = t->counters;
  if (unlikely(!is_aside(caller, index)) || unlikely(caller->block != t->index) ||
      unlikely(caller->flags & APROF_F_IMPLICIT) || unlikely(c->function.exec_histogram <= 1) ||
      unlikely(c->function.wall_histogram <= 1))
    goto slow;
  struct aprof_counters *a = counters_of(t, caller->await), *above = counters_of(t, caller->node);
  bool immediate = token->word[2] == t->slice_count;
  if (unlikely(!immediate && a->await.histogram <= 1) || unlikely(!fast_time(t, &now)))
    goto slow;
  struct aprof_block *b = t->block;
  begin(b);
  uint64_t ran = now - b->last, exec = f->exec + ran, wall = now - f->created_tick;
  c->function.exec += ran;
  c->function.done++;
  if (unlikely(exec > c->function.exec_max))
    c->function.exec_max = exec;
  if (unlikely(wall > c->function.wall_max))
    c->function.wall_max = wall;
  ++*fast_bucket(c->function.exec_histogram, exec);
  ++*fast_bucket(c->function.wall_histogram, wall);
  c->function.born_done += !(f->flags & APROF_F_WAITED);
  f->id = 0;
  publish_fence();
  f->state = APROF_FUTURE_FREE;
  f->flags = 0;
  f->key0 = t->free_list;
  t->free_list = index;
  t->free_count++;

  uint64_t waited = now - caller->last;
  caller->waiting += waited;
  a->await.waiting += waited;
  a->await.count++;
  if (unlikely(waited > a->await.max))
    a->await.max = waited;
  if (likely(immediate)) {
    a->await.immediate++;
  } else {
    ++*fast_bucket(a->await.histogram, waited);
    caller->flags |= APROF_F_WAITED;
  }
  if (caller->callee & CALLEE_MINE)
    caller->await = 0;
  caller->callee = 0;
  caller->wake_tick = 0;
  caller->state = APROF_FUTURE_RUNNING;
  caller->last = now;
  t->at = NULL;
  t->cur = caller;
  t->counters = above;
  b->last = now;
  finish(b);
  return;
slow:
  event_leave(token, how);
}
