/* SPDX-License-Identifier: MIT */
/* The events of the rings, one by one: the segments that each opens and closes. */
#include "replay-inside.h"

#include <string.h>

static void wrong(const char *why) {
  replay.odd++;
  replay.odd_why = why;
}

/* -- requests ------------------------------------------------------------------------- */

static void of_request(const struct aprof_trace_event *e, uint64_t tick) {
  uint64_t a = aprof_trace_a(e + 1), b = aprof_trace_b(e + 1);
  uint32_t number = a & APROF_TRACE_MASK(APROF_TRACE_REQUEST_BITS);
  if (number == 0 || number >= REQUESTS_MAX || aprof_trace_kind(e + 1) != APROF_TRACE_MORE) {
    wrong("a request that cannot be");
    return;
  }
  if (aprof_trace_kind(e) == APROF_TRACE_REQUEST_BEGIN) {
    replay.requests[number].id = a;
    replay.requests[number].begin = tick;
    return;
  }
  if (replay.requests[number].id != a)
    wrong("a request ends that did not begin");
  replay.requests[number].id = 0;
  struct replay_kind *k = &replay.kinds[(b & 0xffff) % APROF_KINDS];
  if (b & APROF_TRACE_UNDONE)
    return;
  replay_kinds_current();
  k->count++;
  k->failed += (b >> 16 & APROF_REQUEST_FAILED) != 0;
  k->wall += tick - replay.requests[number].begin;
}

/* -- segments ------------------------------------------------------------------------ */

static void add(struct replay_thread *t, uint32_t node, enum what what, uint64_t amount) {
  t->sums[node % NODES_MAX][what] += amount;
}

static uint64_t passed(uint64_t since, uint64_t tick) {
  if (tick < since)
    wrong("time runs backwards");
  return tick - since;
}

/* What f does at rest ends then. */
static void close_rest_of(struct replay_thread *t, struct replay_future *f, uint64_t tick) {
  uint64_t end = f->ready ? f->ready : tick;
  if (f->state == QUEUED || f->ready)
    add(t, replay_function(f->node), QUEUED_FOR, passed(f->ready ? f->ready : f->since, tick));
  if (f->state == WAITING || f->state == ASIDE) {
    add(t, f->await, WAITED, passed(f->since, end));
    add(t, f->await, WAITS, 1);
  }
  f->ready = 0;
  f->since = tick;
}

/* What the thread does, where no future runs, ends then. */
static void close_rest(struct replay_thread *t, uint64_t tick) {
  uint64_t ticks = passed(t->since, tick);
  if (t->idle) {
    t->idle_time += ticks;
  } else {
    t->other_time += ticks;
    if (t->span) {
      add(t, t->span, EXEC, ticks);
      if (t->given_count < GIVEN_MAX) {
        t->given[t->given_count].span = t->span;
        t->given[t->given_count++].ticks = ticks;
      }
    }
  }
  t->since = tick;
}

static void close_running(struct replay_thread *t, uint64_t tick) {
  add(t, t->node, EXEC, passed(t->since, tick));
  t->since = tick;
}

static void close_thread(struct replay_thread *t, uint64_t tick) {
  if (t->runs)
    close_running(t, tick);
  else
    close_rest(t, tick);
}

static void rests(struct replay_thread *t) {
  t->runs = 0;
  t->idle = t->rest == APROF_THREAD_IDLE;
}

/* f stops doing what it did. */
static void stop(struct replay_thread *t, uint32_t index, uint64_t tick) {
  struct replay_future *f = &replay.futures[index];
  if (t->runs == index) {
    close_running(t, tick);
    rests(t);
    t->given_count = 0;
  } else {
    if (f->state == RUNNING)
      wrong("what runs elsewhere stops here");
    close_rest_of(t, f, tick);
  }
  f->since = tick;
}

static void polled_over(struct replay_thread *t, struct replay_future *f) {
  if (f->polled)
    add(t, f->polled, WAITS, 1);
  f->polled = 0;
}

