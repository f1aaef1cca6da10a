/* SPDX-License-Identifier: MIT */
/* Records of futures: slabs in the arena, handed out through a list per thread, with one shared
   list that evens out threads which create what others end. */
#include "record.h"

#include "grace.h"
#include "key.h"
#include "rt/count/node.h"
#include "rt/file/arena.h"
#include "rt/file/clock.h"
#include "rt/request/member.h"
#include "rt/sys/heads.h"
#include "rt/sys/lock.h"
#include "rt/trace/moved.h"

#define SLAB 255u /* records in a chunk: 32 KB with its head */
#define BATCH 51u /* of them; 5 a slab */

/*
 * Of batches: linked by `parent` within, by `created_tick` between. Both are written at a
 * birth only: a thread that lost its future to another one, and does not know it yet, may
 * write everything else of the record.
 */
static uint64_t shared_list;

static uint32_t sweeping, swept; /* a thread does; the epoch of the last time */

void future_reset(void) {
  shared_list = 0;
  sweeping = swept = 0;
}

/* Of the first record of a batch: the next one, and how many are in this one. */
static uint32_t *batch_words(uint32_t first) {
  return (uint32_t *)(void *)&future_at(first)->created_tick;
}
static uint32_t *batch_link(const void *unused, uint32_t first) {
  (void)unused;
  return batch_words(first);
}

static void batch_give(uint32_t first, uint32_t count) {
  batch_words(first)[1] = count;
  head_give(&shared_list, first, batch_words(first));
}

/* One batch of it; the others are everybody's. rt.lock held. */
static uint32_t slab_new(void) {
  struct aprof_future *slab =
      arena_chunk(APROF_CHUNK_FUTURES, 0, 0, SLAB, sizeof(struct aprof_future));
  if (slab == NULL)
    return 0;
  uint32_t first = index_of(slab);
  for (uint32_t i = 0; i < SLAB; i++)
    slab[i].parent = (i + 1) % BATCH == 0 ? 0 : first + i + 1;
  arena_publish(slab, APROF_CHUNK_FUTURES);
  batch_words(first)[1] = BATCH;
  for (uint32_t i = SLAB - BATCH; i != 0; i -= BATCH)
    batch_give(first + i, BATCH);
  return first;
}

/* -- futures of closed epochs -------------------------------------------------- */

/* A thread that has stood still in an event since that epoch may be about to run what is its own,
   or to create it: that is left for the next time. After this no thread begins to. */
static bool lease_withdrawn(struct aprof_future *f) {
  uint32_t lease = __atomic_load_n(&f->lease, __ATOMIC_ACQUIRE);
  return lease == 0 || (!thread_lags(lease) && swapped(&f->lease, &lease, 0, SEQ_CST));
}

/* What f, which waits, was queued by then: since somebody woke it, or it was due. */
static uint64_t queued_by(const struct aprof_future *f, uint64_t end) {
  uint64_t wake = f->wake_tick;
  if (f->state != APROF_FUTURE_WAITING || wake == 0)
    return 0;
  return elapsed(wake > f->last ? wake : f->last, end);
}

/* Folds a record that nobody will touch again into the counts, as its epoch's end
   found it. What lies before the last reset counts nowhere. */
static void sweep_one(struct thread *t, struct aprof_future *f, uint64_t id, uint32_t epoch) {
  struct aprof_header *h = rt.header;
  if (!lease_withdrawn(f) || !future_claim(f, id))
    return;
  bool known = h->epoch - epoch < APROF_EPOCHS; /* else its slot is another one's by now */
  uint64_t end = known ? h->epochs[epoch % APROF_EPOCHS].end_tick : 0;
  uint64_t passed = elapsed(f->last, end), queued = queued_by(f, end);
  if (epoch >= h->reset_epoch && f->state != APROF_FUTURE_TENTATIVE) {
    struct aprof_counters *c = counters_of(t, function_node(f->node));
    c->function.detached++;
    if (f->state == APROF_FUTURE_QUEUED)
      queued = passed;
    c->function.queued += queued;
    if (f->state != APROF_FUTURE_QUEUED)
      counters_of(t, f->await)->await.waiting += passed - queued;
    if (queued != 0 && traces(t))
      trace_ready(t, f, end);
  }
  if (f->flags & APROF_F_KEYED)
    key_remove(f);
  if (f->request != 0)
    member_forget(f);
  future_free(t, f);
  __atomic_fetch_add(&h->detached_swept, 1, __ATOMIC_RELAXED);
}

