/* SPDX-License-Identifier: MIT */
/* Findings: what the numbers mean, in words; see ask.h. */
#include "findings.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* A finding that takes a good part of a loop's time stands first, one that takes next to nothing
   last. But users feel a hold of so many times the limit, however rare. */
enum { LARGE = 4, MINOR = 100, FELT = 2 };

static enum finding_level level_of(const struct finding *f, const struct ask_limits *limits) {
  enum finding_cost of = finding_rows[f->kind]->cost;
  bool felt = f->kind == FINDING_HELD && f->severity / FELT >= limits->of[FINDING_HELD];
  if (f->cost.time == UNKNOWN)
    return LEVEL_USUAL;
  if (of != COST_LIVES && f->cost.time >= f->cost.whole / LARGE)
    return LEVEL_LARGE;
  return f->cost.time < f->cost.whole / MINOR && !felt ? LEVEL_MINOR : LEVEL_USUAL;
}

static int by_kind(const void *a, const void *b) {
  const struct finding *x = a, *y = b;
  if (x->level != y->level)
    return x->level < y->level ? -1 : 1;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  if (x->weight != y->weight)
    return x->weight > y->weight ? -1 : 1;
  return strcmp(x->text.parts, y->text.parts);
}

struct finding *ask_findings(const struct view *v, const struct ask_limits *limits, size_t *count) {
  struct findings list = {0};
  for (enum finding_kind kind = 0; kind < FINDINGS; kind++)
    if (finding_rows[kind]->judge)
      finding_rows[kind]->judge(&list, v, limits);
  findings_of_live(&list, v, limits);
  for (size_t i = 0; i < list.count; i++) {
    struct finding *f = &list.finding[i];
    f->next = f->alive ? NEXT_ALIVE : finding_rows[f->kind]->next;
    f->rule = finding_rows[f->kind]->rule;
    f->cost = findings_cost(v, f, limits);
    f->level = level_of(f, limits);
  }
  findings_effects(v, list.finding, list.count);
  if (list.count)
    qsort(list.finding, list.count, sizeof *list.finding, by_kind);
  *count = list.count;
  return list.finding;
}

/* Where that function held a loop the longest. */
static uint64_t where_it_held(const struct view *v, const struct view_function *f) {
  uint64_t of = UNKNOWN, longest = 0;
  for (size_t i = 0; i < v->loops; i++) {
    const struct view_loop *l = &v->loop[i];
    if (l->function && !strcmp(l->function, f->name) && l->hold_max != UNKNOWN &&
        l->hold_max > longest) {
      of = l->process;
      longest = l->hold_max;
    }
  }
  return of;
}

static uint64_t where_it_lives(const struct view *v, const struct view_function *f) {
  for (size_t i = 0; i < v->lives; i++)
    if (&v->function[v->live[i].function] == f)
      return v->live[i].process;
  return UNKNOWN;
}

const struct view_process *ask_process_of(const struct view *v, const struct finding *f) {
  uint64_t of = f->function ? f->function->process : UNKNOWN;
  if (f->function && of == UNKNOWN && !f->alive)
    of = where_it_held(v, f->function);
  if (f->function && of == UNKNOWN)
    of = where_it_lives(v, f->function);
  return of < v->processes ? &v->merged[of] : NULL;
}

void findings_free(struct finding *findings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    sentence_free(findings[i].text);
    free(findings[i].at);
    for (size_t j = 0; j < FINDING_EFFECTS; j++)
      sentence_free(findings[i].effect[j]);
  }
  free(findings);
}
