/* SPDX-License-Identifier: MIT */
/* Paths, functions, and the counters stored for them; see model.h. */
#include "model.h"

#include "clock.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

/* How far up a path a recursion is looked for. The writer has folded them
   already, but for places that only the reader knows to be one. */
enum { FOLD_DEPTH = 256 };

static uint32_t *find_slot(struct model *m, uint32_t parent, uint32_t name, uint8_t kind) {
  uint64_t hash = ((uint64_t)parent << 34 | (uint64_t)name << 2 | kind) * 0x9e3779b97f4a7c15u;
  uint32_t mask = m->slots - 1, at = (uint32_t)(hash >> 32) & mask;
  for (; m->slot[at]; at = (at + 1) & mask) {
    const struct model_node *n = &m->node[m->slot[at] - 1];
    if (n->parent == parent && n->name == name && n->kind == kind)
      break;
  }
  return &m->slot[at];
}

static void grow(struct model *m) {
  m->node_room = m->node_room ? m->node_room * 2 : 64;
  m->node = reallocate(m->node, m->node_room, sizeof *m->node);
  free(m->slot);
  m->slots = m->node_room * 4;
  m->slot = allocate(m->slots, sizeof *m->slot);
  for (uint32_t i = 0; i < m->nodes; i++)
    *find_slot(m, m->node[i].parent, m->node[i].name, m->node[i].kind) = i + 1;
}

static uint32_t function_of(struct model *m, uint32_t name) {
  if (m->function_of[name] == MODEL_NONE) {
    struct model_function *f = &m->function[m->functions];
    f->name = name;
    for (int kind = 0; kind < MODEL_KINDS; kind++)
      f->list[kind] = MODEL_NONE;
    m->function_of[name] = m->functions++;
  }
  return m->function_of[name];
}

/* The path that this one folds onto: an equal function further up. */
static uint32_t find_above(const struct model *m, uint32_t parent, uint32_t name) {
  for (int depth = 0; parent != MODEL_NONE && depth < FOLD_DEPTH; depth++) {
    if (m->node[parent].name == name)
      return parent;
    parent = m->node[parent].parent;
  }
  return MODEL_NONE;
}

uint32_t model_add_node(struct model *m, uint32_t parent, uint32_t name, uint8_t kind) {
  if (m->nodes == m->node_room)
    grow(m);
  uint32_t *slot = find_slot(m, parent, name, kind);
  if (*slot)
    return *slot - 1;
  if (kind == APROF_NODE_FUNCTION || kind == APROF_NODE_SPAN) {
    uint32_t above = find_above(m, parent, name);
    if (above != MODEL_NONE)
      return above;
  }
  uint32_t index = m->nodes++;
  struct model_node *n = &m->node[index];
  *slot = index + 1;
  memset(n, 0, sizeof *n);
  n->parent = parent;
  n->name = name;
  n->kind = kind;
  n->leaves = n->mostly = MODEL_NONE;
  n->function = kind == APROF_NODE_FUNCTION ? function_of(m, name)
                : parent == MODEL_NONE      ? MODEL_NONE
                                            : m->node[parent].function;
  if (n->function == MODEL_NONE)
    return index;
  struct model_function *f = &m->function[n->function];
  uint32_t *list = &f->list[kind];
  n->next = *list;
  *list = index;
  return index;
}

uint32_t model_node_of(const struct model *m, uint32_t number) {
  if (number >= m->node_of_count || m->node_of[number] == MODEL_NONE)
    return MODEL_OTHER;
  return m->node_of[number];
}

/* (other) has no site, nor has its await: where waits beyond the cap are booked. */
static bool is_written(uint32_t number, const struct aprof_node *stored) {
  return stored->site || number == 1 || (stored->is_await && stored->parent == 1);
}

/* Finds a stored path's place among ours; a path beneath something unreadable is (other). */
static uint32_t place(struct model *m, uint32_t number, const struct aprof_node *stored) {
  uint8_t kind = stored->is_await < MODEL_KINDS ? (uint8_t)stored->is_await : APROF_NODE_BLOCKING;
  uint32_t name = names_of(m->names, stored->site), parent = MODEL_NONE;
  if (number == 1)
    return MODEL_OTHER;
  if (!stored->site)
    name = NAME_OTHER;
  if (stored->parent != 0) {
    parent = stored->parent < number ? model_node_of(m, stored->parent) : MODEL_OTHER;
    if (!model_is_body(&m->node[parent]))
      parent = m->node[parent].parent;
    if (kind != APROF_NODE_SPAN && m->node[parent].function == MODEL_NONE)
      parent = kind == APROF_NODE_FUNCTION ? MODEL_NONE : MODEL_OTHER;
  } else if (kind != APROF_NODE_FUNCTION && kind != APROF_NODE_SPAN)
    parent = MODEL_OTHER;
  return model_add_node(m, parent, name, kind);
}

static void greater(uint64_t *value, uint64_t other) {
  if (other > *value)
    *value = other;
}

