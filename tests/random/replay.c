/* SPDX-License-Identifier: MIT */
/* The trace of this process, as sums. */
#include "replay.h"

#include "aprof/abi.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 64u
#define NODES_MAX 4096u
#define GIVEN_MAX 64u
#define REQUESTS_MAX 4096u
#define NONE UINT32_MAX

enum state { OVER, QUEUED, RUNNING, WAITING, ASIDE };

/* What is counted of a node, function or await. */
enum what { EXEC, QUEUED_FOR, WAITED, WAITS, ENDED, WHATS = ENDED + 3 };
static const char *const names[WHATS] = {"exec", "queued", "waiting",  "count",
                                         "done", "failed", "cancelled"};

struct future {
  enum state state;
  uint32_t node, await, polled; /* polled: await of a wait that may go on */
  uint32_t request;
  bool called;
  uint64_t since;
};

struct thread {
  const struct aprof_block *block;
  uint64_t seen; /* events */
  bool known, idle;
  uint32_t runs, node, span; /* runs: a future, 0: none */
  uint64_t since;
  uint32_t rest, epoch;
  uint64_t other_time, idle_time;
  struct {
    uint32_t span;
    uint64_t ticks;
  } given[GIVEN_MAX]; /* since its last WAITING */
  unsigned given_count;
  uint64_t (*sums)[WHATS], (*before)[WHATS]; /* by node: replayed; counted then */
  uint64_t other_before, idle_before;
};

static struct aprof_header *header;
static struct future *futures;
static uint32_t future_room;
static struct thread threads[BLOCKS_MAX];
static unsigned odd; /* events that cannot be */
static const char *odd_why;

static void wrong(const char *why) {
  odd++;
  odd_why = why;
}

static const void *at(uint64_t offset) {
  return (const char *)header + offset;
}

static void each_chunk(void (*visit)(const struct aprof_chunk *)) {
  for (uint64_t offset = header->header_size; offset < header->used;) {
    const struct aprof_chunk *chunk = at(offset);
    if (chunk->type)
      visit(chunk);
    offset += chunk->size ? chunk->size : APROF_PAGE;
  }
}

/* -- nodes ------------------------------------------------------------------------ */

static const struct aprof_node *node_chunks[NODES_MAX];

static void index_nodes(const struct aprof_chunk *chunk) {
  const struct aprof_node *all = (const void *)(chunk + 1);
  for (uint32_t i = 0; chunk->type == APROF_CHUNK_NODES && i < chunk->count; i++)
    if (chunk->first + i < NODES_MAX)
      node_chunks[chunk->first + i] = &all[i];
}

static const struct aprof_node *node_at(uint32_t number) {
  if (!node_chunks[number % NODES_MAX])
    each_chunk(index_nodes);
  return node_chunks[number % NODES_MAX];
}

static uint32_t function_of(uint32_t node) {
  while (node_at(node)->is_await == APROF_NODE_SPAN && node_at(node)->parent)
    node = node_at(node)->parent;
  return node;
}

/* -- what was counted ----------------------------------------------------------------- */

static void count_of(const struct aprof_counters *c, bool await, uint64_t counted[WHATS]) {
  if (await) {
    counted[WAITED] = c->await.waiting;
    counted[WAITS] = c->await.count;
  } else {
    counted[EXEC] = c->function.exec;
    counted[QUEUED_FOR] = c->function.queued;
    counted[ENDED + APROF_DONE] = c->function.done;
    counted[ENDED + APROF_FAILED] = c->function.failed;
    counted[ENDED + APROF_CANCELLED] = c->function.cancelled;
  }
}

static struct thread *thread_at(uint32_t block) {
  struct thread *t = &threads[block % BLOCKS_MAX];
  if (!t->sums) {
    t->sums = calloc(NODES_MAX, sizeof *t->sums);
    t->before = calloc(NODES_MAX, sizeof *t->before);
  }
  return t;
}