static void runs(struct replay_thread *t, uint32_t index, uint32_t node, bool polls,
                 uint64_t tick) {
  struct replay_future *f = &replay.futures[index];
  if (t->runs)
    wrong("two run at once");
  if (f->state == OVER)
    wrong("what is over runs");
  close_rest(t, tick);
  if (polls) {
    f->polled = f->await;
    add(t, f->await, WAITS, (uint64_t)-1);
  }
  close_rest_of(t, f, tick);
  f->state = RUNNING;
  f->node = t->node = node;
  t->runs = index;
  t->idle = false;
}

static void waits(struct replay_thread *t, uint32_t kind, uint32_t index, uint32_t await,
                  uint64_t tick) {
  struct replay_future *f = &replay.futures[index];
  if (kind == APROF_TRACE_WAITING && f->state == ASIDE && f->since == tick && t->runs != index) {
    f->state = WAITING; /* nobody comes back to it */
    f->await = await;
    return;
  }
  stop(t, index, tick);
  if (kind == APROF_TRACE_AGAIN)
    f->polled = 0;
  else
    polled_over(t, f);
  f->state = kind == APROF_TRACE_ASIDE ? ASIDE : WAITING;
  f->await = await;
}

/* It had not waited: it ran, and what spans outside were given meanwhile is taken back. */
static void ran(struct replay_thread *t, uint32_t index, uint32_t node, uint64_t tick) {
  struct replay_future *f = &replay.futures[index];
  uint64_t closed = passed(f->since, t->since);
  *(t->idle ? &t->idle_time : &t->other_time) -= closed;
  for (unsigned i = 0; i < t->given_count; i++)
    add(t, t->given[i].span, EXEC, 0 - t->given[i].ticks);
  t->given_count = 0;
  t->given_before |= f->since < replay.began;
  add(t, node, EXEC, passed(f->since, tick));
  f->since = t->since = tick;
  if (f->ready)
    f->ready = tick;
}

/* -- events ------------------------------------------------------------------------------ */

static uint64_t last_tick;

static void thread_begins(struct replay_thread *t, const struct aprof_trace_event *e,
                          uint64_t tick) {
  uint32_t reset = t->block->counters_epoch;
  if (reset != t->epoch && (uint32_t)aprof_trace_a(e + 1) >= reset) {
    memset(t->sums, 0, NODES_MAX * sizeof *t->sums);
    memset(t->before, 0, NODES_MAX * sizeof *t->before);
    t->other_time = t->idle_time = t->other_before = t->idle_before = 0;
    t->epoch = reset;
  }
  t->now = (uint32_t)aprof_trace_a(e + 1);
  replay_detach(t->now);
  t->known = true;
  t->runs = aprof_trace_future(e);
  t->node = aprof_trace_node(e);
  t->since = tick;
  t->given_count = 0;
  t->rest = (uint32_t)(aprof_trace_a(e + 1) >> 32) & 0xff;
  t->idle = ((aprof_trace_a(e + 1) >> 40) & 0xff) == APROF_THREAD_IDLE;
  t->span = (uint32_t)aprof_trace_b(e + 1);
}

static void of_thread(struct replay_thread *t, const struct aprof_trace_event *e, uint64_t tick) {
  switch (aprof_trace_kind(e)) {
  case APROF_TRACE_THREAD:
    thread_begins(t, e, tick);
    break;
  case APROF_TRACE_GONE:
  case APROF_TRACE_EPOCH:
    close_thread(t, tick);
    t->known = false;
    t->runs = 0;
    break;
  case APROF_TRACE_OTHER:
  case APROF_TRACE_IDLE:
    if (t->runs)
      wrong("it rests while something runs");
    close_rest(t, tick);
    t->rest = aprof_trace_kind(e) == APROF_TRACE_IDLE ? APROF_THREAD_IDLE : APROF_THREAD_OTHER;
    rests(t);
    break;
  case APROF_TRACE_OUTSIDE:
    if (!t->runs)
      close_rest(t, tick);
    t->span = aprof_trace_node(e);
    break;
  case APROF_TRACE_STOLEN:
    rests(t);
    close_rest(t, tick);
    break;
  }
}

