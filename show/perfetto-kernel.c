/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side in a trace of Perfetto: samples, whose call stacks are those of the flame
 * graph, native functions beneath their futures; and below each thread's track one of whether it
 * had a processor.
 */
#include "ask/story-cpu.h"
#include "ask/story-view.h"
#include "perfetto.h"
#include "read/arena.h"
#include "read/util.h"

#include <stdlib.h>

enum { MODE_KERNEL = 1, MODE_USER = 2 }; /* as Perfetto numbers them */

/* -- switches ---------------------------------------------------------------------------- */

static void put_states(struct perfetto *w, uint32_t thread, const struct story_switch *x,
                       uint32_t count) {
  static const enum perfetto_name names[] = {
      [STORY_ON_CPU] = NAME_ON, [STORY_PREEMPTED] = NAME_PREEMPTED, [STORY_BLOCKED] = NAME_BLOCKED};
  uint64_t track = perfetto_track(w, TRACK_PROCESSOR, thread);
  perfetto_put_track(w, track, perfetto_track(w, TRACK_THREAD, thread), "processor");
  for (uint32_t i = 0; i < count; i++) {
    struct perfetto_event e;
    if (x[i].to > STORY_BLOCKED)
      continue;
    perfetto_event(&e, track, SLICE_BEGIN, CATEGORY_PROCESSOR);
    perfetto_name(&e, w->s, names[x[i].to]);
    perfetto_put(w, &e, x[i].at);
    perfetto_put_end(w, track, i + 1 < count ? x[i + 1].at : w->s->end_ns);
  }
}

static void put_switches(struct perfetto *w) {
  const struct story_kernel *k = &w->s->kernel;
  for (uint32_t i = 0, next; i < k->switches_count; i = next) {
    for (next = i + 1;
         next < k->switches_count && k->switches[next].thread == k->switches[i].thread;)
      next++;
    put_states(w, k->switches[i].thread, &k->switches[i], next - i);
  }
}

/* -- samples ----------------------------------------------------------------------------- */

static Perfetto__Name *name_of(struct arena *a, uint64_t iid, const char *text) {
  Perfetto__Name *name = arena_get(a, 1, sizeof *name);
  perfetto__name__init(name);
  name->iid = iid;
  name->name = (char *)text;
  return name;
}

/* Whose code it is stands for a file. */
static void add_mappings(struct arena *a, Perfetto__InternedData *data) {
  static const char *const whose[] = {
      [VIEW_ASYNC] = "futures",       [VIEW_PROGRAM] = "program", [VIEW_LIBRARY] = "libraries",
      [VIEW_GENERATED] = "generated", [VIEW_KERNEL] = "kernel",   [VIEW_NOBODY] = "unknown"};
  enum { COUNT = sizeof whose / sizeof *whose };
  data->mappings = arena_get(a, COUNT, sizeof *data->mappings);
  data->mapping_paths = arena_get(a, COUNT, sizeof *data->mapping_paths);
  for (size_t i = 0; i < COUNT; i++) {
    Perfetto__Mapping *m = arena_get(a, 1, sizeof *m);
    perfetto__mapping__init(m);
    m->iid = i + 1;
    m->path_string_ids = arena_get(a, 1, sizeof *m->path_string_ids);
    m->path_string_ids[m->n_path_string_ids++] = i + 1;
    data->mappings[data->n_mappings++] = m;
    data->mapping_paths[data->n_mapping_paths++] = name_of(a, i + 1, whose[i]);
  }
}

static Perfetto__Callstack *callstack_of(struct arena *a, const struct view *v, size_t path) {
  Perfetto__Callstack *c = arena_get(a, 1, sizeof *c);
  size_t depth = 0;
  for (size_t at = path; at != SIZE_MAX; at = v->path[at].parent)
    depth++;
  perfetto__callstack__init(c);
  c->iid = path + 1;
  c->n_frame_ids = depth;
  c->frame_ids = arena_get(a, depth, sizeof *c->frame_ids);
  for (size_t at = path; at != SIZE_MAX; at = v->path[at].parent)
    c->frame_ids[--depth] = at + 1;
  return c;
}

/* A frame for each path, a call stack for each that was sampled. */
static void put_paths(struct perfetto *w, const struct view *v) {
  struct arena a = {0};
  Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
  add_mappings(&a, &data);
  data.function_names = arena_get(&a, v->paths + 1, sizeof *data.function_names);
  data.frames = arena_get(&a, v->paths + 1, sizeof *data.frames);
  data.callstacks = arena_get(&a, v->paths + 1, sizeof *data.callstacks);
  for (size_t i = 0; i < v->paths; i++) {
    Perfetto__Frame *f = arena_get(&a, 1, sizeof *f);
    perfetto__frame__init(f);
    f->iid = f->function_name_id = i + 1;
    f->mapping_id = v->path[i].whose + 1u;
    data.frames[data.n_frames++] = f;
    data.function_names[data.n_function_names++] =
        name_of(&a, i + 1, v->path[i].name ? v->path[i].name : "?");
    if (v->path[i].cpu)
      data.callstacks[data.n_callstacks++] = callstack_of(&a, v, i);
  }
  perfetto_put_data(w, &data);
  arena_free(&a);
}

static void put_samples(struct perfetto *w) {
  const struct story *s = w->s;
  const bool *meant = w->options->meant ? w->options->meant[w->story] : NULL;
  size_t *path = allocate(s->kernel.samples_count + 1u, sizeof *path);
  struct view *v = ask_story_view(s, meant, s->process);
  ask_story_cpu(v, s, meant, path);
  put_paths(w, v);
  for (uint32_t i = 0; i < s->kernel.samples_count; i++) {
    const struct story_sample *x = &s->kernel.samples[i];
    Perfetto__PerfSample sample = PERFETTO__PERF_SAMPLE__INIT;
    if (path[i] == SIZE_MAX)
      continue;
    sample.pid = (uint32_t)s->pid;
    sample.tid = (uint32_t)s->threads[x->thread].tid;
    sample.callstack_iid = path[i] + 1;
    sample.cpu_mode = x->kernel ? MODE_KERNEL : MODE_USER;
    perfetto_put_sample(w, &sample, x->at);
  }
  view_free(v);
  free(path);
}

void perfetto_kernel(struct perfetto *w) {
  if (w->s->kernel.samples_count)
    put_samples(w);
  put_switches(w);
}
