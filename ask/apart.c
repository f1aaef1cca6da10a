/* SPDX-License-Identifier: MIT */
/* One of several against the others; see apart.h. */
#include "apart.h"

#include "read/labels.h"
#include "read/util.h"
#include "record/story-build.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far above the others a mean has to be: a share of theirs, and standard errors. */
static const double out_share = 0.1, out_errors = 3;

struct compared {
  struct apart *all;
  const struct view *const *view;
  size_t views;
  const struct request_filter *filter;
  size_t *group_of; /* by view */
};

/* -- groups ---------------------------------------------------------------------------- */

static const char *common(const char *a, const char *b) {
  return a && b && !strcmp(a, b) ? a : NULL;
}

static const char *name_of(struct arena *arena, const struct view *v, const char *by) {
  const struct view_process *p = &v->process;
  if (!strcmp(by, APART_HOST))
    return p->host && *p->host ? p->host : "(unknown)";
  if (!strcmp(by, APART_BUILD))
    return p->build_id ? p->build_id : "(unknown)";
  if (!strcmp(by, APART_PROCESS))
    return arena_text(arena, turn_text("%s %lld on %s", p->name, (long long)p->pid, p->host));
  return labels_get(arena, p->labels, by);
}

/* How much of its time a loop of its processes works. */
static double busy_of(const struct compared *c, size_t group) {
  double busy = 0, elapsed = 0;
  for (size_t i = 0; i < c->views; i++)
    for (size_t j = 0; c->group_of[i] == group && j < c->view[i]->loops; j++) {
      const struct view_loop *l = &c->view[i]->loop[j];
      if (l->busy == UNKNOWN || l->elapsed == UNKNOWN)
        continue;
      busy += (double)l->busy;
      elapsed += (double)l->elapsed;
    }
  return elapsed > 0 ? busy / elapsed : -1;
}

static size_t group_named(struct apart *all, const char *name, const struct view *v) {
  const struct view_process *p = &v->process;
  for (size_t i = 0; i < all->groups; i++)
    if (!strcmp(all->group[i].name, name)) {
      struct apart_group *g = &all->group[i];
      g->processes++;
      g->host = common(g->host, p->host);
      g->build = common(g->build, p->build_id);
      g->version = common(g->version, p->aprof_version);
      return i;
    }
  all->group[all->groups] = (struct apart_group){.name = name,
                                                 .processes = 1,
                                                 .host = p->host,
                                                 .build = p->build_id,
                                                 .version = p->aprof_version};
  return all->groups++;
}

static bool is_label(const char *by) {
  return strcmp(by, APART_HOST) != 0 && strcmp(by, APART_BUILD) != 0 &&
         strcmp(by, APART_PROCESS) != 0;
}

static const struct view_function *function_named(const struct compared *c, const char *name) {
  for (size_t i = 0; i < c->views; i++)
    for (size_t j = 0; j < c->view[i]->functions; j++)
      if (!strcmp(c->view[i]->function[j].name, name) && c->view[i]->function[j].file)
        return &c->view[i]->function[j];
  return NULL;
}

static void complain_of_one(const struct compared *c, const char *by) {
  const struct apart *all = c->all;
  const struct view_function *f;
  if (!all->groups || !is_label(by) || strcmp(all->group[0].name, LABELS_NONE) != 0)
    complain("all of these are of one %s%s%s: there is nothing to compare", by,
             all->groups ? ", " : "", all->groups ? all->group[0].name : "");
  else if ((f = function_named(c, by)))
    complain(
        "no process has a label `%s'; it is a function: --by %s:%" PRIu64
        " compares requests that reached it, in a recording of `aprof probe TARGET %s -o FILE'",
        by, f->file, f->line, by);
  else
    complain("no process has a label `%s'; --by takes host, build, process, the KEY of a label, or "
             "FILE:LINE",
             by);
}

static bool make_groups(struct compared *c, const char *by) {
  struct apart *all = c->all;
  all->group = arena_get(&all->arena, c->views + 1, sizeof *all->group);
  for (size_t i = 0; i < c->views; i++) {
    const struct view *v = c->view[i];
    if (v->processes) {
      complain("%s is of several processes, merged: give the totals of each", v->what);
      return false;
    }
    c->group_of[i] = group_named(all, name_of(&all->arena, v, by), v);
  }
  for (size_t i = 0; i < all->groups; i++)
    all->group[i].busy = busy_of(c, i);
  if (all->groups > 1)
    return true;
  complain_of_one(c, by);
  return false;
}

