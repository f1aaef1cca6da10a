/* SPDX-License-Identifier: MIT */
/* What each loop ran, in a view; see filling.h. */
#include "clock.h"
#include "filling.h"

#include <stdlib.h>

struct ran {
  uint32_t name;
  uint64_t slices, exec;
};

static bool is_more(const struct ran *x, const struct ran *y) {
  if (x->exec != y->exec)
    return x->exec > y->exec;
  return x->slices != y->slices ? x->slices > y->slices : x->name < y->name;
}

/* Those that ran most, of all in the order of functions; how many. */
static size_t find_most(const struct model *m, const struct ran *ran, struct ran *most) {
  size_t count = 0, at;
  for (uint32_t i = 0; i < m->functions; i++) {
    struct ran one = {m->function[i].name, ran[i].slices, ran[i].exec};
    if (!(one.slices | one.exec))
      continue;
    for (at = count; at && is_more(&one, &most[at - 1]); at--)
      if (at < VIEW_RAN_LIMIT)
        most[at] = most[at - 1];
    if (at < VIEW_RAN_LIMIT)
      most[at] = one;
    count += count < VIEW_RAN_LIMIT;
  }
  return count;
}

static void fill_loop(const struct filling *f, struct view_loop *loop, const struct ran *ran) {
  struct ran most[VIEW_RAN_LIMIT];
  size_t count = find_most(f->m, ran, most);
  if (!count)
    return;
  loop->ran = arena_get(&f->v->arena, count, sizeof *loop->ran);
  for (; loop->rans < count; loop->rans++) {
    const struct ran *one = &most[loop->rans];
    const struct text *text = text_of(f, one->name);
    loop->ran[loop->rans] = (struct view_ran){.name = text->name,
                                              .file = text->file,
                                              .line = name_of(f, one->name)->line,
                                              .slices = one->slices,
                                              .exec = one->exec};
  }
}

/* A single loop ran what functions say. */
void fill_loops(const struct filling *f) {
  const struct model *m = f->m;
  struct view *v = f->v;
  if (v->loops < 2)
    return;
  size_t *loop_of = allocate(m->block_count, sizeof *loop_of);
  struct ran *ran = allocate(v->loops * m->functions, sizeof *ran);
  for (size_t i = 0; i < v->loops; i++)
    if (v->loop[i].block < m->block_count)
      loop_of[v->loop[i].block] = i + 1;
  for (uint32_t i = 0; i < m->nodes; i++) {
    const struct model_node *n = &m->node[i];
    uint32_t leaf = n->kind == APROF_NODE_FUNCTION ? n->leaves : MODEL_NONE;
    for (; leaf != MODEL_NONE; leaf = m->leaf[leaf].next) {
      const struct model_leaf *l = &m->leaf[leaf];
      if (l->block >= m->block_count || !loop_of[l->block])
        continue;
      struct ran *one = &ran[(loop_of[l->block] - 1) * m->functions + n->function];
      add_to(&one->slices, l->counters->function.slices);
      add_to(&one->exec, clock_to_ns(l->counters->function.exec, m->rate));
    }
  }
  for (size_t i = 0; i < v->loops; i++)
    fill_loop(f, &v->loop[i], ran + i * m->functions);
  free(ran);
  free(loop_of);
}
