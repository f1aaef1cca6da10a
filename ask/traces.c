/* SPDX-License-Identifier: MIT */
/* Requests joined by their traces; see traces.h. */
#include "traces.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* -- what there is ------------------------------------------------------------------------ */

static size_t count_parts(const struct view *v) {
  size_t count = v->pendings;
  for (size_t i = 0; i < v->kinds; i++)
    count += v->kind[i].slows;
  return count;
}

static struct trace_part part_of_slow(const struct view_kind *k, const struct view_slow *s) {
  return (struct trace_part){.trace = s->trace,
                             .kind = k->kind,
                             .labelled = k->labelled,
                             .process = s->process,
                             .wall = s->wall,
                             .exec = s->exec,
                             .queued = s->queued,
                             .waiting = s->waiting,
                             .slow = s};
}

static struct trace_part part_of_pending(const struct view_pending *p) {
  return (struct trace_part){.trace = p->trace,
                             .kind = p->kind ? p->kind : p->function,
                             .labelled = p->kind != NULL,
                             .live = true,
                             .process = p->process,
                             .wall = p->age,
                             .exec = p->exec,
                             .queued = p->queued,
                             .waiting = p->waiting};
}

/* Those that have a trace. */
static size_t list_parts(const struct view *v, struct trace_part *part) {
  size_t count = 0;
  for (size_t i = 0; i < v->kinds; i++)
    for (size_t j = 0; j < v->kind[i].slows; j++)
      if (v->kind[i].slow[j].trace)
        part[count++] = part_of_slow(&v->kind[i], &v->kind[i].slow[j]);
  for (size_t i = 0; i < v->pendings; i++)
    if (v->pending[i].trace)
      part[count++] = part_of_pending(&v->pending[i]);
  return count;
}

/* -- together ------------------------------------------------------------------------------- */

static int by_wall(uint64_t a, uint64_t b) {
  return a < b ? 1 : a > b ? -1 : 0;
}

static int by_trace(const void *a, const void *b) {
  const struct trace_part *x = a, *y = b;
  int order = strcmp(x->trace, y->trace);
  return order ? order : by_wall(x->wall, y->wall);
}

static int longest_first(const void *a, const void *b) {
  const struct trace *x = a, *y = b;
  int order = by_wall(x->part->wall, y->part->wall);
  return order ? order : strcmp(x->id, y->id);
}

static bool is_of_several(const struct trace *t) {
  for (size_t i = 1; i < t->parts; i++)
    if (t->part[i].process != t->part->process)
      return true;
  return false;
}

struct traces ask_traces(const struct view *v) {
  size_t room = count_parts(v);
  struct traces all = {.of = allocate(room + 1, sizeof *all.of),
                       .part = allocate(room + 1, sizeof *all.part)};
  size_t parts = list_parts(v, all.part);
  if (parts)
    qsort(all.part, parts, sizeof *all.part, by_trace);
  for (size_t i = 0, end; i < parts; i = end) {
    for (end = i + 1; end < parts && !strcmp(all.part[end].trace, all.part[i].trace); end++)
      ;
    struct trace t = {.id = all.part[i].trace, .part = &all.part[i], .parts = end - i};
    if (is_of_several(&t))
      all.of[all.count++] = t;
  }
  traces_root(&all);
  if (all.count)
    qsort(all.of, all.count, sizeof *all.of, longest_first);
  traces_align(&all, v);
  traces_nest(&all);
  return all;
}

void traces_release(struct traces *all) {
  free(all->of);
  free(all->part);
  for (size_t i = 0; i < all->clocks; i++)
    free(all->clock[i].done);
  free(all->clock);
  *all = (struct traces){0};
}
