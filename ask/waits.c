/* SPDX-License-Identifier: MIT */
/* The awaits where time was really spent; see ask.h. */
#include "ask.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* A wait for a child's call says where it was asked for; the child's own awaits
   say what it waited for. Only those are ends. */
bool ask_waits_outside(const struct view_path *path) {
  return path->is_await && view_is_outside(path->kind);
}

bool ask_is_library(const struct view_function *f) {
  return f->file ? !strncmp(f->file, "/usr/", 5) : !f->instrumented;
}

/* Root first. Deep paths keep their last steps: the others say little. */
static char *path_text(const struct view *v, const struct view_path *path) {
  enum { STEPS = 12 };
  const char *step[STEPS];
  size_t steps = 0, at = path->parent;
  for (; at != SIZE_MAX && steps < STEPS; at = v->path[at].parent)
    step[steps++] = v->path[at].name;
  char *text = print_string("%s", at != SIZE_MAX ? "... > " : "");
  while (steps--) {
    char *longer = print_string("%s%s > ", text, step[steps]);
    free(text);
    text = longer;
  }
  const char *place = path->place;
  bool plain = place && !strcmp(path->kind, "return"); /* its name is the function's */
  char *whole = print_string("%s%s%s%s", text, place ? place : "", place && !plain ? " " : "",
                             plain ? "" : path->name);
  free(text);
  return whole;
}

static int by_waiting(const void *a, const void *b) {
  const struct wait *x = a, *y = b;
  if (x->waiting != y->waiting)
    return x->waiting > y->waiting ? -1 : 1;
  return strcmp(x->path, y->path);
}

/* That of all waits of this function there, for paths have no histogram each; of under a
   hundred the longest, which paths know. UNKNOWN where the others' says nothing of these. */
static uint64_t p99_of(const struct view_path *path) {
  const struct view_await *await = path->await;
  if (!await || !await->waits.count)
    return UNKNOWN;
  if (path->count == await->count)
    return await->waits.p99;
  if (path->count < 100 && path->max != UNKNOWN)
    return path->max;
  uint64_t p99 = await->waits.p99 < path->max ? await->waits.p99 : path->max;
  return path->count && path->ended / path->count <= p99 ? p99 : UNKNOWN;
}

struct wait *ask_waits(const struct view *v, bool background, size_t *count) {
  struct wait *waits = allocate(v->paths, sizeof *waits);
  *count = 0;
  for (size_t i = 0; i < v->paths; i++) {
    const struct view_path *path = &v->path[i];
    if (!ask_waits_outside(path) || path->background != background ||
        (!path->waiting && !path->count))
      continue;
    waits[(*count)++] = (struct wait){
        .path = path_text(v, path),
        .at = path,
        .count = path->count,
        .waiting = path->waiting,
        .mean = path->count ? path->ended / path->count : UNKNOWN,
        .max = path->max,
        .p99 = p99_of(path),
    };
  }
  if (*count)
    qsort(waits, *count, sizeof *waits, by_waiting);
  return waits;
}

void ask_waits_free(struct wait *waits, size_t count) {
  for (size_t i = 0; i < count; i++)
    free(waits[i].path);
  free(waits);
}

uint64_t ask_per_call(const struct view *v, const struct view_function *f, uint64_t sum) {
  uint64_t lived = f->created;
  if (v->is_interval && f->live_before != UNKNOWN)
    lived += f->live_before;
  return lived ? sum / lived : UNKNOWN;
}
