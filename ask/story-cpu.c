/* SPDX-License-Identifier: MIT */
/* Samples beneath the futures of a story; see story-cpu.h. */
#include "story-cpu.h"

#include "read/util.h"
#include "record/native.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_PATH SIZE_MAX

/* A native function beneath a path. */
struct child {
  size_t parent, path; /* path 0: free, as that is a path of the story */
  uint32_t function;
};

struct adding {
  struct view *view;
  const struct story *story;
  struct native *native;
  struct view_path *path; /* room of its own, until all are there */
  size_t paths, room;
  struct child *child; /* a table */
  size_t children, slots;
  const struct native_frame **frame; /* of one sample, the innermost first */
  uint32_t frames, frame_room;
  size_t outside; /* path of what ran as no future did */
  bool *above;    /* by number of native function: seen above a future's own on the stack */
};

enum { KERNEL = UINT32_MAX }; /* in place of a native function's number */

/* -- paths ----------------------------------------------------------------------------- */

static size_t add_path(struct adding *a, size_t parent, const char *name, const char *place,
                       enum view_whose whose) {
  if (a->paths == a->room) {
    a->room = a->room * 2 + 64;
    a->path = reallocate(a->path, a->room, sizeof *a->path);
  }
  a->path[a->paths] = (struct view_path){
      .id = a->paths + 1,
      .parent_id = parent == NO_PATH ? 0 : parent + 1,
      .parent = parent,
      .function = UNKNOWN,
      .name = arena_text(&a->view->arena, name),
      .place = arena_text(&a->view->arena, place),
      .kind = "native",
      .whose = whose,
  };
  return a->paths++;
}

static struct child *slot_of(struct child *table, size_t slots, size_t parent, uint32_t function) {
  uint64_t hash = ((uint64_t)parent << 32 ^ function) * 0x9e3779b97f4a7c15u;
  size_t at = (size_t)(hash >> 32) & (slots - 1);
  while (table[at].path && (table[at].parent != parent || table[at].function != function))
    at = (at + 1) & (slots - 1);
  return &table[at];
}

static struct child *child_of(struct adding *a, size_t parent, uint32_t function) {
  if (2 * (a->children + 1) > a->slots) {
    size_t slots = a->slots ? 2 * a->slots : 256;
    struct child *wider = allocate(slots, sizeof *wider);
    for (size_t i = 0; i < a->slots; i++)
      if (a->child[i].path)
        *slot_of(wider, slots, a->child[i].parent, a->child[i].function) = a->child[i];
    free(a->child);
    a->child = wider;
    a->slots = slots;
  }
  return slot_of(a->child, a->slots, parent, function);
}

static size_t know(struct adding *a, struct child *slot, size_t parent, uint32_t function,
                   size_t path) {
  *slot = (struct child){parent, path, function};
  a->children++;
  return path;
}

static size_t native_path(struct adding *a, size_t parent, const struct native_frame *f) {
  static const uint8_t whose[] = {[NATIVE_PROGRAM] = VIEW_PROGRAM,
                                  [NATIVE_LIBRARY] = VIEW_LIBRARY,
                                  [NATIVE_GENERATED] = VIEW_GENERATED,
                                  [NATIVE_UNKNOWN] = VIEW_NOBODY};
  struct child *slot = child_of(a, parent, f->function);
  if (slot->path)
    return slot->path;
  char *place = f->file && f->line ? print_string("%s:%" PRIu32, f->file, f->line) : NULL;
  size_t path = add_path(a, parent, f->name, place ? place : f->file, whose[f->whose]);
  free(place);
  return know(a, slot, parent, f->function, path);
}

static size_t kernel_path(struct adding *a, size_t parent) {
  struct child *slot = child_of(a, parent, KERNEL);
  return slot->path ? slot->path
                    : know(a, slot, parent, KERNEL,
                           add_path(a, parent, "(in the kernel)", NULL, VIEW_KERNEL));
}

/* -- one sample ------------------------------------------------------------------------ */

/* A function's own name, of what a compiler or a demangler makes of it: "ns::load(int) [clone
   .part.0]" is `load`. */
static bool is_called(const char *native, const char *name) {
  size_t length = strlen(name), end = strcspn(native, "(. ");
  if (end < length || strncmp(native + end - length, name, length))
    return false;
  return end == length || native[end - length - 1] == ':';
}

/* All frames of a sample, what was inlined among them. */
static void take_frames(struct adding *a, const struct story_sample *x) {
  a->frames = 0;
  for (uint32_t i = 0; i < x->frames; i++) {
    uint32_t count;
    const struct native_frame *list = native_frames(a->native, x, i, &count);
    if (a->frames + count > a->frame_room) {
      a->frame_room = 2 * (a->frames + count);
      a->frame = reallocate(a->frame, a->frame_room, sizeof *a->frame);
    }
    for (uint32_t j = 0; j < count; j++)
      a->frame[a->frames++] = &list[j];
  }
}

