/* SPDX-License-Identifier: MIT */
/*
 * What an event costs here: measured once, at start, on a thread, a future and counters that
 * exist for this alone, so that nothing of it is in any total. All that is needed is in the
 * processor's caches then. What events cost as it happens: timed.c.
 */
#include <string.h>

#include "gates.h"
#include "rt/count/govern.h"
#include "rt/count/node.h"
#include "rt/file/arena.h"
#include "rt/file/clock.h"
#include "rt/sys/lock.h"
#include "timed.h"

#define PAIRS 64
#define BATCHES 5

struct scratch {
  struct {
    struct aprof_buckets head;
    uint16_t count[APROF_HISTOGRAM_BUCKETS];
  } histogram;
  struct aprof_counters counters[NODE_SEGMENT]; /* 0: the function's, 1: the await's */
  struct aprof_counters *segments[1];
  struct aprof_future future __attribute__((aligned(128))); /* as all records are */
  struct aprof_block block;
  struct thread thread;
};

static struct aprof_site place = {.kind = APROF_SITE_AWAIT, .id = 1};

static void prepare(struct scratch *s, uint32_t index) {
  struct thread *t = &s->thread;
  struct aprof_counters *function = &s->counters[0], *await = &s->counters[1];
  s->histogram.head.octaves = APROF_OCTAVES;
  function->function.slice_buckets = await->await.buckets =
      (uintptr_t)s->histogram.count - APROF_BUCKETS_BEFORE(0);
  await->await.function = (uintptr_t)function;
  await->await.site = place.id;
  await->await.node = 1;
  s->segments[0] = s->counters;
  s->future = (struct aprof_future){
      .id = (uint64_t)rt.header->epoch << 48 | 1, .state = APROF_FUTURE_RUNNING, .lease = index};
  t->epoch = t->usual = t->seen = rt.header->epoch;
  t->lease = t->index = index;
  t->block = &s->block;
  t->block->state = APROF_THREAD_RUNNING;
  t->cur = &s->future;
  t->counters = t->slice_counters = function;
  t->segments = s->segments;
  t->rest = APROF_THREAD_OTHER;
  t->check_at = UINT64_MAX;
  place.instance = rt.instance;
  node_cache_clear(t);
  struct node_entry *e = node_entry_for(t, 1, &place);
  *e = (struct node_entry){.site = &place, .place = 1, .node = 1, .counters = await};
}

static uint64_t batch(const struct aprof_gate *gate) {
  uint64_t begin = clock_read();
  for (int i = 0; i < PAIRS; i++) {
    struct aprof_token token = {{0}};
    gate->suspend(&place, &token);
    gate->resume(&token);
  }
  return clock_read() - begin;
}

/* Thousandths of a tick for an event, the best of a few batches. */
static uint64_t measure(const struct aprof_gate *gate) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < BATCHES; i++) {
    uint64_t ticks = batch(gate);
    least = ticks < least ? ticks : least;
  }
  return least * 1000 / (2 * PAIRS);
}

/* What the governor reckons with; see enum aprof_step. */
static void measure_steps(struct thread *t, const struct aprof_gate *gate) {
  for (uint32_t step = APROF_STEP_HISTOGRAMS; step < APROF_STEPS; step++) {
    t->shed = step;
    t->stood = clock_read();
    rt.header->step_cost_mticks[step] = measure(gate);
  }
  t->shed = APROF_STEP_NONE;
}

void cost_measure(void) {
  struct aprof_header *h = rt.header;
  h->overhead_ppm = rt.options.overhead;
  fast_all(&timed_usual, clock_variant(rt.clock));
  timed_usual.idle_begin = general_idle_begin;
  timed_usual.idle_end = general_idle_end;
  if (rt.clock == APROF_CLOCK_VIRTUAL)
    return; /* costs what it is told to */
  rt_lock();
  struct scratch *s = arena_chunk(APROF_CHUNK_PRIVATE, 0, 0, 1, sizeof *s);
  rt_unlock();
  if (s == NULL)
    return;
  static struct aprof_gate general; /* the stack may be small */
  fast_bodies(&general, 0);
  prepare(s, UINT32_MAX);
  struct thread *self = aprof_self;
  thread_is(&s->thread);
  h->event_cost_mticks = h->step_cost_mticks[APROF_STEP_NONE] = measure(&timed_usual);
  uint64_t cost = measure(&general);
  if (cost > h->event_cost_mticks)
    h->general_cost_mticks = cost - h->event_cost_mticks;
  unsigned pairs = 2 * BATCHES * PAIRS;
  if (rt.options.overhead != 0) {
    measure_steps(&s->thread, &timed_usual);
    pairs += (APROF_STEPS - 1) * BATCHES * PAIRS;
  }
  thread_is(self);
  if (s->counters[1].await.count != pairs) /* they were not what was to be measured */
    h->event_cost_mticks = h->general_cost_mticks = 0;
}
