/* SPDX-License-Identifier: MIT */
/* The model put together; see model.h. */
#include "model.h"

#include "util.h"

#include <aprof/abi.h>
#include <stdlib.h>

/* Exec beneath each path, and what its awaits waited. Children come after their
   parents, so one pass from the end does it. */
static void add_up(struct model *m) {
  uint64_t *beneath = allocate(m->nodes, sizeof *beneath);
  for (uint32_t i = m->nodes; i-- > 0;) {
    struct model_node *n = &m->node[i];
    if (n->kind == APROF_NODE_AWAIT)
      add_to(&m->node[n->parent].waiting, n->waiting);
    if (!model_is_body(n))
      continue;
    n->children_exec = beneath[i];
    if (n->parent != MODEL_NONE)
      add_to(&beneath[n->parent], beneath[i] + n->exec);
  }
  free(beneath);
}

/* How far up a path the outermost future of a stack is looked for. */
enum { STACK_DEPTH = 256 };

/* What never began a slice ran in those of the nearest path above that did. If its longest
   run takes up most of the longest of these, that is where it went: longer ones were several
   slices'. A run that never waited was in one for sure, the others most likely. */
static void find_mostly(struct model *m) {
  for (uint32_t i = 0; i < m->nodes; i++) {
    const struct model_node *n = &m->node[i];
    uint32_t above = n->parent;
    if (n->kind != APROF_NODE_FUNCTION || n->slices || n->pool_exec || !n->exec_max)
      continue;
    for (int depth = 0; above != MODEL_NONE && !m->node[above].slices; depth++)
      above = depth < STACK_DEPTH ? m->node[above].parent : MODEL_NONE;
    if (above == MODEL_NONE)
      continue;
    struct model_node *outer = &m->node[above];
    if (n->exec_max > outer->slice_max || n->exec_max < outer->slice_max - n->exec_max)
      continue;
    if (outer->mostly == MODEL_NONE || n->exec_max > m->node[outer->mostly].exec_max)
      outer->mostly = i;
  }
}

bool model_background(const struct model *m, uint32_t function, const struct name *place) {
  const struct name *f = &m->names->name[m->function[function].name];
  bool its_own = f->model == APROF_MODEL_STACK || place->kind == APROF_SITE_CREATE || place == f;
  return (place->flags & APROF_BACKGROUND) || (its_own && (f->flags & APROF_BACKGROUND));
}

struct model *model_new(const struct profile *p, const struct names *names, uint64_t rate,
                        uint64_t now, bool ended) {
  return model_of_block(p, names, rate, now, ended, MODEL_NONE);
}

struct model *model_of_block(const struct profile *p, const struct names *names, uint64_t rate,
                             uint64_t now, bool ended, uint32_t block) {
  struct model *m = allocate(1, sizeof *m);
  m->only = block;
  m->profile = p;
  m->names = names;
  m->rate = rate;
  m->now = now;
  m->ended = ended;
  model_build_tree(m);
  model_add_threads(m);
  model_add_pools(m);
  model_add_futures(m);
  model_add_misses(m);
  add_up(m);
  find_mostly(m);
  return m;
}

void model_free(struct model *m) {
  if (!m)
    return;
  free(m->node);
  free(m->node_of);
  free(m->slot);
  free(m->function);
  free(m->function_of);
  free(m->leaf);
  free(m->block_exec);
  free(m->block_hold);
  free(m->thread_of);
  free(m->thread);
  free(m->live);
  free(m->miss);
  free(m);
}
