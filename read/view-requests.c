/* SPDX-License-Identifier: MIT */
/*
 * Requests by kind with their tiers, the slowest, those that go on, and spans, in a view; see
 * filling.h. Each thread has a part of a kind, and what has no part of its own is shared: their sum
 * is the kind. Of a live process one request may be in some of its numbers and not yet in others.
 * What lies in the profile is as hostile as all else there.
 */
#include "clock.h"
#include "filling.h"
#include "settle.h"

#include <aprof/abi.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one label and function, which may have several sites: as many records of the profile. */
struct group {
  const char *label; /* or NULL */
  uint32_t function; /* name */
  const struct aprof_kind *record[APROF_KINDS];
  size_t records;
  const struct aprof_kind_part **part; /* of these */
  size_t parts, room;
  uint64_t live;
};

struct groups {
  struct filling *f;
  struct group *group;
  size_t count, room;
  const char *label[APROF_KINDS]; /* by number of a kind */
};

static uint64_t ns(const struct filling *f, uint64_t ticks) {
  return clock_to_ns(ticks, f->m->rate);
}

/* -- names ---------------------------------------------------------------------------- */

static const char *cleaned(const struct filling *f, const char *text) {
  char *copy = (char *)arena_text(&f->v->arena, text);
  if (copy)
    clean_text(copy);
  return copy;
}

static const char *label_of(const struct groups *g, const struct aprof_kind *k, uint32_t number) {
  const char *text = k->label ? profile_string(g->f->m->profile, k->label) : NULL;
  return number == 0 ? "(other)" : text && *text ? cleaned(g->f, text) : NULL;
}

static const char *tier_name(const struct filling *f, uint32_t tier) {
  const char *name = profile_tier_name(f->m->profile, tier);
  return name && *name ? cleaned(f, name) : "(other)";
}

static const char *trace_text(const struct filling *f, const uint64_t trace[2]) {
  char text[33];
  if (!(trace[0] | trace[1]))
    return NULL;
  snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, trace[0], trace[1]);
  return arena_text(&f->v->arena, text);
}

static const char *span_text(const struct filling *f, uint64_t span) {
  char text[17];
  snprintf(text, sizeof text, "%016" PRIx64, span);
  return span ? arena_text(&f->v->arena, text) : NULL;
}

/* -- kinds ---------------------------------------------------------------------------- */

static bool same_label(const char *a, const char *b) {
  return a == b || (a && b && !strcmp(a, b));
}

static struct group *group_of(struct groups *g, const char *label, uint32_t function) {
  for (size_t i = 0; i < g->count; i++)
    if (g->group[i].function == function && same_label(g->group[i].label, label))
      return &g->group[i];
  if (g->count == g->room) {
    g->room = g->room ? g->room * 2 : 16;
    g->group = reallocate(g->group, g->room, sizeof *g->group);
  }
  g->group[g->count] = (struct group){.label = label, .function = function};
  return &g->group[g->count++];
}

/* Once there is a root, what began without one is a part of none. */
static bool counts(const struct filling *f, uint32_t flags) {
  return !(flags & APROF_REQUEST_IMPLICIT && f->m->profile->header.roots);
}

static uint32_t function_name(const struct filling *f, uint32_t number, uint32_t site) {
  return number ? names_of(f->m->names, site) : NAME_OTHER;
}

static void add_part(struct groups *g, const struct aprof_kind *k, uint32_t number,
                     const struct aprof_kind_part *part) {
  if (part->epoch != g->f->m->profile->header.reset_epoch ||
      !(part->count | part->after | part->after_exec))
    return;
  struct group *group = group_of(g, g->label[number], function_name(g->f, number, k->function));
  if (!group->records || group->record[group->records - 1] != k)
    group->record[group->records++] = k;
  if (group->parts == group->room) {
    group->room = group->room ? group->room * 2 : 8;
    group->part = reallocate(group->part, group->room, sizeof *group->part);
  }
  group->part[group->parts++] = part;
}

static void group_parts(struct groups *g, const struct aprof_kind *k, uint32_t number) {
  const struct aprof_kind_part *part = &k->shared;
  for (size_t run = 0; part; part = profile_kind_part(g->f->m->profile, &run, number))
    add_part(g, k, number, part);
}

static void group_kinds(struct groups *g) {
  const struct profile *p = g->f->m->profile;
  for (uint32_t i = 0; i < APROF_KINDS; i++) {
    const struct aprof_kind *k = profile_kind_of(p, i);
    if (!k)
      continue;
    g->label[i] = label_of(g, k, i);
    if (counts(g->f, k->flags))
      group_parts(g, k, i);
  }
}

