/* SPDX-License-Identifier: MIT */
/* Requests of recordings as those that traces are made of; see traces.h. */
#include "traces.h"

#include "read/filling.h"
#include "read/util.h"
#include "record/story.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_meant(const struct story_request *r) {
  return r->whole && r->over && (r->trace[0] || r->trace[1]);
}

static const char *hexadecimal(struct view *v, const uint64_t *number, size_t count) {
  char text[2 * 16 + 1] = "";
  for (size_t i = 0; i < count; i++)
    snprintf(text + 16 * i, sizeof text - 16 * i, "%016" PRIx64, number[i]);
  return arena_text(&v->arena, text);
}

static struct view_slow slow_of(struct view *v, const struct story *s,
                                const struct story_request *r, uint64_t process) {
  return (struct view_slow){
      .process = process,
      .began_at = view_time(v, moment_after(s->started_at_ns, r->begin)),
      .trace = hexadecimal(v, r->trace, 2),
      .span_id = r->span ? hexadecimal(v, &r->span, 1) : NULL,
      .parent_span_id = r->parent_span ? hexadecimal(v, &r->parent_span, 1) : NULL,
      .function = r->function,
      .begin = r->begin,
      .wall = r->end - r->begin,
      .exec = r->exec,
      .queued = r->queued,
      .waiting = r->waiting,
      .failed = r->failed,
  };
}

/* Each request is a kind of its own, as far as a view goes: who joins them by trace has the name.
 */
static void add_story(struct view *v, const struct story *s, uint64_t process) {
  v->merged[process] = (struct view_process){.pid = s->pid,
                                             .name = s->process,
                                             .command = s->command,
                                             .host = s->host,
                                             .build_id = s->build_id,
                                             .started_at = view_time(v, s->started_at_ns)};
  for (uint32_t i = 0; i < s->requests_count; i++) {
    const struct story_request *r = &s->requests[i];
    if (!is_meant(r))
      continue;
    struct view_kind *k = &v->kind[v->kinds++];
    k->kind = r->kind;
    k->labelled = strcmp(r->kind, r->function) != 0;
    k->slow = arena_get(&v->arena, k->slows = 1, sizeof *k->slow);
    *k->slow = slow_of(v, s, r, process);
  }
}

struct view *traces_recorded(struct story *const *story, size_t stories) {
  struct view *v = view_new("recordings");
  size_t room = 0;
  for (size_t i = 0; i < stories; i++)
    for (uint32_t j = 0; j < story[i]->requests_count; j++)
      room += is_meant(&story[i]->requests[j]);
  v->recorded = true;
  v->kind = arena_get(&v->arena, room, sizeof *v->kind);
  v->processes = stories;
  v->merged = arena_get(&v->arena, stories, sizeof *v->merged);
  for (size_t i = 0; i < stories; i++)
    add_story(v, story[i], i);
  return v;
}
