/* SPDX-License-Identifier: MIT */
/* What was going on at `now`: live futures and threads; see model.h. */
#include "model.h"

#include "clock.h"
#include "governed.h"
#include "util.h"

#include <aprof/abi.h>

#include <stdlib.h>
#include <string.h>

uint32_t model_epoch_of(const struct aprof_header *header, uint64_t id) {
  /* An id holds 16 bits of its epoch. */
  return header->epoch - (uint16_t)(header->epoch - (uint32_t)(id >> 48));
}

static uint64_t segment(const struct model *m, uint64_t from, uint64_t to) {
  return to > from ? clock_to_ns(to - from, m->rate) : 0;
}

/* Where segments of an epoch end that are open in it: now in the current one, at
   once in one of being off. */
static uint64_t epoch_end(const struct model *m, uint32_t epoch) {
  const struct aprof_header *header = &m->profile->header;
  if (epoch == header->epoch)
    return header->enabled ? m->now : header->epochs[epoch % APROF_EPOCHS].begin_tick;
  if (header->epoch - epoch >= APROF_EPOCHS)
    return 0; /* its slot is another epoch's by now: nothing open can be told */
  uint64_t end = header->epochs[epoch % APROF_EPOCHS].end_tick;
  return end && end < m->now ? end : m->now;
}

static uint32_t function_path(const struct model *m, uint32_t number) {
  uint32_t index = model_node_of(m, number);
  while (index != MODEL_NONE && m->node[index].kind != APROF_NODE_FUNCTION)
    index = m->node[index].parent;
  return index == MODEL_NONE ? MODEL_OTHER : index;
}

/* Where its exec goes: a span of its function, if it is in one. */
static uint32_t body_path(const struct model *m, uint32_t number) {
  uint32_t index = model_node_of(m, number);
  bool span = m->node[index].kind == APROF_NODE_SPAN && m->node[index].function != MODEL_NONE;
  return span ? index : function_path(m, number);
}

/* The await that an open wait belongs to: the recorded one, or "(unknown)" of
   the function where none can be read. */
static uint32_t await_path(struct model *m, const struct aprof_future *f, uint32_t path) {
  uint32_t index = f->await ? model_node_of(m, f->await) : MODEL_OTHER;
  return m->node[index].kind == APROF_NODE_AWAIT
             ? index
             : model_add_node(m, path, NAME_UNKNOWN, APROF_NODE_AWAIT);
}

static int32_t thread_of(const struct profile *p, const struct aprof_future *f) {
  const struct aprof_block *b =
      (f->flags & APROF_F_STARTED) ? profile_block(p, f->lease & 0xffff) : NULL;
  return b ? b->tid : 0;
}

/* Has been counted in, and is in no sum of what has ended. */
static bool is_alive(const struct aprof_future *f) {
  return f->id && (f->state == APROF_FUTURE_QUEUED || f->state == APROF_FUTURE_RUNNING ||
                   f->state == APROF_FUTURE_WAITING || f->state == APROF_FUTURE_ASIDE);
}

static void add_wait(struct model_node *await, uint64_t time) {
  add_to(&await->waiting, time);
  add_to(&await->open, time);
}

/* Adds the open segment to the ledger; returns the tick since when the future
   has been in the state it is in (woken counts as queued: *state). What is aside waits
   for what runs on its stack, and nobody wakes it. */
static uint64_t add_segment(struct model *m, const struct aprof_future *f, uint32_t path,
                            uint64_t end, uint8_t *state) {
  uint64_t woken = f->wake_tick > f->last ? f->wake_tick : f->last;
  uint32_t block = f->lease & 0xffff, body = body_path(m, f->node);
  switch (f->state) {
  case APROF_FUTURE_RUNNING:
    add_to(&m->node[body].exec, segment(m, f->last, end));
    if (block < m->block_count && m->thread_of[block] != MODEL_NONE)
      add_to(&m->thread[m->thread_of[block]].exec, segment(m, f->last, end));
    if (model_is_pool(m, block))
      add_to(&m->node[body].pool_exec, segment(m, f->last, end));
    return f->last;
  case APROF_FUTURE_QUEUED:
    add_to(&m->node[path].queued, segment(m, f->last, end));
    return f->last;
  default:
    break;
  }
  uint32_t await = await_path(m, f, path);
  if (f->state == APROF_FUTURE_ASIDE || !f->wake_tick || woken >= end) {
    add_wait(&m->node[await], segment(m, f->last, end));
    return f->last;
  }
  add_wait(&m->node[await], segment(m, f->last, woken));
  add_to(&m->node[path].queued, segment(m, woken, end));
  *state = APROF_FUTURE_QUEUED;
  return woken;
}

/* What waits for a time that is still to come: no waker has left its site there. */
static uint64_t due_in(const struct model *m, const struct aprof_future *f, uint64_t end) {
  bool timed = f->state == APROF_FUTURE_WAITING && f->wake_tick && !f->wake_site;
  return timed ? segment(m, end, f->wake_tick) : 0;
}