static void note_counters(const struct aprof_chunk *chunk) {
  const struct aprof_counters *all = (const void *)(chunk + 1);
  struct thread *t = thread_at(chunk->owner);
  for (uint32_t i = 0; chunk->type == APROF_CHUNK_COUNTERS && i < chunk->count; i++) {
    uint32_t number = chunk->first + i;
    if (number >= NODES_MAX || number > header->nodes || !node_at(number))
      continue;
    count_of(&all[i], node_at(number)->is_await == APROF_NODE_AWAIT, t->before[number]);
    if (number == t->block->span_node) /* the rest of its time it is given later */
      t->before[number][EXEC] += t->block->other - t->block->span_other;
  }
}

static void note_block(const struct aprof_chunk *chunk) {
  if (chunk->type != APROF_CHUNK_BLOCK)
    return;
  struct thread *t = thread_at(chunk->first);
  t->block = (const void *)(chunk + 1);
  t->other_before = t->block->other;
  t->idle_before = t->block->idle;
  t->seen = t->block->ring_head;
  t->epoch = t->block->counters_epoch;
}

static void note_futures(const struct aprof_chunk *chunk) {
  static const enum state states[] = {OVER, QUEUED, RUNNING, WAITING, OVER, ASIDE, OVER};
  const struct aprof_future *all = (const void *)(chunk + 1);
  for (uint32_t i = 0; chunk->type == APROF_CHUNK_FUTURES && i < chunk->count; i++)
    if (all[i].id)
      futures[((const char *)&all[i] - (const char *)header) / 128] =
          (struct future){.state = states[all[i].state],
                          .node = all[i].node,
                          .await = all[i].await,
                          .since = all[i].last};
}

/* -- what was counted of requests ----------------------------------------------------- */

struct kind {
  uint64_t count, failed, wall;
};
static struct kind kinds[APROF_KINDS], kinds_before[APROF_KINDS];
static uint32_t kinds_epoch;
static struct { uint64_t id, begin; /* id: as in events; 0: none */ } requests[REQUESTS_MAX];

/* A reset empties them. */
static void new_epoch_of_kinds(void) {
  if (kinds_epoch == header->reset_epoch)
    return;
  memset(kinds, 0, sizeof kinds);
  memset(kinds_before, 0, sizeof kinds_before);
  kinds_epoch = header->reset_epoch;
}

static struct kind kind_of(const struct aprof_kind *k) {
  struct kind none = {0};
  return k->epoch != header->reset_epoch ? none : (struct kind){k->count, k->failed, k->wall.sum};
}

static void note_requests(const struct aprof_chunk *chunk) {
  const struct aprof_request *r = (const void *)(chunk + 1);
  const struct aprof_kind *k = (const void *)(chunk + 1);
  for (uint32_t i = 0; i < chunk->count; i++)
    if (chunk->type == APROF_CHUNK_KINDS && chunk->first + i < APROF_KINDS) {
      kinds_before[chunk->first + i] = kind_of(&k[i]);
    } else if (chunk->type == APROF_CHUNK_REQUESTS && r[i].id && chunk->first + i < REQUESTS_MAX) {
      requests[chunk->first + i].id = aprof_trace_request(chunk->first + i, r[i].id);
      requests[chunk->first + i].begin = r[i].begin_tick;
    }
}

void replay_from_start(struct aprof_header *h) {
  header = h;
  future_room = (uint32_t)(h->capacity / 128);
  futures = calloc(future_room, sizeof *futures);
  kinds_epoch = h->reset_epoch;
}

void replay_begin(struct aprof_header *h) {
  replay_from_start(h);
  h->trace_until = UINT64_MAX;
  h->trace_size = 1u << 18;
  aprof_trace_switch(h, 1);
  each_chunk(index_nodes);
  each_chunk(note_block);
  each_chunk(note_counters);
  each_chunk(note_futures);
  each_chunk(note_requests);
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
    requests[number].id = a;
    requests[number].begin = tick;
    return;
  }
  if (requests[number].id != a)
    wrong("a request ends that did not begin");
  requests[number].id = 0;
  struct kind *k = &kinds[(b & 0xffff) % APROF_KINDS];
  if (b & APROF_TRACE_UNDONE)
    return;
  new_epoch_of_kinds();
  k->count++;
  k->failed += (b >> 16 & APROF_REQUEST_FAILED) != 0;
  k->wall += tick - requests[number].begin;
}

