/* SPDX-License-Identifier: MIT */
/* A view of a profile: the model's numbers, under the names that users know; see view.h. */
#include "clock.h"
#include "filling.h"
#include "governed.h"
#include "settle.h"

#include <stdlib.h>

/* -- paths ------------------------------------------------------------------------------ */

static void fill_path(const struct filling *f, struct view_path *path, uint32_t index) {
  const struct model_node *n = &f->m->node[index];
  const struct name *name = name_of(f, n->name);
  const struct text *text = text_of(f, n->name);
  *path = (struct view_path){
      .id = (uint64_t)index + 1,
      .parent_id = n->parent == MODEL_NONE ? 0 : (uint64_t)n->parent + 1,
      .function = f->number[n->function],
      .is_await = n->kind == APROF_NODE_AWAIT,
      .name = text->name,
      .waiting = n->waiting,
  };
  if (path->is_await) {
    path->place = text->place;
    path->kind = kind_of(name);
    path->background = model_background(f->m, n->function, name);
    path->count = n->count;
    path->immediate = n->immediate;
    path->open = n->open;
    path->max = known_if(n->count, n->max);
    return;
  }
  if (n->kind == APROF_NODE_SPAN) {
    path->kind = "span";
    path->place = text->place;
    path->calls = n->done;
    path->exec = n->exec;
    path->wall = n->exec + n->waiting;
    path->children_exec = n->children_exec;
    return;
  }
  path->created = n->done + n->failed + n->cancelled + n->detached + n->live;
  path->done = n->done;
  path->failed = n->failed;
  path->cancelled = n->cancelled;
  path->detached = n->detached;
  path->live = n->live;
  path->born_done = n->born_done;
  path->slices = n->slices;
  path->exec = n->exec;
  path->queued = n->queued;
  path->wall = n->queued + n->exec + n->waiting;
  path->children_exec = n->children_exec;
  path->shared = n->shared;
}

static void fill_tree(const struct filling *f) {
  struct view *v = f->v;
  size_t count = 0;
  for (uint32_t i = 0; i < f->m->nodes; i++)
    count += f->path_shown[i];
  v->path = arena_get(&v->arena, count, sizeof *v->path);
  for (uint32_t i = 0; i < f->m->nodes; i++)
    if (f->path_shown[i])
      fill_path(f, &v->path[v->paths++], i);
}

/* -- the whole ------------------------------------------------------------------------------ */

struct view *view_of_model(const struct model *m, const char *what,
                           const struct view_request *request, struct kept *kept) {
  struct view *v = view_new(what);
  struct filling f = {.v = v,
                      .m = m,
                      .histograms = !request->without_histograms,
                      .log = request->log,
                      .kept = kept};
  f.text = allocate(m->names->count, sizeof *f.text);
  f.number = allocate(m->functions, sizeof *f.number);
  f.path_shown = allocate(m->nodes, sizeof *f.path_shown);
  fill_process(v, m, request);
  fill_threads(&f);
  fill_loops(&f);
  fill_health(v, m);
  governed_fill(v, m);
  fill_misses(&f);
  fill_functions(&f);
  fill_tree(&f);
  fill_requests(&f);
  fill_spans(&f);
  fill_live(&f, request->lives ? request->lives : VIEW_LIVE_LIMIT);
  free(f.text);
  free(f.number);
  free(f.path_shown);
  free(f.offset);
  view_settle(v);
  return v;
}

/* The block of a thread; MODEL_NONE after a message, where there is none. */
static uint32_t block_of(const struct profile *p, const char *what, int64_t tid) {
  for (size_t i = 0; i < p->blocks.count; i++) {
    const struct aprof_block *b = p->blocks.run[i].elements;
    if (b->tid == tid)
      return p->blocks.run[i].first;
  }
  complain("%s has no loop of a thread %lld; a report without --loop lists them", what,
           (long long)tid);
  return MODEL_NONE;
}

struct view *view_of_profile(int fd, const char *what, enum profile_state state,
                             const struct view_request *request) {
  bool live = state == PROFILE_LIVE;
  struct aprof_header header;
  /* The fit comes first: it may have to wait, and "now" must not. */
  if (!profile_read_header(fd, what, &header, false))
    return NULL;
  uint64_t rate = clock_rate(fd, what, &header, live);
  struct profile *p = rate ? profile_read(fd, what, live, !request->without_histograms) : NULL;
  if (!p)
    return NULL;
  uint32_t only = request->loop ? block_of(p, what, request->loop) : MODEL_NONE;
  if (request->loop && only == MODEL_NONE) {
    profile_free(p);
    return NULL;
  }
  uint64_t now = request->at ? request->at : profile_now(p, live, request->lived);
  struct names *names = names_new(p, live ? p->header.pid : 0);
  struct model *m = model_of_block(p, names, rate, now, !live, only);
  struct view *v = view_of_model(m, what, request, NULL);
  v->only = request->loop;
  if (live)
    fill_run_delay(v, &p->header);
  model_free(m);
  names_free(names);
  profile_free(p);
  return v;
}