static void fill_amount(struct filling *f, struct view_amount *to, uint64_t rate,
                        const struct aprof_amount *const *from, size_t count, bool any) {
  for (size_t i = 0; i < count; i++) {
    add_to(&to->sum, clock_to_ns(from[i]->sum, rate));
    greater(&to->max, clock_to_ns(from[i]->max, rate));
    fill_collect(f, profile_amount_buckets(f->m->profile, from[i]));
  }
  to->of = fill_collected(f, rate, to->max);
  to->max = known_if(any, to->max);
}

/* The tiers of a group's parts. */
struct tiers {
  const struct aprof_kind_tier **of;
  size_t count, room;
};

static void collect_tiers(const struct profile *p, const struct group *group, struct tiers *t) {
  for (size_t i = 0; i < group->parts; i++) {
    uint32_t at = group->part[i]->tiers;
    for (uint32_t hop = 0; at && hop < APROF_TIERS; hop++) { /* a damaged list may go on */
      const struct aprof_kind_tier *tier = profile_tier(p, at);
      if (!tier)
        break;
      if (t->count == t->room) {
        t->room = t->room ? t->room * 2 : 32;
        t->of = reallocate(t->of, t->room, sizeof *t->of);
      }
      if (tier->count)
        t->of[t->count++] = tier;
      at = tier->next;
    }
  }
}

static int by_tier(const void *a, const void *b) {
  const struct aprof_kind_tier *x = *(const struct aprof_kind_tier *const *)a;
  const struct aprof_kind_tier *y = *(const struct aprof_kind_tier *const *)b;
  return x->tier < y->tier ? -1 : x->tier > y->tier;
}

static void fill_tier(struct filling *f, struct view_tier *to,
                      const struct aprof_kind_tier *const *of, size_t count) {
  const uint64_t numbers = (uint64_t)1 << 32; /* of calls */
  const struct aprof_amount **from = allocate(count, sizeof *from);
  to->name = tier_name(f, of[0]->tier);
#define AMOUNT(member, rate)                                                                       \
  do {                                                                                             \
    for (size_t i = 0; i < count; i++)                                                             \
      from[i] = &of[i]->member;                                                                    \
    fill_amount(f, &to->member, rate, from, count, true);                                          \
  } while (0)
  for (size_t i = 0; i < count; i++)
    add_to(&to->count, of[i]->count);
  AMOUNT(calls, numbers);
  AMOUNT(exec, f->m->rate);
  AMOUNT(waiting, f->m->rate);
  AMOUNT(wall, f->m->rate);
#undef AMOUNT
  free(from);
}

static void fill_tiers(struct filling *f, struct view_kind *kind, const struct group *group) {
  struct tiers t = {0};
  collect_tiers(f->m->profile, group, &t);
  if (t.count)
    qsort(t.of, t.count, sizeof *t.of, by_tier);
  kind->tier = arena_get(&f->v->arena, t.count, sizeof *kind->tier);
  for (size_t from = 0, to; from < t.count; from = to) {
    for (to = from + 1; to < t.count && t.of[to]->tier == t.of[from]->tier;)
      to++;
    fill_tier(f, &kind->tier[kind->tiers++], t.of + from, to - from);
  }
  free(t.of);
}

/* -- the slowest ---------------------------------------------------------------------- */

static void fill_slow(struct filling *f, struct view_slow *to, const struct aprof_slow *from) {
  const struct aprof_header *header = &f->m->profile->header;
  uint64_t begin = ns(f, from->begin_tick > header->tick0 ? from->begin_tick - header->tick0 : 0);
  *to = (struct view_slow){
      .began_at = view_time(f->v, moment_after(header->started_at_ns, begin)),
      .trace = trace_text(f, from->trace),
      .span_id = span_text(f, from->span),
      .function = text_of(f, names_of(f->m->names, from->function))->name,
      .begin = begin,
      .wall = ns(f, from->wall),
      .exec = ns(f, from->exec),
      .queued = ns(f, from->queued),
      .waiting = ns(f, from->waiting),
      .failed = from->failed != 0,
      .number = from->sequence / 2 - 1,
  };
  size_t tiers = from->tiers < APROF_SLOW_TIERS ? from->tiers : APROF_SLOW_TIERS;
  to->tier = arena_get(&f->v->arena, tiers, sizeof *to->tier);
  for (; to->tiers < tiers; to->tiers++)
    to->tier[to->tiers] = (struct view_slow_tier){
        .name = tier_name(f, from->tier[to->tiers].tier),
        .calls = from->tier[to->tiers].calls,
        .exec = ns(f, from->tier[to->tiers].exec),
        .waiting = ns(f, from->tier[to->tiers].waiting),
        .wall = ns(f, from->tier[to->tiers].wall),
    };
}