static void of_future(struct replay_thread *t, const struct aprof_trace_event *e, uint64_t tick) {
  uint32_t kind = aprof_trace_kind(e), index = aprof_trace_future(e), node = aprof_trace_node(e);
  struct replay_future *f = &replay.futures[index];
  if (index == 0 || index >= replay.future_room || !t->known) {
    wrong("an event of no future, or no thread");
    return;
  }
  switch (kind) {
  case APROF_TRACE_BORN:
    *f = (struct replay_future){.state = QUEUED, .node = node, .since = tick};
    f->id = (uint64_t)t->now << 48 | (aprof_trace_b(e + 1) >> APROF_TRACE_FUTURE_BITS) << 32 |
            (uint32_t)aprof_trace_a(e + 1);
    if (index >= replay.future_end)
      replay.future_end = index + 1;
    break;
  case APROF_TRACE_UNBORN:
    f->state = OVER;
    break;
  case APROF_TRACE_NAMED:
    f->node = node;
    f->await = aprof_trace_b(e + 1) ? (uint32_t)aprof_trace_b(e + 1) : f->await;
    if (t->runs == index)
      t->node = node;
    break;
  case APROF_TRACE_DONE:
  case APROF_TRACE_FAILED:
  case APROF_TRACE_CANCELLED:
    if (f->state == OVER)
      wrong("what is over ends");
    stop(t, index, tick);
    polled_over(t, f);
    add(t, node, (enum what)(ENDED + kind - APROF_TRACE_DONE), 1);
    f->state = OVER;
    break;
  case APROF_TRACE_READY:
    if (f->state != WAITING)
      wrong("what does not wait is ready");
    f->ready = tick;
    if (f->detached) {
      struct replay_detached *d = &replay.detached[f->detached - 1];
      d->queued = passed(tick, d->waited + d->queued + f->since);
      d->waited = passed(f->since, tick);
    }
    break;
  case APROF_TRACE_RUNNING:
  case APROF_TRACE_POLLED:
    runs(t, index, node, kind == APROF_TRACE_POLLED, tick);
    break;
  case APROF_TRACE_WAITING:
  case APROF_TRACE_AGAIN:
  case APROF_TRACE_ASIDE:
    waits(t, kind, index, node, tick);
    break;
  case APROF_TRACE_RAN:
    ran(t, index, node, tick);
    break;
  case APROF_TRACE_NODE:
    if (t->runs != index)
      wrong("a span of what does not run");
    close_running(t, tick);
    f->node = t->node = node;
  }
}

static void event(struct replay_thread *t, const struct aprof_trace_event *e) {
  uint32_t kind = aprof_trace_kind(e);
  uint64_t tick = aprof_trace_tick(e, last_tick);
  if (kind == APROF_TRACE_MORE)
    return;
  last_tick = tick;
  if (kind == APROF_TRACE_NONE || kind >= APROF_TRACE_KINDS)
    wrong("an event of no kind");
  else if (kind < APROF_TRACE_BORN)
    of_thread(t, e, tick);
  else if (kind <= APROF_TRACE_NODE)
    of_future(t, e, tick);
  else if (kind == APROF_TRACE_REQUEST_BEGIN || kind == APROF_TRACE_REQUEST_END)
    of_request(e, tick);
}

static void follow(const struct aprof_chunk *chunk) {
  if (chunk->type != APROF_CHUNK_BLOCK)
    return;
  struct replay_thread *t = replay_thread_at(chunk->first);
  const struct aprof_block *b = t->block = (const void *)(chunk + 1);
  if (!b->ring || b->ring_head == t->seen)
    return;
  const struct aprof_trace_event *ring = replay_at(b->ring);
  uint64_t mask = ((uint64_t)1 << b->ring_bits) - 1;
  for (; t->seen < b->ring_head; t->seen++) {
    struct aprof_trace_event e[3]; /* with what may be MORE */
    for (uint64_t i = 0; i < 3; i++)
      e[i] = ring[(t->seen + i) & mask];
    if (aprof_trace_whole(e, t->seen, b->ring_bits, b->ring_head))
      event(t, e);
    else
      wrong("an event that is not whole");
  }
}

void replay_follow(void) {
  if (replay.header)
    replay_each_chunk(follow);
}