/* The creator's id, where its record is still that future's. */
static uint64_t parent_of(const struct profile *p, const struct aprof_future *f) {
  const struct aprof_future *parent = f->parent ? profile_future(p, f->parent) : NULL;
  return parent && aprof_is_parent(parent, f) ? parent->id : 0;
}

/* The id of the request that it is a part of, while that has not ended. */
static uint64_t request_of(const struct model *m, const struct aprof_future *f) {
  const struct aprof_request *r = profile_request_of(m->profile, f);
  return r && r->state == APROF_REQUEST_LIVE &&
                 model_epoch_of(&m->profile->header, r->id) == m->profile->header.epoch
             ? r->id
             : 0;
}

static bool is_torn(const struct model *m, uint32_t block) {
  const struct aprof_block *b = profile_block(m->profile, block);
  return b && (b->sequence & 1);
}

static bool any_torn(const struct model *m) {
  for (uint32_t i = 0; i < m->block_count; i++)
    if (is_torn(m, i))
      return true;
  return false;
}

/* Its end had begun, and was not counted when its process was killed: see struct aprof_future.
 *how it ended: one that was at rest, from outside. */
static bool is_uncounted(const struct model *m, const struct aprof_future *f, int *how) {
  uint32_t number = f->lease & 0xffff;
  *how = APROF_CANCELLED;
  if (f->state == APROF_FUTURE_QUEUED || f->state == APROF_FUTURE_WAITING ||
      f->state == APROF_FUTURE_ASIDE)
    return any_torn(m);
  const struct aprof_block *b = profile_block(m->profile, number);
  bool ran = f->state == APROF_FUTURE_RUNNING;
  if ((!ran && f->state < APROF_FUTURE_ENDING) || !is_torn(m, number))
    return false;
  if (ran && f->created_tick > b->last)
    return false; /* it is just being born */
  const struct aprof_counters *c = profile_counters(m->profile, number, f->node);
  uint64_t how_bits = b->ends >> APROF_ENDS_HOW;
  *how = ran ? (int)how_bits : f->state - APROF_FUTURE_ENDING;
  return c && *how <= APROF_CANCELLED &&
         (&c->function.done)[*how] == (b->ends ^ how_bits << APROF_ENDS_HOW);
}

/* Its last segment may be missing. */
static void add_ended(struct model *m, const struct aprof_future *f, int how) {
  struct model_node *n = &m->node[function_path(m, f->node)];
  uint64_t *of[] = {&n->done, &n->failed, &n->cancelled};
  ++*of[how];
}

static void add_future(struct model *m, const struct aprof_future *f) {
  const struct aprof_header *header = &m->profile->header;
  int how;
  uint32_t thread = f->lease & 0xffff ? f->lease & 0xffff : f->id >> 32 & 0xffff;
  if (m->only != MODEL_NONE && m->only != thread)
    return;
  if (f->id == 0 && f->state != APROF_FUTURE_FREE && is_uncounted(m, f, &how))
    add_ended(m, f, how);
  if (!is_alive(f))
    return;
  uint32_t epoch = model_epoch_of(header, f->id);
  if (epoch < header->reset_epoch || epoch > header->epoch)
    return;
  uint32_t path = function_path(m, f->node);
  uint64_t end = epoch_end(m, epoch);
  uint8_t state = f->state;
  uint64_t since = add_segment(m, f, path, end, &state);
  if (epoch != header->epoch) {
    m->node[path].detached++;
    return;
  }
  m->node[path].live++;
  bool aside = f->state == APROF_FUTURE_ASIDE;
  bool waits = f->state == APROF_FUTURE_WAITING || aside;
  uint32_t await = waits ? await_path(m, f, path) : MODEL_NONE;
  m->live[m->lives++] = (struct model_live){
      .id = f->id,
      .parent = parent_of(m->profile, f),
      .age = segment(m, f->created_tick, end),
      .since = segment(m, since, end),
      .due = due_in(m, f, end),
      .function = m->node[path].function,
      .await = await == MODEL_NONE ? NAME_UNKNOWN : m->node[await].name,
      .create = names_of(m->names, aprof_create_site(f)),
      .started = (f->flags & APROF_F_STARTED) != 0,
      .aside = aside,
      .state = state,
      .tid = thread_of(m->profile, f),
      .request = request_of(m, f),
  };
}

