/* SPDX-License-Identifier: MIT */
/*
 * Rings: made, written, and when.
 *
 * Who traces sets APROF_TRACED in header.usual, from any process: then no event is one of the usual
 * fast ones, and the thread's next event finds that here. Its ring begins with what the thread is
 * doing; from then on fast-traced.c makes its events. Tracing is a lease: the first event behind
 * header.trace_until switches it off for all, unless it is to stay on from the start.
 *
 * Of what futures and nodes have left of the profile all rings together take five eighths at most,
 * so that the process has the rest for as long as it lives; and each a quarter of what those before
 * it have left of that. It is never given back: the next trace, and the next thread of the block,
 * go on in it.
 */
#include "ring.h"

#include "kept.h"
#include "rt/event/timed.h"
#include "rt/file/arena.h"
#include "rt/file/clock.h"
#include "rt/future/grace.h"
#include "rt/sys/lock.h"

#define EVENT sizeof(struct aprof_trace_event)

struct aprof_gate traced_usual, some_usual; /* filled at attach; begin() chooses */

/* -- writing ---------------------------------------------------------------------- */

static inline void put(struct thread *t, uint32_t kind, uint64_t a, uint64_t b) {
  if (unlikely(t->block->ring == 0))
    t->block->ring_lost++;
  else
    ring_put(t, kind, a, b);
}

void trace_put_any(struct thread *t, enum aprof_trace_kind kind, uint32_t future, uint32_t node,
                   uint64_t tick) {
  t->muted = false;
  put(t, kind, tick, aprof_trace_what(future, node));
}

void trace_held(struct thread *t, uint32_t node, uint64_t tick) {
  if (t->told_held)
    return;
  trace_put_any(t, APROF_TRACE_HELD, 0, node, tick);
  t->told_held = true;
}

/* Whether such an event goes into the ring as it is. Of what is left out it is told who holds the
   thread. */
static SLOW bool tells(struct thread *t, uint32_t kind, uint32_t future, uint32_t node,
                       uint64_t tick) {
  bool runs = kind == APROF_TRACE_RUNNING || kind == APROF_TRACE_POLLED;
  if (kind < APROF_TRACE_BORN) {
    t->told_held &= kind == APROF_TRACE_OUTSIDE;
    return kind != APROF_TRACE_OUTSIDE;
  }
  if (kind >= APROF_TRACE_REQUEST_BEGIN && kind <= APROF_TRACE_TOKEN)
    return true; /* nobody tells of others */
  if (trace_has(t, future_at(future))) {
    t->told_held &= !runs;
    return true;
  }
  if (runs)
    trace_held(t, node, tick);
  return false;
}

void trace_put(struct thread *t, enum aprof_trace_kind kind, uint32_t future, uint32_t node,
               uint64_t tick) {
  if (unlikely(t->partly) && !tells(t, kind, future, node, tick))
    t->muted = true;
  else
    trace_put_any(t, kind, future, node, tick);
}

void trace_more(struct thread *t, uint64_t a, uint64_t b) {
  if (likely(!t->muted))
    put(t, APROF_TRACE_MORE, a, b);
}

/* -- the thread -------------------------------------------------------------------- */

void trace_base(struct thread *t) {
  const struct aprof_block *b = t->block;
  const struct aprof_future *f = running(t);
  if (!traces(t))
    return;
  bool kept = f != NULL && trace_has(t, f);
  t->told = t->rest;
  trace_put(t, APROF_TRACE_THREAD, kept ? index_of(f) : 0, kept ? f->node : 0, b->last);
  trace_more(t, t->epoch | (uint64_t)t->rest << 32 | (uint64_t)b->state << 40, b->span_node);
  trace_more(t, b->leases, b->sequence / 2);
  if (f != NULL && !kept)
    trace_held(t, f->node, b->last);
}

void trace_gone(struct thread *t) {
  if (traces(t))
    trace_put(t, APROF_TRACE_GONE, 0, 0, t->block->last);
  trace_none(t);
}

/* -- on and off ----------------------------------------------------------------------- */

/* Of all threads. rt.lock held. */
static uint64_t rings_size(void) {
  uint64_t rings = 0;
  for (uint32_t n = 1; n <= rt.header->blocks; n++)
    if (thread_blocks[n] != NULL && thread_blocks[n]->ring != 0)
      rings += EVENT << thread_blocks[n]->ring_bits;
  return rings;
}

