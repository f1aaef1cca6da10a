/* SPDX-License-Identifier: MIT */
/*
 * What an event costs here.
 *
 * Once, at start: on a thread, a future and counters that exist for this alone, so that nothing of
 * it is in any total. All that is needed is in the processor's caches then.
 *
 * And as it happens: every TIMED_EVERY events of a thread, sooner at first, at its next general
 * event, TIMED_ROW of them in a row are timed, each from outside itself. While that goes on
 * `t->usual` is no epoch, so the fast event goes on in the timed one here, which makes it once more
 * between two looks at the clock. What these cost is not taken off. It stands for what they do not
 * see: the call, registers that the program saves for it, its own data and code that the event's
 * push out of the caches. `bench/deep.sh` compares what comes out with the truth.
 */
#include <string.h>

#include "transitions.h"

#include "events.h"

#define PAIRS 64
#define BATCHES 5

#define TIMED_FIRST 512u
#define TIMED_EVERY 262144u
#define TIMED_ROW 256u
#define TIMED_MOST_NS 10000u /* the thread has lost its processor meanwhile */

struct scratch {
  struct aprof_histogram histogram;
  struct aprof_counters counters[NODE_SEGMENT]; /* 0: the function's, 1: the await's */
  struct aprof_counters *segments[1];
  struct aprof_future future __attribute__((aligned(128))); /* as all records are */
  struct aprof_block block;
  struct thread thread;
};

static struct aprof_gate usual_gate; /* of the profile's clock */
static struct aprof_site place = {.kind = APROF_SITE_AWAIT, .id = 1};

static void prepare(struct scratch *s, uint32_t index) {
  struct thread *t = &s->thread;
  uint32_t histogram = (uint32_t)(((uintptr_t)&s->histogram - (uintptr_t)rt.header) >> 3);
  struct aprof_counters *function = &s->counters[0], *await = &s->counters[1];
  function->function.slice_histogram = await->await.histogram = histogram; /* is there */
  function->function.slice_buckets = await->await.buckets = (uintptr_t)&s->histogram;
  await->await.function = (uintptr_t)function;
  await->await.site = place.id;
  await->await.node = 1;
  s->segments[0] = s->counters;
  s->future = (struct aprof_future){
      .id = (uint64_t)rt.header->epoch << 48 | 1, .state = APROF_FUTURE_RUNNING, .lease = index};
  t->epoch = t->usual = rt.header->epoch;
  t->lease = t->index = index;
  t->block = &s->block;
  t->cur = &s->future;
  t->counters = t->slice_counters = function;
  t->segments = s->segments;
  t->rest = APROF_THREAD_OTHER;
  t->check_at = UINT64_MAX;
  place.instance = rt.instance;
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
  if (rt.clock == APROF_CLOCK_VIRTUAL)
    return; /* costs what it is told to */
  rt_lock();
  struct scratch *s = arena_chunk(APROF_CHUNK_PRIVATE, 0, 0, 1, sizeof *s);
  rt_unlock();
  if (s == NULL)
    return;
  static struct aprof_gate general; /* the stack may be small */
  fast_all(&usual_gate, clock_variant(rt.clock));
  usual_gate.idle_begin = general_idle_begin;
  usual_gate.idle_end = general_idle_end;
  fast_bodies(&general, 0);
  prepare(s, UINT32_MAX);
  struct thread *self = aprof_self;
  aprof_self = &s->thread;
  h->event_cost_mticks = h->step_cost_mticks[APROF_STEP_NONE] = measure(&usual_gate);
  uint64_t cost = measure(&general);
  if (cost > h->event_cost_mticks)
    h->general_cost_mticks = cost - h->event_cost_mticks;
  unsigned pairs = 2 * BATCHES * PAIRS;
  if (rt.options.overhead != 0) {
    measure_steps(&s->thread, &usual_gate);
    pairs += (APROF_STEPS - 1) * BATCHES * PAIRS;
  }
  aprof_self = self;
  if (s->counters[1].await.count != pairs) /* they were not what was to be measured */
    h->event_cost_mticks = h->general_cost_mticks = 0;
}

/* -- as it happens ----------------------------------------------------------------- */

void cost_start(struct thread *t) {
  bool timed = rt.header->event_cost_mticks != 0;
  t->usual = t->epoch;
  t->to_time = 0;
  t->row_from = t->block->sequence / 2;
  t->time_at = timed ? t->block->sequence + 2 * TIMED_FIRST : UINT64_MAX;
  if (t->check_at > t->time_at)
    t->check_at = t->time_at;
}

void cost_time(struct thread *t) {
  t->to_time = TIMED_ROW;
  t->row_events = t->row_ticks = 0;
  t->row_most = clock_ticks(TIMED_MOST_NS);
  t->usual = 0;
  uint64_t events = t->block->sequence / 2, next = 4 * events;
  t->time_at = 2 * (next < events + TIMED_EVERY ? next : events + TIMED_EVERY);
}

struct timing {
  uint64_t tick, events;
};

static struct timing timing_begin(struct thread *t) {
  t->usual = t->epoch;
  return (struct timing){.events = t->block->sequence / 2, .tick = clock_read()};
}

/* It stands for all events since the last one: the first have much to register. */
static void row_ends(struct thread *t) {
  struct aprof_block *b = t->block;
  uint64_t events = b->sequence / 2 - t->row_from;
  t->row_from += events;
  if (t->row_events == 0)
    return;
  b->timed_ticks += (uint64_t)((double)t->row_ticks / (double)t->row_events * (double)events);
  b->timed_events += events;
}

static void timing_end(struct thread *t, struct timing began) {
  uint64_t passed = clock_read() - began.tick;
  if (aprof_self != t || t->usual != t->epoch || t->to_time == 0)
    return; /* it is another epoch, or thread */
  if (passed < t->row_most) {
    t->row_ticks += passed;
    t->row_events += t->block->sequence / 2 - began.events;
  }
  if (--t->to_time != 0)
    t->usual = 0;
  else
    row_ends(t);
}

#define TIMED(with, role, name, parameters, arguments)                                             \
  void timed_##name parameters {                                                                   \
    struct thread *t = aprof_self;                                                                 \
    if (likely(t->usual == t->epoch)) {                                                            \
      general_##name arguments;                                                                    \
      return;                                                                                      \
    }                                                                                              \
    struct timing began = timing_begin(t);                                                         \
    usual_gate.name arguments;                                                                     \
    timing_end(t, began);                                                                          \
  }
TIMED_EVENTS(TIMED, 0)