static void fill_slowest(struct filling *f, struct view_kind *kind, const struct group *group) {
  kind->slow = arena_get(&f->v->arena, group->records * APROF_SLOWEST, sizeof *kind->slow);
  for (size_t i = 0; i < group->records; i++) {
    const struct aprof_kind *k = group->record[i];
    bool current = k->epoch == f->m->profile->header.reset_epoch && k->slowest;
    const struct aprof_slow *slow = current ? profile_slowest(f->m->profile, k->slowest) : NULL;
    for (size_t j = 0; slow && j < APROF_SLOWEST; j++)
      if (slow[j].sequence && !(slow[j].sequence & 1))
        fill_slow(f, &kind->slow[kind->slows++], &slow[j]);
  }
}

static bool has_record(const struct group *group, const struct aprof_kind *record) {
  for (size_t i = 0; i < group->records; i++)
    if (group->record[i] == record)
      return true;
  return false;
}

static void fill_logged(struct filling *f, struct view_kind *kind, const struct group *group) {
  const struct profile *p = f->m->profile;
  const struct aprof_slow *log = f->log ? profile_log(p) : NULL;
  if (!log)
    return;
  kind->logged = arena_get(&f->v->arena, APROF_LOGGED, sizeof *kind->logged);
  for (size_t i = 0; i < APROF_LOGGED; i++)
    if (log[i].sequence && !(log[i].sequence & 1) &&
        has_record(group, profile_kind_of(p, log[i].kind)))
      fill_slow(f, &kind->logged[kind->loggeds++], &log[i]);
}

/* -- all ------------------------------------------------------------------------------ */

static void fill_kind(struct filling *f, struct view_kind *kind, const struct group *group) {
  const struct text *function = text_of(f, group->function);
  const struct aprof_amount **from = allocate(group->parts + 1, sizeof *from);
  *kind = (struct view_kind){
      .kind = group->label ? group->label : function->name,
      .labelled = group->label != NULL,
      .function = function->name,
      .file = function->file,
      .line = name_of(f, group->function)->line,
      .live = group->live,
  };
  for (size_t i = 0; i < group->records; i++)
    kind->implicit |= (group->record[i]->flags & APROF_REQUEST_IMPLICIT) != 0;
  for (size_t i = 0; i < group->parts; i++) {
    const struct aprof_kind_part *part = group->part[i];
    add_to(&kind->count, part->count);
    add_to(&kind->failed, part->failed);
    add_to(&kind->after, part->after);
    add_to(&kind->after_exec, ns(f, part->after_exec));
  }
#define AMOUNT(member)                                                                             \
  do {                                                                                             \
    for (size_t i = 0; i < group->parts; i++)                                                      \
      from[i] = &group->part[i]->member;                                                           \
    fill_amount(f, &kind->member, f->m->rate, from, group->parts, kind->count);                    \
  } while (0)
  AMOUNT(wall);
  AMOUNT(queued);
  AMOUNT(exec);
  AMOUNT(waiting);
#undef AMOUNT
  free(from);
  fill_tiers(f, kind, group);
  fill_slowest(f, kind, group);
  fill_logged(f, kind, group);
}

/* -- those that go on ----------------------------------------------------------------- */

static bool is_live(const struct filling *f, const struct aprof_request *r) {
  const struct aprof_header *header = &f->m->profile->header;
  return r->id && r->state == APROF_REQUEST_LIVE && counts(f, r->flags) &&
         f->m->only == MODEL_NONE && model_epoch_of(header, r->id) == header->epoch;
}

static uint64_t root_of(const struct filling *f, const struct aprof_request *r) {
  const struct aprof_future *root = r->root ? profile_future(f->m->profile, r->root) : NULL;
  return root ? root->id : 0;
}

static const struct aprof_request *request_of(const struct filling *f, uint32_t number) {
  return number ? profile_request(f->m->profile, number) : NULL;
}

/* What it is called as long as it has no label: as the future that it began with, which may have
   got its name after the request did. */
static uint32_t name_of_pending(const struct filling *f, const struct aprof_request *r) {
  const struct aprof_future *first = r->first ? profile_future(f->m->profile, r->first) : NULL;
  uint32_t path = first && first->id && first->created_tick >= r->begin_tick
                      ? model_node_of(f->m, first->node)
                      : MODEL_NONE;
  while (path != MODEL_NONE && f->m->node[path].kind == APROF_NODE_SPAN)
    path = f->m->node[path].parent;
  return path != MODEL_NONE && f->m->node[path].kind == APROF_NODE_FUNCTION
             ? f->m->node[path].name
             : names_of(f->m->names, r->function);
}