void records_each(struct thread *t,
                  void (*each)(struct thread *t, struct aprof_future *f, uint64_t id,
                               uint64_t with),
                  uint64_t with) {
  uint64_t end = __atomic_load_n(&rt.header->used, __ATOMIC_ACQUIRE);
  for (uint64_t at = APROF_HEADER_SIZE; at < end;) {
    struct aprof_chunk *chunk = (struct aprof_chunk *)(rt_base() + at);
    struct aprof_future *f = (struct aprof_future *)(chunk + 1);
    bool futures = __atomic_load_n(&chunk->type, __ATOMIC_ACQUIRE) == APROF_CHUNK_FUTURES;
    for (uint32_t i = 0; futures && i < chunk->count; i++)
      each(t, &f[i], __atomic_load_n(&f[i].id, __ATOMIC_ACQUIRE), with);
    at += chunk->size != 0 ? chunk->size : APROF_PAGE;
  }
}

static void sweep_older(struct thread *t, struct aprof_future *f, uint64_t id, uint64_t epoch) {
  uint16_t ago = (uint16_t)(epoch - (id >> 48));
  bool newer = ago > UINT16_MAX / 2; /* of an epoch that began meanwhile: none is so old */
  /* What ran then is part of its thread's time: it stays. */
  if (id != 0 && ago != 0 && !newer && f->state != APROF_FUTURE_RUNNING)
    sweep_one(t, f, id, (uint32_t)epoch - ago);
}

/* The records of epochs that are over, once each. */
static SLOW void sweep(struct thread *t) {
  uint32_t epoch = rt.header->epoch;
  if (epoch == __atomic_load_n(&swept, __ATOMIC_RELAXED) ||
      __atomic_exchange_n(&sweeping, 1, __ATOMIC_ACQUIRE))
    return;
  __atomic_store_n(&swept, epoch, __ATOMIC_RELAXED);
  records_each(t, sweep_older, epoch);
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

static uint32_t batch_take(struct thread *t) {
  uint32_t first = t->spare_records;
  if (first != 0) {
    t->spare_records = 0;
    return first;
  }
  return head_take(&shared_list, batch_link, NULL);
}

static SLOW bool refill(struct thread *t) {
  uint32_t first = batch_take(t);
  if (first == 0) {
    sweep(t); /* before more memory is taken */
    if (t->free_list != 0)
      return true;
    rt_lock();
    if ((first = batch_take(t)) == 0)
      first = slab_new();
    rt_unlock();
  }
  if (first == 0) {
    __atomic_fetch_add(&rt.header->lost_futures, 1, __ATOMIC_RELAXED);
    return false;
  }
  t->takes_records = true;
  t->free_list = first;
  t->free_count = (uint16_t)batch_words(first)[1];
  return true;
}

struct aprof_future *future_new(struct thread *t, uint64_t now) {
  if (unlikely(t->free_list == 0) && !refill(t))
    return NULL;
  struct aprof_future *f = future_at(t->free_list);
  uint64_t id = record_take(t, f, now, APROF_FUTURE_TENTATIVE, 0, 0, nowhere);
  f->await = 0;
  f->ns = 0;
  f->caller = 0;
  f->callee = 0;
  f->wake_site = 0;
  f->polled = 0;
  f->request = 0;
  publish_fence();
  f->id = id;
  return f;
}

/* All that the thread has, so that no list is walked through. One that also takes keeps that batch,
   and gives the one that it had kept to everybody: it does neither again soon (as of Bonwick's
   magazines). */
static SLOW void give_back(struct thread *t) {
  uint32_t first = t->free_list, given = first;
  batch_words(first)[1] = t->free_count;
  t->free_list = 0; /* a jump out of here must leave no record in two lists */
  t->free_count = 0;
  publish_fence();
  if (t->takes_records) {
    given = t->spare_records;
    t->spare_records = first;
  }
  if (given != 0)
    head_give(&shared_list, given, batch_words(given));
}

void records_go_back(struct thread *t) {
  if (!t->takes_records)
    give_back(t);
}

void future_free(struct thread *t, struct aprof_future *f) {
  if (unlikely(f->request != 0))
    member_undone(t, f);
  record_give(t, f, index_of(f));
  f->callee = 0;
  f->polled = 0;
  if (unlikely(t->free_count > FREE_ENOUGH))
    give_back(t);
}