static void add_function_leaf(struct model *m, struct model_node *n,
                              const struct aprof_counters *c) {
  add_to(&n->done, c->function.done);
  add_to(&n->failed, c->function.failed);
  add_to(&n->cancelled, c->function.cancelled);
  add_to(&n->detached, c->function.detached);
  add_to(&n->born_done, c->function.born_done);
  add_to(&n->slices, c->function.slices);
  add_to(&n->exec, clock_to_ns(c->function.exec, m->rate));
  add_to(&n->queued, clock_to_ns(c->function.queued, m->rate));
  greater(&n->exec_max, clock_to_ns(c->function.exec_max, m->rate));
  greater(&n->wall_max, clock_to_ns(c->function.wall_max, m->rate));
  uint64_t slice = clock_to_ns(c->function.slice_max, m->rate);
  if (slice > n->slice_max) {
    n->slice_max = slice;
    n->slice_from = names_of(m->names, c->function.slice_from);
    n->slice_to = names_of(m->names, c->function.slice_to);
    n->on_cpu_least = 1000 * (uint64_t)c->function.on_cpu_least_us;
    n->on_cpu_most = 1000 * (uint64_t)c->function.on_cpu_most_us;
  }
}

static void add_await_leaf(struct model *m, struct model_node *n, const struct aprof_counters *c) {
  add_to(&n->count, c->await.count);
  add_to(&n->immediate, c->await.immediate);
  add_to(&n->waiting, clock_to_ns(c->await.waiting, m->rate));
  greater(&n->max, clock_to_ns(c->await.max, m->rate));
}

static void add_to_block(struct model *m, uint32_t block, uint32_t function,
                         const struct aprof_counters *c) {
  uint64_t slice = clock_to_ns(c->function.slice_max, m->rate);
  struct model_hold *hold = &m->block_hold[block];
  uint64_t slices = add_to(&hold->slices, c->function.slices);
  add_to(&m->block_exec[block], clock_to_ns(c->function.exec, m->rate));
  if (slice > hold->time)
    *hold = (struct model_hold){.time = slice,
                                .from = names_of(m->names, c->function.slice_from),
                                .to = names_of(m->names, c->function.slice_to),
                                .function = function,
                                .slices = slices};
}

static bool is_zero(const struct aprof_counters *c) {
  uint64_t any = 0;
  for (size_t i = 0; i < sizeof c->words / sizeof *c->words; i++)
    any |= c->words[i];
  return any == 0;
}

static void add_run(struct model *m, const struct profile_run *run) {
  const struct aprof_counters *c = run->elements;
  for (uint32_t i = 0; i < run->count; i++, c++) {
    uint32_t index = model_node_of(m, run->first + i);
    if (is_zero(c))
      continue;
    struct model_node *n = &m->node[index];
    if (!model_is_body(n))
      add_await_leaf(m, n, c);
    else {
      add_function_leaf(m, n, c);
      if (run->owner < m->block_count && n->function != MODEL_NONE)
        add_to_block(m, run->owner, n->name, c);
    }
    m->leaf[m->leaves] = (struct model_leaf){.counters = c, .block = run->owner, .next = n->leaves};
    n->leaves = m->leaves++;
  }
}

/* Counters from before the last reset are zero; their block has not had the
   time to say so. */
bool model_counts(const struct model *m, uint32_t block) {
  const struct aprof_block *b = profile_block(m->profile, block);
  if (m->only != MODEL_NONE && m->only != block)
    return false;
  return !b || b->counters_epoch >= m->profile->header.reset_epoch;
}

bool model_is_pool(const struct model *m, uint32_t block) {
  if (block >= m->block_count || m->thread_of[block] == MODEL_NONE)
    return false;
  const struct model_thread *t = &m->thread[m->thread_of[block]];
  /* What only waited yet may be about to begin its first slice. */
  bool none = !t->hold.slices && !t->open.time && (!t->idle || t->exec);
  return none && t->tid != m->profile->header.pid;
}

void model_add_pools(struct model *m) {
  for (uint32_t i = 0; i < m->nodes; i++) {
    struct model_node *n = &m->node[i];
    if (!model_is_body(n) || n->function == MODEL_NONE)
      continue;
    for (uint32_t leaf = n->leaves; leaf != MODEL_NONE; leaf = m->leaf[leaf].next)
      if (model_is_pool(m, m->leaf[leaf].block))
        add_to(&n->pool_exec, clock_to_ns(m->leaf[leaf].counters->function.exec, m->rate));
  }
}

void model_build_tree(struct model *m) {
  const struct profile *p = m->profile;
  size_t leaves = 0;
  m->function = allocate(m->names->count, sizeof *m->function);
  m->function_of = allocate(m->names->count, sizeof *m->function_of);
  memset(m->function_of, 0xff, m->names->count * sizeof *m->function_of);
  m->node_of_count = profile_node_end(p);
  m->node_of = allocate(m->node_of_count, sizeof *m->node_of);
  memset(m->node_of, 0xff, m->node_of_count * sizeof *m->node_of);
  model_add_node(m, MODEL_NONE, NAME_OTHER, APROF_NODE_FUNCTION);
  for (uint32_t i = 1; i < m->node_of_count; i++) {
    const struct aprof_node *stored = profile_node(p, i);
    if (!stored || !is_written(i, stored))
      continue;
    m->node_of[i] = place(m, i, stored);
    m->node[m->node_of[i]].shared |= stored->shared && stored->shared >= p->header.reset_epoch;
  }
  for (size_t i = 0; i < p->counters.count; i++)
    leaves += p->counters.run[i].count;
  m->leaf = allocate(leaves, sizeof *m->leaf);
  if (p->blocks.count)
    m->block_count = p->blocks.run[p->blocks.count - 1].first + 1;
  m->block_exec = allocate(m->block_count, sizeof *m->block_exec);
  m->block_hold = allocate(m->block_count, sizeof *m->block_hold);
  for (size_t i = 0; i < p->counters.count; i++)
    if (model_counts(m, p->counters.run[i].owner))
      add_run(m, &p->counters.run[i]);
}
