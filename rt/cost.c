/*
 * What an event costs here: measured once, on a thread, a future and counters that
 * exist for this alone, so that nothing of it is in any total.
 */
#include <string.h>

#include "transitions.h"

#include "events.h"

#define PAIRS 64
#define BATCHES 5

struct scratch {
  struct aprof_histogram histogram;
  struct aprof_counters function, await;
  struct aprof_future future;
  struct aprof_block block;
  struct thread thread;
};

static struct aprof_site place = {.kind = APROF_SITE_AWAIT, .id = 1};

static void prepare(struct scratch *s, uint32_t index) {
  struct thread *t = &s->thread;
  uint32_t histogram = (uint32_t)(((uintptr_t)&s->histogram - (uintptr_t)rt.header) >> 3);
  s->function.function.slice_histogram = s->await.await.histogram = histogram;
  s->await.await.function = (uintptr_t)&s->function;
  s->await.await.site = place.id;
  s->await.await.node = 1;
  s->future = (struct aprof_future){.id = (uint64_t)rt.header->epoch << 48 | 1,
                                    .state = APROF_FUTURE_RUNNING,
                                    .lease = index};
  t->epoch = rt.header->epoch;
  t->lease = t->index = index;
  t->block = &s->block;
  t->cur = &s->future;
  t->counters = t->slice_counters = &s->function;
  t->rest = APROF_THREAD_OTHER;
  place.instance = rt.instance;
  struct node_entry *e = node_entry_for(t, 1, &place);
  *e = (struct node_entry){
      .site = &place, .place = 1, .node = 1, .counters = &s->await};
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

void cost_measure(void) {
  if (rt.clock != APROF_CLOCK_TSC)
    return; /* a virtual clock costs what it is told to */
  rt_lock();
  struct scratch *s = arena_chunk(APROF_CHUNK_PRIVATE, 0, 0, 1, sizeof *s);
  rt_unlock();
  if (s == NULL)
    return;
  struct aprof_gate gate;
  fast_bodies(&gate, rt.clock);
  prepare(s, UINT32_MAX);
  struct thread *self = aprof_self;
  aprof_self = &s->thread;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < BATCHES; i++) {
    uint64_t ticks = batch(&gate);
    least = ticks < least ? ticks : least;
  }
  aprof_self = self;
  if (s->await.await.count == BATCHES * PAIRS)
    rt.header->event_cost_mticks = least * 1000 / (2 * PAIRS);
}
