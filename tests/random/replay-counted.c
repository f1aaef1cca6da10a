/* SPDX-License-Identifier: MIT */
/* What was counted when the replay began, and what has been since: does the trace add up to that?
 */
#include "replay-inside.h"

#include <stdlib.h>
#include <string.h>

struct replay replay;

static const char *const names[WHATS] = {"exec", "queued", "waiting",  "count",
                                         "done", "failed", "cancelled"};

const void *replay_at(uint64_t offset) {
  return (const char *)replay.header + offset;
}

void replay_each_chunk(void (*visit)(const struct aprof_chunk *)) {
  for (uint64_t offset = replay.header->header_size; offset < replay.header->used;) {
    const struct aprof_chunk *chunk = replay_at(offset);
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

const struct aprof_node *replay_node(uint32_t number) {
  if (!node_chunks[number % NODES_MAX])
    replay_each_chunk(index_nodes);
  return node_chunks[number % NODES_MAX];
}

uint32_t replay_function(uint32_t node) {
  while (replay_node(node)->is_await == APROF_NODE_SPAN && replay_node(node)->parent)
    node = replay_node(node)->parent;
  return node;
}

/* -- epochs that are over ------------------------------------------------------------ */

static void detach(struct replay_future *f, uint32_t index) {
  uint64_t end = replay.header->epochs[(f->id >> 48) % APROF_EPOCHS].end_tick;
  uint64_t ready = f->state == QUEUED ? f->since : f->ready != 0 && f->ready < end ? f->ready : end;
  replay.detached = realloc(replay.detached, (replay.detached_count + 1) * sizeof *replay.detached);
  replay.detached[replay.detached_count] =
      (struct replay_detached){.index = index,
                               .node = replay_function(f->node),
                               .await = f->await,
                               .id = f->id,
                               .waited = ready - f->since,
                               .queued = end - ready};
  f->detached = ++replay.detached_count;
}

void replay_detach(uint32_t epoch) {
  for (uint32_t i = 0; i < replay.future_end; i++) {
    struct replay_future *f = &replay.futures[i];
    bool rests = f->state == QUEUED || f->state == WAITING || f->state == ASIDE;
    if (rests && f->id && f->id >> 48 < epoch && !f->detached)
      detach(f, i);
  }
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

struct replay_thread *replay_thread_at(uint32_t block) {
  struct replay_thread *t = &replay.threads[block % BLOCKS_MAX];
  if (!t->sums) {
    t->sums = calloc(NODES_MAX, sizeof *t->sums);
    t->before = calloc(NODES_MAX, sizeof *t->before);
  }
  return t;
}

static void note_counters(const struct aprof_chunk *chunk) {
  const struct aprof_counters *all = (const void *)(chunk + 1);
  struct replay_thread *t = replay_thread_at(chunk->owner);
  for (uint32_t i = 0; chunk->type == APROF_CHUNK_COUNTERS && i < chunk->count; i++) {
    uint32_t number = chunk->first + i;
    if (number >= NODES_MAX || number > replay.header->nodes || !replay_node(number))
      continue;
    count_of(&all[i], replay_node(number)->is_await == APROF_NODE_AWAIT, t->before[number]);
    if (number == t->block->span_node) /* the rest of its time it is given later */
      t->before[number][EXEC] += t->block->other - t->block->span_other;
  }
}

static void note_block(const struct aprof_chunk *chunk) {
  if (chunk->type != APROF_CHUNK_BLOCK)
    return;
  struct replay_thread *t = replay_thread_at(chunk->first);
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
    if (all[i].id) {
      uint32_t index = (uint32_t)(((const char *)&all[i] - (const char *)replay.header) / 128);
      replay.future_end = index + 1 > replay.future_end ? index + 1 : replay.future_end;
      replay.futures[index] = (struct replay_future){.state = states[all[i].state],
                                                     .node = all[i].node,
                                                     .await = all[i].await,
                                                     .id = all[i].id,
                                                     .since = all[i].last};
    }
}

/* -- what was counted of requests ----------------------------------------------------- */

/* A reset empties them. */
void replay_kinds_current(void) {
  if (replay.kinds_epoch == replay.header->reset_epoch)
    return;
  memset(replay.kinds, 0, sizeof replay.kinds);
  memset(replay.kinds_before, 0, sizeof replay.kinds_before);
  replay.kinds_epoch = replay.header->reset_epoch;
}

static void add_part(struct replay_kind *to, const struct aprof_kind_part *part) {
  if (part->epoch != replay.header->reset_epoch)
    return;
  to->count += part->count;
  to->failed += part->failed;
  to->wall += part->wall.sum;
}

/* `to`: all kinds. */
static void add_kinds(const struct aprof_chunk *chunk, struct replay_kind *to) {
  const struct aprof_kind *k = (const void *)(chunk + 1);
  const struct aprof_kind_part *part = (const void *)(chunk + 1);
  for (uint32_t i = 0; i < chunk->count && chunk->first + i < APROF_KINDS; i++)
    if (chunk->type == APROF_CHUNK_KINDS)
      add_part(&to[chunk->first + i], &k[i].shared);
    else if (chunk->type == APROF_CHUNK_KIND_PARTS)
      add_part(&to[chunk->first + i], &part[i]);
}

static void note_requests(const struct aprof_chunk *chunk) {
  const struct aprof_request *r = (const void *)(chunk + 1);
  add_kinds(chunk, replay.kinds_before);
  for (uint32_t i = 0; i < chunk->count; i++)
    if (chunk->type == APROF_CHUNK_REQUESTS && r[i].id && chunk->first + i < REQUESTS_MAX) {
      replay.requests[chunk->first + i].id = aprof_trace_request(chunk->first + i, r[i].id);
      replay.requests[chunk->first + i].begin = r[i].begin_tick;
    }
}

void replay_from_start(struct aprof_header *h) {
  replay.header = h;
  replay.future_room = (uint32_t)(h->capacity / 128);
  replay.futures = calloc(replay.future_room, sizeof *replay.futures);
  replay.kinds_epoch = h->reset_epoch;
}

void replay_begin(struct aprof_header *h) {
  replay_from_start(h);
  replay.began = h->virtual_now;
  h->trace_until = UINT64_MAX;
  h->trace_size = 1u << 18;
  aprof_trace_switch(h, 1);
  replay_each_chunk(index_nodes);
  replay_each_chunk(note_block);
  replay_each_chunk(note_counters);
  replay_each_chunk(note_futures);
  replay_each_chunk(note_requests);
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

/* Of those whose records were needed since: counted, on some thread. Of those that were counted
   before a reset nobody knows on which; a thread without an event since then has them still. */
static uint64_t swept[NODES_MAX][WHATS], swept_seen[NODES_MAX][WHATS], swept_ever[NODES_MAX][WHATS];

static void sum_swept(void) {
  for (uint32_t i = 0; i < replay.detached_count; i++) {
    const struct replay_detached *d = &replay.detached[i];
    const struct aprof_future *all = (const void *)replay.header;
    if (all[d->index].id == d->id)
      continue;
    swept_ever[d->await % NODES_MAX][WAITED] += d->waited;
    swept_ever[d->node % NODES_MAX][QUEUED_FOR] += d->queued;
    if (d->id >> 48 < replay.header->reset_epoch)
      continue;
    swept[d->await % NODES_MAX][WAITED] += d->waited;
    swept[d->node % NODES_MAX][QUEUED_FOR] += d->queued;
  }
}

static void compare_swept(void) {
  for (uint32_t node = 0; node < NODES_MAX; node++)
    for (unsigned what = 0; what < WHATS; what++)
      differ(0, node, names[what], swept_seen[node][what], swept[node][what]);
}

/* What has been counted of the rest that goes on: an event that changes nothing of it is not told.
 */
static uint64_t rests_still(const struct replay_thread *t, bool idle) {
  bool rests = t->known && !t->runs && t->idle == idle && t->block->last > t->since;
  return rests ? t->block->last - t->since : 0;
}

static void compare_counters(const struct aprof_chunk *chunk) {
  const struct aprof_counters *all = (const void *)(chunk + 1);
  if (chunk->type != APROF_CHUNK_COUNTERS)
    return;
  struct replay_thread *t = replay_thread_at(chunk->owner);
  bool before_reset = t->block->counters_epoch < replay.header->reset_epoch; /* it is zero now */
  for (uint32_t i = 0; i < chunk->count; i++) {
    uint32_t number = chunk->first + i;
    const struct aprof_node *node = number <= replay.header->nodes ? replay_node(number) : NULL;
    uint64_t counted[WHATS] = {0};
    if (!node || !node->site || number >= NODES_MAX || node->is_await == APROF_NODE_WAKER ||
        node->is_await == APROF_NODE_BLOCKING || node->is_await == APROF_NODE_DELAYED)
      continue;
    count_of(&all[i], node->is_await == APROF_NODE_AWAIT, counted);
    bool span = node->is_await == APROF_NODE_SPAN;
    for (unsigned what = 0; what < (span ? ENDED : WHATS); what++) {
      uint64_t since = counted[what] - t->before[number][what];
      uint64_t replayed = t->sums[number][what];
      if (what == EXEC && span && t->given_before)
        continue;
      if (what == EXEC && t->block->span_node == number) /* the span is given its time later */
        since += t->block->other - t->block->span_other;
      if (what == EXEC && t->runs && t->node == number) /* counted so far, and going on */
        replayed += t->block->last - t->since;
      if (what == EXEC && span && t->span == number)
        replayed += rests_still(t, false);
      if (before_reset && swept_ever[number][what])
        continue;
      if (swept[number][what])
        swept_seen[number][what] += since - replayed;
      else
        differ(chunk->owner, number, names[what], since, replayed);
    }
  }
}

static void compare_block(const struct aprof_chunk *chunk) {
  if (chunk->type != APROF_CHUNK_BLOCK)
    return;
  struct replay_thread *t = replay_thread_at(chunk->first);
  differ(chunk->first, 0, "other", t->block->other - t->other_before,
         t->other_time + rests_still(t, false));
  differ(chunk->first, 0, "idle", t->block->idle - t->idle_before,
         t->idle_time + rests_still(t, true));
}

static struct replay_kind counted_kinds[APROF_KINDS];

static void count_kinds(const struct aprof_chunk *chunk) {
  add_kinds(chunk, counted_kinds);
}

static void compare_kinds(void) {
  memset(counted_kinds, 0, sizeof counted_kinds);
  replay_each_chunk(count_kinds);
  for (uint32_t n = 0; n < APROF_KINDS; n++) {
    struct replay_kind *counted = &counted_kinds[n], *before = &replay.kinds_before[n],
                       *replayed = &replay.kinds[n];
    differ(0, n, "requests", counted->count - before->count, replayed->count);
    differ(0, n, "failed requests", counted->failed - before->failed, replayed->failed);
    differ(0, n, "wall time of requests", counted->wall - before->wall, replayed->wall);
  }
}

unsigned replay_differs(FILE *file) {
  if (!replay.header)
    return 0;
  out = file;
  differing = replay.odd;
  replay_follow();
  if (replay.odd && file)
    fprintf(file, "replay: %u events that cannot be, the last: %s\n", replay.odd, replay.odd_why);
  sum_swept();
  replay_each_chunk(compare_counters);
  compare_swept();
  replay_each_chunk(compare_block);
  replay_kinds_current();
  compare_kinds();
  return differing;
}
