/* SPDX-License-Identifier: MIT */
/* A story as a view; see story-view.h. */
#include "story-view.h"

#include "read/histogram.h"
#include "read/index.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -- the process ------------------------------------------------------------------------- */

static void fill_process(struct view *v, const struct story *s) {
  v->process = (struct view_process){
      .pid = s->pid,
      .name = s->process,
      .command = s->command,
      .host = s->host,
      .build_id = s->build_id,
      .reason = "recording",
      .started_at = view_time(v, moment_after(s->started_at_ns, s->begin_ns)),
      .dumped_at = view_time(v, moment_after(s->started_at_ns, s->end_ns)),
      .elapsed = s->end_ns - s->begin_ns,
      .measured = s->end_ns - s->begin_ns,
      .reset = UNKNOWN,
      .enabled = true,
  };
  if (s->tick_rate)
    v->clock = view_clock_of(s->clock_source, s->tick_rate);
  v->health = (struct view_health){.events = s->events,
                                   .event_cost = UNKNOWN,
                                   .event_cost_least = UNKNOWN,
                                   .cost = UNKNOWN,
                                   .overhead = -1,
                                   .consistent = true};
  v->is_interval = true;
}

/* -- functions and paths ----------------------------------------------------------------- */

/* A place has one function, on whichever paths. */
static void fill_functions(struct view *v, const struct story *s) {
  struct index x;
  index_new(&x, s->paths_count);
  v->function = arena_get(&v->arena, s->paths_count + 1u, sizeof *v->function);
  for (uint32_t i = 0; i < s->paths_count; i++) {
    const struct story_path *p = &s->paths[i];
    v->path[i].function = UNKNOWN;
    if (p->kind != STORY_FUNCTION)
      continue;
    char *key = print_string("%s\n%s:%" PRIu32, p->name, p->file ? p->file : "", p->line);
    const struct view_function *there = index_get(&x, print_string("%s", key));
    if (there) {
      free(key);
    } else {
      struct view_function *made = &v->function[v->functions++];
      *made = (struct view_function){.process = UNKNOWN,
                                     .name = p->name,
                                     .file = p->file,
                                     .line = p->line,
                                     .instrumented = true,
                                     .on_cpu_least = UNKNOWN,
                                     .on_cpu_most = UNKNOWN,
                                     .mostly_max = UNKNOWN};
      index_put(&x, key, made);
      there = made;
    }
    v->path[i].function = (uint64_t)(there - v->function);
  }
  index_free(&x);
}

static const char *place_of(struct view *v, const struct story_path *p) {
  if (!p->file || !p->line)
    return p->file;
  char *text = print_string("%s:%" PRIu32, p->file, p->line);
  const char *kept = arena_text(&v->arena, text);
  free(text);
  return kept;
}

/* What lies beneath an await lies beneath its function. An await in which nobody waited was of
   calls on the same stack. */
static void fill_paths(struct view *v, const struct story *s) {
  v->path = arena_get(&v->arena, s->paths_count + 1u, sizeof *v->path);
  v->paths = s->paths_count;
  fill_functions(v, s);
  for (uint32_t i = 0; i < s->paths_count; i++) {
    const struct story_path *p = &s->paths[i];
    struct view_path *to = &v->path[i];
    uint32_t above = p->parent;
    while (above != STORY_NONE && s->paths[above].is_await)
      above = s->paths[above].parent;
    to->id = i + 1u;
    to->parent_id = above == STORY_NONE ? 0 : above + 1u;
    to->name = p->name;
    to->is_await = p->is_await;
    to->background = p->background;
    to->kind = p->kind == STORY_FUNCTION ? NULL : p->kind == STORY_SPAN ? "span" : "call";
    to->place = p->kind == STORY_FUNCTION ? NULL : place_of(v, p);
    if (p->kind != STORY_FUNCTION && p->function < s->paths_count)
      to->function = v->path[p->function].function;
  }
}

/* -- times ------------------------------------------------------------------------------- */

static bool is_meant(const struct story_future *f, const bool *meant) {
  return !meant || (f->request != STORY_NONE && meant[f->request]);
}