static void ring_make(const struct thread *t) {
  struct aprof_block *b = t->block;
  struct aprof_trace_event *ring = NULL;
  rt_lock();
  uint64_t wanted = rt.header->trace_size != 0 ? rt.header->trace_size : APROF_TRACE_USUALLY;
  uint64_t size = aprof_trace_ring_size(wanted, rt.capacity, rt.header->used, rings_size());
  for (; ring == NULL && size >= APROF_TRACE_LEAST; size /= 2)
    ring = arena_chunk(APROF_CHUNK_RING, t->index, 0, (uint32_t)(size / EVENT), EVENT);
  if (ring != NULL) {
    const struct aprof_chunk *chunk = (struct aprof_chunk *)(void *)ring - 1;
    b->ring_bits = (uint32_t)__builtin_ctz(chunk->count);
    arena_publish(ring, APROF_CHUNK_RING);
    __atomic_store_n(&b->ring, (uint64_t)((char *)ring - rt_base()), __ATOMIC_RELEASE);
  }
  rt_unlock();
}

/* Its events so far that are in no trace, but for general ones. */
static uint32_t fast_events(const struct thread *t) {
  const struct aprof_block *b = t->block;
  return (uint32_t)(b->sequence / 2 - b->general_events) - b->traced;
}

/* Before it noticed, it may have had fast events. */
static void end(struct thread *t) {
  if (traces(t))
    t->untraced = t->block->sequence / 2 - (uint32_t)(fast_events(t) - t->fast_events);
  trace_none(t);
}

static void begin(struct thread *t) {
  end(t);
  if (t->index >= BLOCKS)
    return; /* no thread: cost.c */
  if (t->block->ring == 0)
    ring_make(t);
  t->ring_mask = ((uint64_t)1 << t->block->ring_bits) - 1;
  t->ring_lap = aprof_trace_lap(t->block->ring_head, t->block->ring_bits);
  t->tracing = __atomic_load_n(&rt.header->traces, __ATOMIC_ACQUIRE);
  t->partly = __atomic_load_n(&rt.header->mode, __ATOMIC_RELAXED) & APROF_TRACE_SHARED;
  t->noting = t->block->ring != 0 ? t->tracing : 0;
  t->told_by = t->noting == 0 ? NULL : t->partly ? &some_usual : &traced_usual;
  t->told_held = false;
  uint64_t missed = t->untraced != 0 ? t->block->sequence / 2 - t->untraced : 0;
  if (missed != 0) {
    trace_put(t, APROF_TRACE_GAP, 0, 0, t->block->last);
    trace_more(t, missed, 0);
  }
  t->fast_events = fast_events(t);
  trace_base(t);
}

/* It was switched on since this thread saw it last; it goes off now, unless it is prolonged. */
static inline bool is_new(const struct thread *t) {
  return t->tracing != __atomic_load_n(&rt.header->traces, __ATOMIC_RELAXED);
}
static inline bool is_late(const struct thread *t) {
  return t->block->last >= __atomic_load_n(&rt.header->trace_until, __ATOMIC_RELAXED);
}

static SLOW void turns(struct thread *t) {
  bool on = t->seen & APROF_TRACED;
  if (on && is_late(t)) {
    aprof_trace_recorded(rt.header); /* nobody has prolonged it */
    on = __atomic_load_n(&rt.header->usual, __ATOMIC_RELAXED) & APROF_TRACED;
  }
  if (!on)
    end(t);
  else if (is_new(t))
    begin(t);
}

void trace_goes_on(struct thread *t) {
  if (unlikely(!(t->seen & APROF_TRACED) || is_new(t) || is_late(t)))
    turns(t);
}

void trace_epoch_over(struct thread *t, uint64_t tick) {
  bool inside = t->block->sequence & 1; /* in a handler, which another event goes on behind */
  if (!inside) {
    trace_seen(t);
    if (t->tracing != 0)
      trace_goes_on(t); /* what is open is told before it ends */
  }
  if (!inside && traces(t))
    trace_put(t, APROF_TRACE_EPOCH, 0, 0, tick > t->block->last ? tick : t->block->last);
  trace_none(t);
}

void trace_flight(void) {
  struct aprof_header *h = rt.header;
  if (rt.options.flight == 0)
    return;
  h->trace_size = rt.options.flight;
  h->trace_until = UINT64_MAX;
  h->trace_share = h->flight_share = rt.options.flight_share;
  h->mode |= APROF_TRACE_FLIGHT | (h->flight_share != 0 ? APROF_TRACE_SHARED : 0);
  aprof_trace_switch(h, true);
}