/* -- what a kind took ------------------------------------------------------------------ */

struct kind_name {
  const char *kind, *function;
};

static bool is_of(const struct view_kind *k, const struct kind_name *name) {
  return !strcmp(k->kind, name->kind) && !strcmp(k->function, name->function);
}

static const struct view_kind *kind_in(const struct view *v, const struct kind_name *name) {
  for (size_t i = 0; i < v->kinds; i++)
    if (is_of(&v->kind[i], name))
      return v->kind[i].count ? &v->kind[i] : NULL;
  return NULL;
}

static int by_lower(const void *a, const void *b) {
  const struct bucket *x = a, *y = b;
  return (x->lower > y->lower) - (x->lower < y->lower);
}

/* Percentiles, and how far a mean of so many may be off. */
static void measure(struct apart_part *p, struct bucket *bucket, size_t buckets) {
  double sum = 0, squares = 0, count = 0;
  if (!buckets)
    return;
  qsort(bucket, buckets, sizeof *bucket, by_lower);
  for (size_t i = 0; i < buckets; i++) {
    double value = (double)bucket[i].lower, times = (double)bucket[i].count;
    sum += times * value;
    squares += times * value * value;
    count += times;
  }
  double mean = sum / count, variance = squares / count - mean * mean;
  p->error = variance > 0 ? sqrt(variance / count) : 0;
  p->p50 = buckets_percentile(bucket, buckets, 500, p->max);
  p->p99 = buckets_percentile(bucket, buckets, 990, p->max);
}

static struct apart_part part_of(const struct compared *c, const struct kind_name *name,
                                 size_t group) {
  struct apart_part p = {&c->all->group[group], .p50 = UNKNOWN, .p99 = UNKNOWN, .max = UNKNOWN};
  struct bucket *bucket = NULL;
  size_t buckets = 0;
  for (size_t i = 0; i < c->views; i++) {
    const struct view_kind *k = c->group_of[i] == group ? kind_in(c->view[i], name) : NULL;
    if (!k)
      continue;
    const struct distribution *d = &k->wall.of;
    add_to(&p.count, k->count);
    add_to(&p.failed, k->failed);
    add_to(&p.wall, k->wall.sum);
    if (k->wall.max != UNKNOWN && (p.max == UNKNOWN || k->wall.max > p.max))
      p.max = k->wall.max;
    bucket = reallocate(bucket, buckets + d->count + 1, sizeof *bucket);
    memcpy(bucket + buckets, d->bucket, d->count * sizeof *bucket);
    buckets += d->count;
  }
  p.mean = p.count ? (double)p.wall / (double)p.count : 0;
  measure(&p, bucket, buckets);
  free(bucket);
  return p;
}

static int slowest_first(const void *a, const void *b) {
  const struct apart_part *x = a, *y = b;
  return x->mean != y->mean ? (x->mean < y->mean) - (x->mean > y->mean)
                            : strcmp(x->group->name, y->group->name);
}

/* Whether the slowest one is so by more than chance. */
static void judge(struct apart_kind *k) {
  double count = 0, wall = 0, errors = 0;
  for (size_t i = 1; i < k->parts; i++) {
    const struct apart_part *p = &k->part[i];
    count += (double)p->count;
    wall += (double)p->wall;
    errors += p->error * p->error * (double)p->count * (double)p->count;
  }
  if (!(count > 0))
    return;
  k->others = wall / count;
  k->more = k->part[0].mean - k->others;
  double error = sqrt(k->part[0].error * k->part[0].error + errors / (count * count));
  k->stands_out = k->more > out_share * k->others && k->more > out_errors * error;
}

/* -- kinds ----------------------------------------------------------------------------- */

static const char *shown_name(const struct compared *c, const struct kind_name *of) {
  for (size_t i = 0; i < c->views; i++)
    for (size_t j = 0; j < c->view[i]->kinds; j++) {
      const struct view_kind *k = &c->view[i]->kind[j];
      if (!strcmp(k->kind, of->kind) && strcmp(k->function, of->function) != 0)
        return arena_text(&c->all->arena, turn_text("%s (%s)", of->kind, of->function));
    }
  return of->kind;
}

