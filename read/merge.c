/* SPDX-License-Identifier: MIT */
/* Views of several processes put together: sums over them, and what is of one remains so; see
   view.h. */
#include "fold.h"
#include "settle.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

/* A field of struct view by its name in totals. */
static const struct field *top_field(const char *name) {
  for (size_t i = 0; i < layout_totals.fields; i++)
    if (!strcmp(layout_totals.field[i].name, name))
      return &layout_totals.field[i];
  return NULL;
}

static const char *common(const char *a, const char *b) {
  return a && b && !strcmp(a, b) ? a : NULL;
}

static const char *or_several(const char *text) {
  return text ? text : "(several)";
}

/* What all of them have in common, and the longest time. */
static void merge_process(struct view_process *p, const struct view_process *other) {
  p->name = or_several(common(p->name, other->name));
  p->command = or_several(common(p->command, other->command));
  p->host = or_several(common(p->host, other->host));
  p->container = common(p->container, other->container);
  p->labels = common(p->labels, other->labels);
  p->build_id = common(p->build_id, other->build_id);
  p->aprof_version = common(p->aprof_version, other->aprof_version);
  p->processors = p->processors == other->processors ? p->processors : 0;
  p->started_at = common(p->started_at, other->started_at);
  p->dumped_at = common(p->dumped_at, other->dumped_at);
  p->profile = NULL;
  p->reason = common(p->reason, other->reason);
  p->reason = p->reason ? p->reason : "merged";
  p->pid = p->pid == other->pid ? p->pid : 0;
  p->parent_pid = p->parent_pid == other->parent_pid ? p->parent_pid : 0;
  p->elapsed = p->elapsed > other->elapsed ? p->elapsed : other->elapsed;
  if (p->measured != UNKNOWN && (other->measured == UNKNOWN || other->measured > p->measured))
    p->measured = other->measured;
  p->reset = p->reset == other->reset ? p->reset : UNKNOWN;
  p->enabled |= other->enabled;
}

/* The processes that a view is of, behind each other. */
static void list_processes(struct view *v, const struct view *other) {
  size_t mine = v->processes ? v->processes : 1, more = other->processes ? other->processes : 1;
  struct view_process *all = arena_get(&v->arena, mine + more, sizeof *all);
  memcpy(all, v->processes ? v->merged : &v->process, mine * sizeof *all);
  memcpy(all + mine, other->processes ? other->merged : &other->process, more * sizeof *all);
  v->merged = all;
  v->processes = mine + more;
}

/* `base`: so many processes were there before. */
static void number_parts(struct view *v, uint64_t base, bool apart) {
  for (size_t i = 0; i < v->threads; i++)
    v->thread[i].process += base;
  for (size_t i = 0; i < v->loops; i++)
    v->loop[i].process += base;
  for (size_t i = 0; i < v->lives; i++)
    v->live[i].process += base;
  for (size_t i = 0; i < v->pendings; i++)
    v->pending[i].process += base;
  for (size_t i = 0; i < v->kinds; i++)
    for (size_t j = 0; j < v->kind[i].slows; j++)
      v->kind[i].slow[j].process += base;
  for (size_t i = 0; i < v->functions; i++)
    if (!apart)
      v->function[i].process = UNKNOWN;
    else
      v->function[i].process =
          v->function[i].process == UNKNOWN ? base : v->function[i].process + base;
}

static void add_live(struct view *v, const struct view *other, const size_t *place) {
  struct view_live *all = arena_get(&v->arena, v->lives + other->lives, sizeof *all);
  memcpy(all, v->live, v->lives * sizeof *all);
  for (size_t i = 0; i < other->lives; i++) {
    struct view_live *live = &all[v->lives + i];
    *live = other->live[i];
    if (live->function < other->functions)
      live->function = place[live->function];
  }
  v->live = all;
  v->lives += other->lives;
}

static void add_pending(struct view *v, const struct view *other) {
  struct view_pending *all = arena_get(&v->arena, v->pendings + other->pendings, sizeof *all);
  if (v->pendings)
    memcpy(all, v->pending, v->pendings * sizeof *all);
  if (other->pendings)
    memcpy(all + v->pendings, other->pending, other->pendings * sizeof *all);
  v->pending = all;
  v->pendings += other->pendings;
}

void view_merge(struct view *v, struct view *other, bool apart) {
  size_t base = v->processes ? v->processes : 1;
  size_t *place = allocate(other->functions, sizeof *place);
  number_parts(v, 0, apart);
  number_parts(other, base, apart);
  list_processes(v, other);
  merge_process(&v->process, &other->process);
  if (!v->governed.is)
    v->governed = other->governed;
  fold_object(FOLD_ADD, &v->arena, top_field("health")->of, &v->health, &other->health);
  static const char *const lists[] = {"threads", "loop", "misses", "ignored", "requests", "spans"};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    fold_list(FOLD_ADD, &v->arena, top_field(lists[i]), v, other, NULL);
  fold_list(FOLD_ADD, &v->arena, top_field("functions"), v, other, place);
  fold_paths(FOLD_ADD, v, other, place);
  add_live(v, other, place);
  add_pending(v, other);
  free(place);
  view_settle(v);
  settle_overhead(v);
}

static bool same_process(const struct view_process *a, const struct view_process *b) {
  return a->pid == b->pid && !strcmp(a->host, b->host) && common(a->started_at, b->started_at);
}

bool view_shares_process(const struct view *a, const struct view *b) {
  size_t mine = a->processes ? a->processes : 1, others = b->processes ? b->processes : 1;
  for (size_t i = 0; i < mine; i++)
    for (size_t j = 0; j < others; j++)
      if (same_process(a->processes ? &a->merged[i] : &a->process,
                       b->processes ? &b->merged[j] : &b->process))
        return true;
  return false;
}