/* Queueing is the function's, whatever it was queued behind. What lies behind `last` is left out.
 */
static void add_segment(struct view *v, const struct story *s, const struct story_segment *g,
                        uint64_t last) {
  uint32_t owner = s->paths[g->path].function;
  struct view_path *path = &v->path[g->path];
  struct view_path *function = owner < s->paths_count ? &v->path[owner] : path;
  struct view_function *of =
      function->function < v->functions ? &v->function[function->function] : NULL;
  uint64_t end = g->end < last ? g->end : last, time = end - g->begin;
  if (g->begin > last)
    return;
  switch (g->what) {
  case STORY_EXEC:
    path->exec += time;
    function->slices++;
    if (of) {
      of->exec += time;
      of->slices++;
    }
    break;
  case STORY_QUEUED:
    function->queued += time;
    if (of)
      of->queued += time;
    break;
  case STORY_WAITING:
    path->kind = "await";
    path->waiting += time;
    path->count += !(g->flags & STORY_POLLED);
    path->max = time > path->max ? time : path->max;
    if (of)
      of->waiting += time;
    break;
  default: /* aside: what runs above it has the time */
    break;
  }
}

static void add_future(struct view *v, const struct story *s, const struct story_future *f,
                       uint64_t last) {
  struct view_path *path = &v->path[f->path];
  struct view_function *of = path->function < v->functions ? &v->function[path->function] : NULL;
  uint64_t lived = f->over - f->born, ran = 0;
  path->created++;
  path->wall += lived;
  path->done += f->how == STORY_DONE;
  path->failed += f->how == STORY_FAILED;
  path->cancelled += f->how == STORY_CANCELLED;
  path->detached += f->how == STORY_MOVED;
  path->live += f->how == STORY_LIVES;
  if (of) {
    of->created++;
    of->wall += lived;
    of->done += f->how == STORY_DONE;
    of->failed += f->how == STORY_FAILED;
    of->cancelled += f->how == STORY_CANCELLED;
    of->detached += f->how == STORY_MOVED;
    of->live += f->how == STORY_LIVES;
  }
  for (uint32_t i = f->first; i != STORY_NONE; i = s->segments[i].next) {
    const struct story_segment *g = &s->segments[i];
    add_segment(v, s, g, last);
    ran += g->what == STORY_EXEC ? g->end - g->begin : 0;
  }
  if (of) {
    of->wall_max = lived > of->wall_max ? lived : of->wall_max;
    of->exec_max = ran > of->exec_max ? ran : of->exec_max;
  }
}

/* -- kinds of requests ------------------------------------------------------------------- */

static void add_amount(struct view_amount *a, uint64_t value) {
  a->sum = plus(a->sum, value);
  a->max = a->max == UNKNOWN || value > a->max ? value : a->max;
}

static struct view_kind *kind_of(struct view *v, struct index *x, const struct story_request *r) {
  char *key = print_string("%s\n%s", r->kind, r->function);
  struct view_kind *there = (struct view_kind *)index_get(x, print_string("%s", key));
  if (there) {
    free(key);
    return there;
  }
  there = &v->kind[v->kinds++];
  *there = (struct view_kind){.kind = r->kind,
                              .function = r->function,
                              .labelled = r->kind != r->function,
                              .implicit = r->implicit,
                              .wall.max = UNKNOWN,
                              .queued.max = UNKNOWN,
                              .exec.max = UNKNOWN,
                              .waiting.max = UNKNOWN};
  index_put(x, key, there);
  return there;
}

/* Where its function is, by which paths are found that lie beneath it. */
static void place_kind(struct view_kind *k, const struct story *s, const struct story_request *r) {
  if (k->file || r->root == STORY_NONE)
    return;
  const struct story_path *p = &s->paths[s->futures[r->root].path];
  p = p->function != STORY_NONE ? &s->paths[p->function] : p;
  if (!strcmp(p->name, k->function)) {
    k->file = p->file;
    k->line = p->line;
  }
}

enum { AMOUNTS = 4 };

static void count(struct histogram *h, uint64_t value) {
  histogram_count(h, value < APROF_MOST ? value : APROF_MOST);
}