/* -- segments ------------------------------------------------------------------------ */

static void add(struct thread *t, uint32_t node, enum what what, uint64_t amount) {
  t->sums[node % NODES_MAX][what] += amount;
}

static uint64_t passed(uint64_t since, uint64_t tick) {
  if (tick < since)
    wrong("time runs backwards");
  return tick - since;
}

/* What f does at rest ends then. */
static void close_rest_of(struct thread *t, struct future *f, uint64_t tick) {
  if (f->state == QUEUED) {
    add(t, function_of(f->node), QUEUED_FOR, passed(f->since, tick));
  } else if (f->state == WAITING || f->state == ASIDE) {
    add(t, f->await, WAITED, passed(f->since, tick));
    add(t, f->await, WAITS, 1);
  }
  f->since = tick;
}

/* What the thread does, where no future runs, ends then. */
static void close_rest(struct thread *t, uint64_t tick) {
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

static void close_running(struct thread *t, uint64_t tick) {
  add(t, t->node, EXEC, passed(t->since, tick));
  t->since = tick;
}

static void close_thread(struct thread *t, uint64_t tick) {
  if (t->runs)
    close_running(t, tick);
  else
    close_rest(t, tick);
}

static void rests(struct thread *t) {
  t->runs = 0;
  t->idle = t->rest == APROF_THREAD_IDLE;
}

/* f stops doing what it did. */
static void stop(struct thread *t, uint32_t index, uint64_t tick) {
  struct future *f = &futures[index];
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

static void polled_over(struct thread *t, struct future *f) {
  if (f->polled)
    add(t, f->polled, WAITS, 1);
  f->polled = 0;
}

static void runs(struct thread *t, uint32_t index, uint32_t node, bool polls, uint64_t tick) {
  struct future *f = &futures[index];
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

static void waits(struct thread *t, uint32_t kind, uint32_t index, uint32_t await, uint64_t tick) {
  struct future *f = &futures[index];
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
static void ran(struct thread *t, uint32_t index, uint32_t node, uint64_t tick) {
  struct future *f = &futures[index];
  uint64_t closed = passed(f->since, t->since);
  *(t->idle ? &t->idle_time : &t->other_time) -= closed;
  for (unsigned i = 0; i < t->given_count; i++)
    add(t, t->given[i].span, EXEC, 0 - t->given[i].ticks);
  t->given_count = 0;
  add(t, node, EXEC, passed(f->since, tick));
  f->since = t->since = tick;
}

/* -- events ------------------------------------------------------------------------------ */

static uint64_t last_tick;

static void thread_begins(struct thread *t, const struct aprof_trace_event *e, uint64_t tick) {
  uint32_t reset = t->block->counters_epoch;
  if (reset != t->epoch && (uint32_t)aprof_trace_a(e + 1) >= reset) {
    memset(t->sums, 0, NODES_MAX * sizeof *t->sums);
    memset(t->before, 0, NODES_MAX * sizeof *t->before);
    t->other_time = t->idle_time = t->other_before = t->idle_before = 0;
    t->epoch = reset;
  }
  t->known = true;
  t->runs = aprof_trace_future(e);
  t->node = aprof_trace_node(e);
  t->since = tick;
  t->given_count = 0;
  t->rest = (uint32_t)(aprof_trace_a(e + 1) >> 32) & 0xff;
  t->idle = ((aprof_trace_a(e + 1) >> 40) & 0xff) == APROF_THREAD_IDLE;
  t->span = (uint32_t)aprof_trace_b(e + 1);
}

static void of_thread(struct thread *t, const struct aprof_trace_event *e, uint64_t tick) {
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

static void of_future(struct thread *t, const struct aprof_trace_event *e, uint64_t tick) {
  uint32_t kind = aprof_trace_kind(e), index = aprof_trace_future(e), node = aprof_trace_node(e);
  struct future *f = &futures[index];
  if (index == 0 || index >= future_room || !t->known) {
    wrong("an event of no future, or no thread");
    return;
  }
  switch (kind) {
  case APROF_TRACE_BORN:
    *f = (struct future){.state = QUEUED, .node = node, .since = tick};
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
    stop(t, index, tick);
    f->state = QUEUED;
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

static void event(struct thread *t, const struct aprof_trace_event *e) {
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
  struct thread *t = thread_at(chunk->first);
  const struct aprof_block *b = t->block = (const void *)(chunk + 1);
  if (!b->ring || b->ring_head == t->seen)
    return;
  const struct aprof_trace_event *ring = at(b->ring);
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
  if (header)
    each_chunk(follow);
}

/* -- the comparison ------------------------------------------------------------------------ */

static FILE *out;
static unsigned differing;

static void differ(uint32_t block, uint32_t node, const char *what, uint64_t counted,
                   uint64_t replayed) {
  if (counted == replayed)
    return;
  differing++;
  if (out)
    fprintf(out, "replay: block %u, node %u, %s: counted %llu, in the trace %llu\n", block, node,
            what, (unsigned long long)counted, (unsigned long long)replayed);
}

static void compare_counters(const struct aprof_chunk *chunk) {
  const struct aprof_counters *all = (const void *)(chunk + 1);
  if (chunk->type != APROF_CHUNK_COUNTERS)
    return;
  struct thread *t = thread_at(chunk->owner);
  for (uint32_t i = 0; i < chunk->count; i++) {
    uint32_t number = chunk->first + i;
    const struct aprof_node *node = number <= header->nodes ? node_at(number) : NULL;
    uint64_t counted[WHATS] = {0};
    if (!node || !node->site || number >= NODES_MAX || node->is_await == APROF_NODE_WAKER ||
        node->is_await == APROF_NODE_BLOCKING || node->is_await == APROF_NODE_DELAYED)
      continue;
    count_of(&all[i], node->is_await == APROF_NODE_AWAIT, counted);
    bool span = node->is_await == APROF_NODE_SPAN;
    for (unsigned what = 0; what < (span ? ENDED : WHATS); what++) {
      uint64_t since = counted[what] - t->before[number][what];
      uint64_t replayed = t->sums[number][what];
      if (what == EXEC && t->block->span_node == number) /* the span is given its time later */
        since += t->block->other - t->block->span_other;
      if (what == EXEC && t->runs && t->node == number) /* counted so far, and going on */
        replayed += passed(t->since, t->block->last);
      differ(chunk->owner, number, names[what], since, replayed);
    }
  }
}

static void compare_block(const struct aprof_chunk *chunk) {
  if (chunk->type != APROF_CHUNK_BLOCK)
    return;
  struct thread *t = thread_at(chunk->first);
  differ(chunk->first, 0, "other", t->block->other - t->other_before, t->other_time);
  differ(chunk->first, 0, "idle", t->block->idle - t->idle_before, t->idle_time);
}

static void compare_kinds(const struct aprof_chunk *chunk) {
  const struct aprof_kind *k = (const void *)(chunk + 1);
  for (uint32_t i = 0; chunk->type == APROF_CHUNK_KINDS && i < chunk->count; i++) {
    uint32_t n = chunk->first + i;
    struct kind counted = kind_of(&k[i]), *before = &kinds_before[n % APROF_KINDS],
                *replayed = &kinds[n % APROF_KINDS];
    differ(0, n, "requests", counted.count - before->count, replayed->count);
    differ(0, n, "failed requests", counted.failed - before->failed, replayed->failed);
    differ(0, n, "wall time of requests", counted.wall - before->wall, replayed->wall);
  }
}

unsigned replay_differs(FILE *file) {
  if (!header)
    return 0;
  out = file;
  differing = odd;
  replay_follow();
  if (odd && file)
    fprintf(file, "replay: %u events that cannot be, the last: %s\n", odd, odd_why);
  each_chunk(compare_counters);
  each_chunk(compare_block);
  new_epoch_of_kinds();
  each_chunk(compare_kinds);
  return differing;
}