static int by_age(const void *a, const void *b) {
  const struct model_live *x = a, *y = b;
  if (x->age != y->age)
    return x->age > y->age ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

void model_add_futures(struct model *m) {
  const struct profile *p = m->profile;
  size_t most = 0;
  for (size_t i = 0; i < p->futures.count; i++) {
    const struct aprof_future *f = p->futures.run[i].elements;
    for (uint32_t n = p->futures.run[i].count; n--; f++)
      most += f->id != 0;
  }
  m->live = allocate(most, sizeof *m->live);
  for (size_t i = 0; i < p->futures.count; i++) {
    const struct aprof_future *f = p->futures.run[i].elements;
    for (uint32_t n = p->futures.run[i].count; n--; f++)
      add_future(m, f);
  }
  if (m->lives)
    qsort(m->live, m->lives, sizeof *m->live, by_age);
}

/* The segment that a leased block has open: by its state in the epoch it knows; of one that ran
   then, outside any future in the current one. What it ran is its future's. */
static void add_open(struct model *m, struct model_thread *t, const struct aprof_block *b,
                     bool was_reset) {
  const struct aprof_header *header = &m->profile->header;
  if (b->state < APROF_THREAD_OTHER || b->state > APROF_THREAD_RUNNING)
    return;
  uint64_t begin = header->epochs[header->epoch % APROF_EPOCHS].begin_tick;
  uint64_t *part = b->state == APROF_THREAD_IDLE ? &t->idle : &t->other;
  bool current = b->epoch == header->epoch;
  if (b->state == APROF_THREAD_RUNNING && current && b->slice_node) {
    uint64_t from = was_reset && b->slice_tick < begin ? begin : b->slice_tick;
    t->open = (struct model_hold){
        .time = segment(m, from, epoch_end(m, b->epoch)),
        .from = names_of(m->names, b->slice_from),
        .function = m->node[function_path(m, b->slice_node)].name,
    };
  }
  if (b->state != APROF_THREAD_RUNNING && (current || !was_reset)) {
    uint64_t from = was_reset && b->last < begin ? begin : b->last;
    add_to(part, segment(m, from, epoch_end(m, b->epoch)));
  }
  if (!current) /* no event has told that it is idle no more */
    add_to(part, segment(m, begin, epoch_end(m, header->epoch)));
}

/* What a span outside of futures has had of the thread's other since it was given its part last. */
static void add_span(struct model *m, const struct aprof_block *b, bool was_reset) {
  uint32_t index = model_node_of(m, b->span_node);
  struct model_node *n = &m->node[index];
  if (!b->span_node || was_reset || n->kind != APROF_NODE_SPAN || n->function != MODEL_NONE ||
      b->epoch != m->profile->header.epoch)
    return;
  add_to(&n->exec, segment(m, b->span_other, b->other));
  if (b->state == APROF_THREAD_OTHER)
    add_to(&n->exec, segment(m, b->last, epoch_end(m, b->epoch)));
}

/* Where the last reading is as good as of now: a tenth of the block's time may be missing. */
static uint64_t known_cpu(const struct model *m, const struct aprof_block *b) {
  uint64_t begin = m->profile->header.tick0;
  bool late = b->cpu_tick > begin && b->last > b->cpu_tick &&
              b->last - b->cpu_tick > (b->last - begin) / 10;
  return b->cpu_tick > begin && !late ? b->cpu_ns : 0;
}

static void add_thread(struct model *m, const struct aprof_block *b, uint32_t number) {
  bool was_reset = b->counters_epoch < m->profile->header.reset_epoch;
  struct model_thread *t = &m->thread[m->threads++];
  struct model_health *health = &m->health;
  m->thread_of[number] = m->threads - 1;
  t->block = number;
  t->tid = b->tid;
  memcpy(t->name, b->name, sizeof b->name);
  clean_text(t->name);
  t->events = b->sequence / 2;
  t->cost = governed_cost(m, b);
  if (!was_reset) {
    t->exec = m->block_exec[number];
    t->hold = m->block_hold[number];
    t->idle = clock_to_ns(b->idle, m->rate);
    t->other = clock_to_ns(b->other, m->rate);
    t->missed_events = b->missed_events;
    t->reused_keys = b->reused_keys;
    t->cpu = known_cpu(m, b);
    t->preempted = clock_to_ns(b->preempted, m->rate);
    t->preempted_max = clock_to_ns(b->preempted_max, m->rate);
    add_to(&health->nested_events, b->nested_events);
    add_to(&health->migrations, b->migrations);
    add_to(&health->unmatched_awaits, b->unmatched_awaits);
  }
  add_open(m, t, b, was_reset);
  add_span(m, b, was_reset);
  add_to(&health->events, t->events);
  add_to(&health->general_events, b->general_events);
  add_to(&health->cost, t->cost);
  add_to(&health->missed_events, t->missed_events);
  add_to(&health->reused_keys, t->reused_keys);
  add_to(&health->torn_threads, m->ended && (b->sequence & 1));
}

void model_add_threads(struct model *m) {
  const struct profile_runs *blocks = &m->profile->blocks;
  m->thread = allocate(blocks->count, sizeof *m->thread);
  m->thread_of = allocate(m->block_count, sizeof *m->thread_of);
  memset(m->thread_of, 0xff, m->block_count * sizeof *m->thread_of);
  for (size_t i = 0; i < blocks->count; i++) {
    const struct aprof_block *b = blocks->run[i].elements;
    bool repeated = i > 0 && blocks->run[i - 1].first == blocks->run[i].first;
    bool meant = m->only == MODEL_NONE || m->only == blocks->run[i].first;
    if (meant && !repeated && (b->leases || b->sequence || b->state))
      add_thread(m, b, blocks->run[i].first);
  }
}