/* Of one kind, whose requests these are. */
static void distribute(struct view *v, struct view_kind *k, const struct story *s,
                       const uint32_t *request, size_t requests) {
  static const uint64_t a_ns = (uint64_t)1 << 32; /* the unit, in place of a tick */
  struct view_amount *amount[AMOUNTS] = {&k->wall, &k->queued, &k->exec, &k->waiting};
  struct histogram *of = allocate(AMOUNTS, sizeof *of);
  for (size_t i = 0; i < requests; i++) {
    const struct story_request *r = &s->requests[request[i]];
    const uint64_t value[AMOUNTS] = {r->end - r->begin, r->queued, r->exec, r->waiting};
    for (int j = 0; j < AMOUNTS; j++)
      count(&of[j], value[j]);
  }
  for (int j = 0; j < AMOUNTS; j++)
    amount[j]->of = histogram_convert(&v->arena, &of[j], a_ns, amount[j]->max);
  free(of);
}

/* `kind`: number of each request's, or `kinds`: it is not counted. */
static void fill_distributions(struct view *v, const struct story *s, const size_t *kind) {
  size_t *first = allocate(v->kinds + 2, sizeof *first);
  uint32_t *order = allocate(s->requests_count + 1u, sizeof *order);
  for (uint32_t i = 0; i < s->requests_count; i++)
    first[kind[i] + 1]++;
  for (size_t i = 0; i < v->kinds; i++)
    first[i + 1] += first[i];
  for (uint32_t i = 0; i < s->requests_count; i++)
    order[first[kind[i]]++] = i; /* each is the next one's first then */
  for (size_t i = 0, from = 0; i < v->kinds; from = first[i++])
    distribute(v, &v->kind[i], s, order + from, first[i] - from);
  free(order);
  free(first);
}

static void fill_kinds(struct view *v, const struct story *s, const bool *meant) {
  struct index x;
  size_t *number = allocate(s->requests_count + 1u, sizeof *number);
  index_new(&x, s->requests_count);
  v->kind = arena_get(&v->arena, s->requests_count + 1u, sizeof *v->kind);
  for (uint32_t i = 0; i < s->requests_count; i++) {
    const struct story_request *r = &s->requests[i];
    number[i] = SIZE_MAX;
    if (meant && !meant[i])
      continue;
    struct view_kind *kind = kind_of(v, &x, r);
    if (!r->whole) {
      kind->live += !r->over;
      continue;
    }
    place_kind(kind, s, r);
    number[i] = (size_t)(kind - v->kind);
    kind->count++;
    kind->failed += r->failed;
    add_amount(&kind->wall, r->end - r->begin);
    add_amount(&kind->queued, r->queued);
    add_amount(&kind->exec, r->exec);
    add_amount(&kind->waiting, r->waiting);
  }
  for (uint32_t i = 0; i < s->requests_count; i++)
    number[i] = number[i] == SIZE_MAX ? v->kinds : number[i];
  fill_distributions(v, s, number);
  free(number);
  index_free(&x);
}

struct view *ask_story_view(const struct story *s, const bool *meant, const char *what) {
  struct view *v = view_new(what);
  fill_process(v, s);
  fill_paths(v, s);
  for (uint32_t i = 0; i < s->futures_count; i++) {
    const struct story_future *f = &s->futures[i];
    if (is_meant(f, meant))
      add_future(v, s, f, meant ? s->requests[f->request].end : UINT64_MAX);
  }
  fill_kinds(v, s, meant);
  view_settle(v);
  return v;
}

bool *ask_story_meant(const struct story *s, const struct slowest *found,
                      enum story_choice choice) {
  bool *meant = allocate(s->requests_count + 1u, sizeof *meant);
  for (size_t i = 0; i < found->kinds; i++) {
    const struct slowest_kind *k = &found->kind[i];
    for (uint32_t j = choice == STORY_REST ? k->slow : 0;
         j < (choice == STORY_SLOW ? k->slow : k->count); j++)
      meant[k->request[j] - s->requests] = true;
  }
  return meant;
}
