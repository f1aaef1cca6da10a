/* SPDX-License-Identifier: MIT */
/* Which future is part of which request, and when those begin and end; see replay-state.h. */
#include "replay-state.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

#define ID_BITS (56u - APROF_TRACE_REQUEST_BITS)

struct part *replay_part(struct replay_state *s, uint32_t number) {
  while (s->parts <= number) {
    uint32_t at = s->parts, more = at / 2 + 64;
    s->part = reallocate(s->part, at + more, sizeof *s->part);
    for (s->parts += more; at < s->parts; at++)
      s->part[at] = (struct part){.request = STORY_NONE};
  }
  return &s->part[number];
}

/* -- names ------------------------------------------------------------------------- */

/* Of a kind's label; NULL: it has none. */
static const char *label_of(struct replay_state *s, uint32_t kind) {
  const struct aprof_kind *k = profile_kind_of(s->r->latest, kind);
  const char *text = k && k->label ? profile_string(s->r->latest, k->label) : NULL;
  if (kind == 0)
    return "(other)";
  if (!text || !*text)
    return NULL;
  char *copy = (char *)story_text(s->story, text);
  clean_text(copy);
  return copy;
}

static const char *function_of(struct replay_state *s, uint32_t node) {
  return s->story->paths[replay_path(s->r, replay_function_node(s, node))].name;
}

/* The kind's function is the root's last one: it may have been named after the request began. */
static void set_kind(struct replay_state *s, struct story_request *r, uint32_t kind) {
  const struct aprof_kind *k = profile_kind_of(s->r->latest, kind);
  const char *label = label_of(s, kind);
  if (k && k->function)
    r->function = replay_site_name(s, k->function);
  r->kind = label ? label : r->function;
}

/* -- beginning ---------------------------------------------------------------------- */

/* One that is there while its number is used again has ended unseen. */
static uint32_t new_request(struct replay_state *s, struct part *p, uint64_t id,
                            const char *function, uint64_t tick) {
  if (p->request != STORY_NONE && !s->story->requests[p->request].over) {
    struct story_request *old = &s->story->requests[p->request];
    old->end = tick > old->begin ? tick : old->begin;
    old->whole = 0;
  }
  *p = (struct part){
      .request = story_add_request(s->story, NULL, function, tick, UINT64_MAX),
      .doubt = s->doubt,
      .id = id,
  };
  struct story_request *r = &s->story->requests[p->request];
  r->number = id;
  r->over = r->whole = 0;
  return p->request;
}

/* What the image says of one that lives still: its name. */
static void describe(struct replay_state *s, struct story_request *r, uint32_t number,
                     uint64_t id) {
  const struct aprof_request *of = profile_request(s->r->latest, number);
  if (!of || (of->id & APROF_TRACE_MASK(ID_BITS)) != (id & APROF_TRACE_MASK(ID_BITS)))
    return;
  const struct aprof_future *first = of->first ? profile_future(s->r->latest, of->first) : NULL;
  bool lives = first && first->id && first->created_tick >= of->begin_tick;
  /* The future that it began with may have got its name after the request did. */
  r->function = lives ? function_of(s, first->node) : replay_site_name(s, of->function);
  r->kind = r->function;
  if (of->kind || !of->no_label)
    set_kind(s, r, of->kind);
  if (!of->kind)
    r->kind = r->function;
  r->implicit = (of->flags & APROF_REQUEST_IMPLICIT) != 0;
  memcpy(r->trace, of->trace, sizeof r->trace);
  r->span = of->span;
  r->parent_span = of->parent_span;
}

uint32_t replay_request_met(struct replay_state *s, uint32_t number, uint64_t id, uint64_t tick) {
  struct part *p = replay_part(s, number);
  id &= APROF_TRACE_MASK(ID_BITS);
  if (p->request == STORY_NONE || p->id != id) {
    new_request(s, p, id, "(other)", tick);
    describe(s, &s->story->requests[p->request], number, id);
  }
  return p->request;
}

static uint32_t number_in(uint64_t a) {
  return (uint32_t)(a & APROF_TRACE_MASK(APROF_TRACE_REQUEST_BITS));
}

void replay_request_begin(struct replay_state *s, const struct stream_event *e) {
  uint64_t a = e->a[0], flags = e->b[0] >> 20;
  struct part *p = replay_part(s, number_in(a));
  if (p->request == STORY_NONE || p->id != a >> APROF_TRACE_REQUEST_BITS ||
      s->story->requests[p->request].over)
    new_request(s, p, a >> APROF_TRACE_REQUEST_BITS, "(other)", e->tick);
  struct story_request *r = &s->story->requests[p->request];
  p->begun = e->tick >= s->whole_from && e->tick >= s->r->begin;
  r->begin = e->tick;
  r->function = r->kind = function_of(s, e->node);
  r->implicit = (flags & APROF_REQUEST_IMPLICIT) != 0;
}

void replay_join(struct replay_state *s, const struct stream_event *e) {
  struct life *l = replay_life(s, e->future);
  if (!l || l->future == STORY_NONE)
    return;
  uint64_t a = e->a[0];
  if (e->b[0] & APROF_TRACE_LEFT) {
    struct runner *t = replay_runner(s, e->block);
    if (t->current == e->future)
      replay_stops(s, t, e->tick, true); /* what is left out goes on there */
    replay_left(s, l, e->tick);
    return;
  }
  uint32_t request =
      number_in(a) ? replay_request_met(s, number_in(a), a >> APROF_TRACE_REQUEST_BITS, e->tick)
                   : STORY_NONE;
  replay_move(s, l, request, e->tick);
  if (request != STORY_NONE && e->b[0] & APROF_TRACE_ROOT)
    s->story->requests[request].root = l->future;
}

/* -- the end ------------------------------------------------------------------------ */

/* It is taken out at the end, when no future names it any more. */
static void never_was(struct replay_state *s, uint32_t request) {
  if (s->undone_room <= request) {
    uint32_t room = request + request / 2 + 64;
    s->undone = reallocate(s->undone, room, sizeof *s->undone);
    memset(s->undone + s->undone_room, 0, room - s->undone_room);
    s->undone_room = room;
  }
  s->undone[request] = s->any_undone = true;
}

void replay_request_end(struct replay_state *s, const struct stream_event *e) {
  uint64_t a = e->a[0], b = e->b[0];
  uint32_t request =
      replay_request_met(s, number_in(a), a >> APROF_TRACE_REQUEST_BITS, s->r->begin);
  struct part *p = replay_part(s, number_in(a));
  struct story_request *r = &s->story->requests[request];
  if (r->over)
    return;
  r->end = e->tick > r->begin ? e->tick : r->begin;
  r->over = 1;
  r->whole = p->begun && p->doubt == s->doubt;
  r->failed = (b >> 16 & APROF_REQUEST_FAILED) != 0;
  set_kind(s, r, (uint32_t)b & 0xffff);
  memcpy(r->trace, s->trace, sizeof r->trace);
  r->span = s->span;
  r->parent_span = s->parent_span;
  if (b & APROF_TRACE_UNDONE)
    never_was(s, request);
}