static struct apart_kind make_kind(const struct compared *c, struct apart_rows *rows,
                                   const struct kind_name *name) {
  struct apart *all = c->all;
  struct apart_kind k = {.name = shown_name(c, name)};
  k.part = arena_get(&all->arena, all->groups, sizeof *k.part);
  for (size_t i = 0; i < all->groups; i++) {
    k.part[k.parts] = part_of(c, name, i);
    k.parts += k.part[k.parts].count != 0;
  }
  qsort(k.part, k.parts, sizeof *k.part, slowest_first);
  judge(&k);
  enum tail_side *side = allocate(c->views, sizeof *side);
  for (size_t i = 0; i < c->views; i++)
    side[i] = !kind_in(c->view[i], name)                       ? TAIL_SIDES
              : &all->group[c->group_of[i]] == k.part[0].group ? TAIL_SLOW
                                                               : TAIL_REST;
  k.tail = k.parts > 1 ? apart_rows_of(rows, name->kind, name->function, side, &k.together) : NULL;
  free(side);
  return k;
}

/* What it costs that one stands out. */
static double cost_of(const struct apart_kind *k) {
  return k->stands_out ? k->more * (double)k->part[0].count : 0;
}

static int dearest_first(const void *a, const void *b) {
  const struct apart_kind *x = a, *y = b;
  double one = cost_of(x), other = cost_of(y);
  return one != other ? (one < other) - (one > other) : strcmp(x->name, y->name);
}

/* All that are meant, each once; free() it. */
static struct kind_name *list_kinds(const struct compared *c, size_t *count) {
  struct kind_name *list = NULL;
  *count = 0;
  for (size_t i = 0; i < c->views; i++)
    for (size_t j = 0; j < c->view[i]->kinds; j++) {
      const struct view_kind *k = &c->view[i]->kind[j];
      bool there = !k->count || !ask_is_meant(c->filter, k);
      for (size_t l = 0; !there && l < *count; l++)
        there = is_of(k, &list[l]);
      if (there)
        continue;
      list = reallocate(list, *count + 1, sizeof *list);
      list[(*count)++] = (struct kind_name){k->kind, k->function};
    }
  return list;
}

static bool make_kinds(struct compared *c) {
  struct apart *all = c->all;
  size_t names;
  struct kind_name *name = list_kinds(c, &names);
  struct apart_rows *rows = apart_rows_new(all->paths, c->view, c->views);
  all->kind = arena_get(&all->arena, names + 1, sizeof *all->kind);
  for (size_t i = 0; i < names; i++)
    all->kind[all->kinds++] = make_kind(c, rows, &name[i]);
  qsort(all->kind, all->kinds, sizeof *all->kind, dearest_first);
  apart_rows_free(rows);
  free(name);
  if (!names && (c->filter->kind || c->filter->tier))
    complain("none of these had a request of %s %s; without that option all are compared",
             c->filter->kind ? "kind" : "tier",
             c->filter->kind ? c->filter->kind : c->filter->tier);
  else if (!names)
    complain("none of these had a request that ended: `root' says where one begins, see "
             "aprof-bindings(5); a longer time (--for) has more");
  return names != 0;
}

static int by_name(const void *a, const void *b) {
  const struct view *x = *(const struct view *const *)a, *y = *(const struct view *const *)b;
  int order = strcmp(x->process.host, y->process.host);
  return order ? order : (x->process.pid > y->process.pid) - (x->process.pid < y->process.pid);
}

struct apart *apart_of(const struct view *const *view, size_t views, const char *by,
                       const struct request_filter *filter) {
  struct apart *all = allocate(1, sizeof *all);
  const struct view **ordered = allocate(views + 1, sizeof *ordered);
  memcpy(ordered, view, views * sizeof *ordered);
  qsort(ordered, views, sizeof *ordered, by_name);
  struct compared c = {.all = all, .view = ordered, .views = views, .filter = filter};
  c.group_of = allocate(views + 1, sizeof *c.group_of);
  all->paths = story_new();
  bool made = make_groups(&c, by) && make_kinds(&c);
  free(c.group_of);
  free(ordered);
  if (made)
    return all;
  apart_free(all);
  return NULL;
}

void apart_free(struct apart *all) {
  if (!all)
    return;
  for (size_t i = 0; i < all->kinds; i++)
    tail_free(all->kind[i].tail);
  story_free(all->paths);
  arena_free(&all->arena);
  free(all);
}
