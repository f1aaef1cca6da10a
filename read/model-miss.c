/* SPDX-License-Identifier: MIT */
/* What could not be placed, by place; see model.h. */
#include "index.h"
#include "model.h"
#include "util.h"

#include <stdlib.h>

static int by_place(const void *a, const void *b) {
  const struct model_miss *x = a, *y = b;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  return x->name < y->name ? -1 : x->name > y->name;
}

static int by_count(const void *a, const void *b) {
  const struct model_miss *x = a, *y = b;
  if (x->count != y->count)
    return x->count > y->count ? -1 : 1;
  return by_place(a, b);
}

static void add_run(struct model *m, const struct profile_run *run) {
  const struct aprof_missed *missed = run->elements;
  for (uint32_t i = 0; i < run->count; i++)
    if (missed[i].kind && missed[i].kind < APROF_MISS_KINDS && missed[i].count)
      m->miss[m->misses++] = (struct model_miss){.name = names_of(m->names, missed[i].site),
                                                 .kind = (uint8_t)missed[i].kind,
                                                 .count = missed[i].count};
}

bool model_miss_has_key(const struct model_miss *miss) {
  return miss->kind == APROF_MISS_END || miss->kind == APROF_MISS_WAKE ||
         miss->kind == APROF_MISS_SWITCH;
}

static char *call_key(const struct name *name) {
  return print_string("%u %s", name->kind, name->name);
}

/* A callee stands for the line that describes it: where that has found a future at any
   of its places, its key is right, and the others are calls for something else. */
static void match(struct model *m) {
  const struct names *names = m->names;
  struct index x;
  uint32_t found = 0;
  for (uint32_t i = 0; i < names->count; i++)
    found += (names->name[i].flags & APROF_PSITE_FOUND) != 0;
  index_new(&x, found);
  for (uint32_t i = 0; i < names->count; i++)
    if (names->name[i].flags & APROF_PSITE_FOUND)
      index_put(&x, call_key(&names->name[i]), &names->name[i]);
  for (uint32_t i = 0; i < m->misses; i++)
    if (model_miss_has_key(&m->miss[i]))
      m->miss[i].matched = index_get(&x, call_key(&names->name[m->miss[i].name])) != NULL;
  index_free(&x);
}

void model_add_misses(struct model *m) {
  const struct profile_runs *runs = &m->profile->misses;
  size_t most = 0;
  for (size_t i = 0; i < runs->count; i++)
    most += runs->run[i].count;
  m->miss = allocate(most, sizeof *m->miss);
  for (size_t i = 0; i < runs->count; i++)
    if (model_counts(m, runs->run[i].owner))
      add_run(m, &runs->run[i]);
  qsort(m->miss, m->misses, sizeof *m->miss, by_place);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < m->misses; i++)
    if (kept && !by_place(&m->miss[kept - 1], &m->miss[i]))
      add_to(&m->miss[kept - 1].count, m->miss[i].count);
    else
      m->miss[kept++] = m->miss[i];
  m->misses = kept;
  qsort(m->miss, m->misses, sizeof *m->miss, by_count);
  match(m);
}