/* The number of the frame that is the innermost function of the path which is among them; their
   count, where none is: it was lost to a callee that keeps no frame pointer, or nothing says that
   it was inlined. */
static uint32_t own_frame(const struct adding *a, const struct story_sample *x) {
  uint32_t path = a->story->segments[x->segment].path;
  for (; path != STORY_NONE; path = a->story->paths[path].parent) {
    const struct story_path *p = &a->story->paths[path];
    for (uint32_t i = 0; !p->is_await && i < a->frames; i++)
      if (is_called(a->frame[i]->name, p->name))
        return i;
  }
  return a->frames;
}

/* Loops, main, and the like: what other samples have above a future's own function. */
static void find_above(struct adding *a) {
  const struct story_kernel *k = &a->story->kernel;
  for (uint32_t i = 0; i < k->samples_count; i++)
    take_frames(a, &k->samples[i]); /* all have numbers then */
  a->above = allocate(native_functions(a->native) + 1u, sizeof *a->above);
  for (uint32_t i = 0; i < k->samples_count; i++) {
    const struct story_sample *x = &k->samples[i];
    if (x->segment == STORY_NONE)
      continue;
    take_frames(a, x);
    for (uint32_t at = own_frame(a, x) + 1; at < a->frames; at++)
      a->above[a->frame[at]->function] = true;
  }
}

/* How many frames lie beneath the future's own function. */
static uint32_t beneath(const struct adding *a, const struct story_sample *x) {
  uint32_t frames = own_frame(a, x);
  if (frames == a->frames)
    while (frames > 1 && a->above[a->frame[frames - 1]->function])
      frames--;
  return frames;
}

static bool is_meant(const struct story *s, const struct story_sample *x, const bool *meant) {
  uint32_t request =
      x->segment == STORY_NONE ? STORY_NONE : s->futures[s->segments[x->segment].future].request;
  return !meant || (request != STORY_NONE && meant[request] && x->at <= s->requests[request].end);
}

/* Its path. */
static size_t add_sample(struct adding *a, const struct story_sample *x) {
  struct view_sampled *said = &a->view->sampled;
  bool outside = x->segment == STORY_NONE;
  uint32_t of = outside ? STORY_NONE : a->story->segments[x->segment].path;
  size_t path = of;
  if (outside) {
    if (a->outside == NO_PATH)
      a->outside = add_path(a, NO_PATH, "(no future)", NULL, VIEW_PROGRAM);
    path = a->outside;
  }
  take_frames(a, x);
  for (uint32_t i = outside ? a->frames : beneath(a, x); i-- > 0;)
    path = native_path(a, path, a->frame[i]);
  if (x->kernel)
    path = kernel_path(a, path);
  a->path[path].cpu += a->story->kernel.sample_ns;
  said->samples++;
  said->outside += outside;
  said->frames += a->frames;
  for (uint32_t i = 0; i < a->frames; i++)
    said->unknown += !a->frame[i]->known;
  return path;
}

bool ask_has_samples(const struct story *s) {
  if (s->kernel.sample_ns)
    return true;
  complain("the recording of %s has no samples; `aprof record --cpu' takes some", s->process);
  return false;
}

void ask_story_cpu(struct view *v, const struct story *s, const bool *meant, size_t *path) {
  struct adding a = {.view = v, .story = s, .paths = v->paths, .outside = NO_PATH};
  const struct story_kernel *k = &s->kernel;
  if (!k->sample_ns)
    return;
  v->sampled = (struct view_sampled){.if_hit = k->if_hit,
                                     .each = k->sample_ns,
                                     .lost = k->lost,
                                     .user_only = k->user_only,
                                     .throttled = k->throttled};
  a.room = v->paths + 64;
  a.path = allocate(a.room, sizeof *a.path);
  memcpy(a.path, v->path, v->paths * sizeof *a.path);
  a.native = native_new(s);
  find_above(&a);
  for (uint32_t i = 0; i < k->samples_count; i++) {
    bool is = is_meant(s, &k->samples[i], meant);
    size_t to = is ? add_sample(&a, &k->samples[i]) : NO_PATH;
    if (path)
      path[i] = to;
  }
  native_free(a.native);
  v->path = arena_get(&v->arena, a.paths + 1, sizeof *v->path);
  memcpy(v->path, a.path, a.paths * sizeof *v->path);
  v->paths = a.paths;
  free(a.above);
  free(a.frame);
  free(a.path);
  free(a.child);
}