static void fill_pending(struct groups *g, struct view_pending *to, const struct aprof_request *r) {
  struct filling *f = g->f;
  const char *label = r->no_label || r->kind >= APROF_KINDS ? NULL : g->label[r->kind];
  uint32_t name = name_of_pending(f, r);
  const struct text *function = text_of(f, name);
  const struct aprof_request *parent = request_of(f, r->parent);
  uint64_t rest =
      r->exec <= r->total && r->queued <= r->total - r->exec ? r->total - r->exec - r->queued : 0;
  group_of(g, label, name)->live++;
  *to = (struct view_pending){
      .id = r->id,
      .parent = parent && parent->begin_tick <= r->begin_tick ? parent->id : 0,
      .kind = label ? label : function->name,
      .function = function->name,
      .file = function->file,
      .line = name_of(f, name)->line,
      .trace = trace_text(f, r->trace),
      .age = ns(f, f->m->now > r->begin_tick ? f->m->now - r->begin_tick : 0),
      .members = r->members,
      .root = root_of(f, r),
      .rootless = r->root == 0,
      .exec = ns(f, r->exec),
      .queued = ns(f, r->queued),
      .waiting = ns(f, rest),
  };
}

static int by_age(const void *a, const void *b) {
  const struct view_pending *x = a, *y = b;
  if (x->age != y->age)
    return x->age > y->age ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

static void fill_live_requests(struct groups *g) {
  const struct profile_runs *runs = &g->f->m->profile->requests;
  struct view *v = g->f->v;
  size_t count = 0;
  for (int pass = 0; pass < 2; pass++) {
    if (pass)
      v->pending = arena_get(&v->arena, count, sizeof *v->pending);
    for (size_t i = 0; i < runs->count; i++) {
      const struct aprof_request *r = runs->run[i].elements;
      for (uint32_t n = runs->run[i].count; n--; r++)
        if (!is_live(g->f, r))
          continue;
        else if (pass)
          fill_pending(g, &v->pending[v->pendings++], r);
        else
          count++;
    }
  }
  if (v->pendings)
    qsort(v->pending, v->pendings, sizeof *v->pending, by_age);
  if (v->pendings > VIEW_LIVE_LIMIT)
    v->pendings = VIEW_LIVE_LIMIT;
}

void fill_requests(struct filling *f) {
  struct groups g = {.f = f};
  f->v->logged = f->m->profile->header.logged;
  group_kinds(&g);
  fill_live_requests(&g);
  f->v->kind = arena_get(&f->v->arena, g.count, sizeof *f->v->kind);
  for (size_t i = 0; i < g.count && f->m->only == MODEL_NONE; i++)
    fill_kind(f, &f->v->kind[f->v->kinds++], &g.group[i]);
  settle_tiers(f->v);
  for (size_t i = 0; i < g.count; i++)
    free(g.group[i].part);
  free(g.group);
}

/* -- spans ---------------------------------------------------------------------------- */

static const char *detail_text(uint32_t detail) {
  return detail == APROF_DETAIL_OFF ? "off" : detail == APROF_DETAIL_COUNT ? "count" : "time";
}

/* What the paths of a name say, in `of` by name. */
static void add_paths(const struct filling *f, struct view_span **of) {
  for (uint32_t i = 0; i < f->m->nodes; i++) {
    const struct model_node *n = &f->m->node[i];
    struct view_span *span = n->kind == APROF_NODE_SPAN ? of[n->name] : NULL;
    if (!span)
      continue;
    add_to(&span->calls, n->done);
    add_to(&span->waiting, n->waiting);
    add_to(n->function == MODEL_NONE ? &span->other : &span->exec, n->exec);
  }
}

static int by_exec(const void *a, const void *b) {
  const struct view_span *x = a, *y = b;
  uint64_t left = plus(x->exec, x->other), right = plus(y->exec, y->other);
  if (left != right)
    return left > right ? -1 : 1;
  int order = strcmp(x->name, y->name);
  return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

void fill_spans(const struct filling *f) {
  const struct profile *p = f->m->profile;
  struct view *v = f->v;
  struct view_span **of = allocate(f->m->names->count, sizeof *of);
  uint32_t end = profile_site_end(p);
  v->span = arena_get(&v->arena, f->m->names->count, sizeof *v->span);
  for (uint32_t i = 1; i < end; i++) {
    const struct aprof_psite *site = profile_site(p, i);
    uint32_t name = names_of(f->m->names, i);
    if (!site || site->kind != APROF_SITE_SPAN || name == NAME_UNKNOWN)
      continue;
    if (!of[name])
      *(of[name] = &v->span[v->spans++]) = (struct view_span){
          .name = text_of(f, name)->name,
          .file = text_of(f, name)->file,
          .line = name_of(f, name)->line,
      };
    of[name]->tier = site->tier ? tier_name(f, site->tier) : NULL;
    of[name]->detail = detail_text(site->detail);
  }
  add_paths(f, of);
  if (v->spans)
    qsort(v->span, v->spans, sizeof *v->span, by_exec);
  free(of);
}
