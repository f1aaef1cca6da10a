/* SPDX-License-Identifier: MIT */
/* Plays the events of a recording; see replay-state.h. */
#include "replay.h"

#include "read/util.h"
#include "replay-state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- one event ---------------------------------------------------------------------- */

static bool is_known(const struct life *l) {
  return l && l->future != STORY_NONE;
}

/* Of two events of one tick the one comes first that the other needs: a future runs on one thread
   once it has stopped on the other, is ready once it waits, and does nothing before its birth; an
   epoch ends behind all that was in it. */
static bool can_be_next(void *context, const struct stream_event *e) {
  struct replay_state *s = context;
  if (e->kind == APROF_TRACE_EPOCH)
    return false;
  if (e->kind < APROF_TRACE_BORN || e->kind > APROF_TRACE_NODE)
    return true;
  const struct life *l = replay_life(s, e->future);
  if (e->kind == APROF_TRACE_BORN)
    return !is_known(l);
  if (!is_known(l))
    return false;
  if (e->kind == APROF_TRACE_READY)
    return l->segment != STORY_NONE && s->story->segments[l->segment].what == STORY_WAITING;
  const struct runner *t = replay_runner(s, e->block);
  bool elsewhere = l->thread != STORY_NONE && l->thread != t->thread;
  return e->kind == APROF_TRACE_WAKE || !elsewhere;
}

/* Something of a future that was born before, or of which events are missing. */
static struct life *met(struct replay_state *s, const struct stream_event *e) {
  struct life *l = replay_life(s, e->future);
  if (l && l->future == STORY_NONE && e->node)
    replay_meet(s, l, e->node, replay_runner(s, e->block)->epoch, e->tick);
  return is_known(l) ? l : NULL;
}

/* It stops running, if it did here, and waits. */
static void waits(struct replay_state *s, struct runner *t, struct life *l,
                  const struct stream_event *e) {
  bool aside = e->kind == APROF_TRACE_ASIDE;
  if (e->kind == APROF_TRACE_AGAIN && l->waited != STORY_NONE)
    s->story->segments[l->waited].flags |= STORY_POLLED;
  bool here = t->current == e->future;
  if (e->kind == APROF_TRACE_WAITING && !here && replay_waits_on(s, l, e->node))
    return;
  if (aside && !here && l->thread == STORY_NONE)
    replay_lies_above(s, t, e->future, e->tick);
  replay_waits(s, l, aside ? STORY_ASIDE : STORY_WAITING, e->node, e->tick);
  if (!here)
    return;
  replay_stops(s, t, e->tick, aside);
  t->put_aside = aside ? e->future : 0;
}

/* What was put aside by the event before lies beneath it. */
static void runs(struct replay_state *s, struct runner *t, struct life *l,
                 const struct stream_event *e) {
  struct life *below = t->put_aside && t->stopped == e->tick ? replay_life(s, t->put_aside) : NULL;
  if (is_known(below) && below != l && !below->callee) {
    below->callee = e->future;
    below->above = l->future;
    l->caller = t->put_aside;
  }
  t->put_aside = 0;
  replay_runs(s, t, e->future, e->node, e->tick);
}

static void over(struct replay_state *s, struct runner *t, struct life *l,
                 const struct stream_event *e) {
  static const enum story_end how[] = {STORY_DONE, STORY_FAILED, STORY_CANCELLED};
  bool here = t->current == e->future;
  replay_over(s, l, how[e->kind - APROF_TRACE_DONE], e->tick);
  if (here)
    replay_stops(s, t, e->tick, false);
}

static void node_changes(struct replay_state *s, struct runner *t, struct life *l,
                         const struct stream_event *e) {
  if (l->thread != t->thread || t->current != e->future)
    return;
  uint32_t segment = replay_open(s, l, STORY_EXEC, replay_path(s->r, e->node), e->tick);
  s->story->segments[segment].thread = t->thread;
}

static void of_future(struct replay_state *s, struct runner *t, const struct stream_event *e) {
  if (e->kind == APROF_TRACE_READY && replay_was_ready(s, replay_life(s, e->future), e->tick))
    return;
  struct life *l = met(s, e);
  if (!l)
    return;
  switch (e->kind) {
  case APROF_TRACE_UNBORN:
    replay_unborn(s, l);
    break;
  case APROF_TRACE_NAMED:
    replay_named(s, l, e->node, (uint32_t)e->b[0]);
    break;
  case APROF_TRACE_DONE:
  case APROF_TRACE_FAILED:
  case APROF_TRACE_CANCELLED:
    over(s, t, l, e);
    break;
  case APROF_TRACE_READY:
    replay_ready(s, l, e->tick);
    break;
  case APROF_TRACE_WAKE: {
    const struct life *waker = replay_life(s, t->current);
    replay_wake(s, l, is_known(waker) ? waker->future : STORY_NONE);
    break;
  }
  case APROF_TRACE_RUNNING:
  case APROF_TRACE_POLLED:
    runs(s, t, l, e);
    break;
  case APROF_TRACE_WAITING:
  case APROF_TRACE_AGAIN:
  case APROF_TRACE_ASIDE:
    waits(s, t, l, e);
    break;
  case APROF_TRACE_RAN:
    replay_ran(s, t, e->future, e->node, e->tick);
    break;
  case APROF_TRACE_NODE:
    node_changes(s, t, l, e);
    break;
  default:
    break;
  }
}

static void play(struct replay_state *s, const struct stream_event *e) {
  struct runner *t = replay_runner(s, e->block);
  struct life *l;
  switch (e->kind) {
  case APROF_TRACE_THREAD:
    replay_thread(s, t, e);
    break;
  case APROF_TRACE_GONE:
  case APROF_TRACE_OTHER:
  case APROF_TRACE_IDLE:
    replay_rests(s, t, e->tick, e->kind == APROF_TRACE_IDLE);
    break;
  case APROF_TRACE_EPOCH:
    replay_rests(s, t, e->tick, t->idle);
    replay_detach_all(s, t->epoch, e->now);
    break;
  case APROF_TRACE_GAP:
    break; /* counted with what is missing */
  case APROF_TRACE_STOLEN:
    replay_stolen(s, t);
    break;
  case APROF_TRACE_HELD:
    replay_held(s, t, e->node, e->tick);
    break;
  case APROF_TRACE_BORN:
    replay_born(s, e, t->epoch);
    break;
  case APROF_TRACE_JOIN:
    replay_join(s, e);
    break;
  case APROF_TRACE_REQUEST_BEGIN:
    replay_request_begin(s, e);
    break;
  case APROF_TRACE_TOKEN: {
    uint64_t ab[4] = {e->a[0], e->b[0], e->a[1], e->b[1]}, parent[2] = {e->a[2], e->b[2]};
    aprof_trace_token_read(ab, s->trace, &s->span);
    s->parent_span = aprof_trace_parent_read(parent);
    return;
  }
  case APROF_TRACE_REQUEST_END:
    replay_request_end(s, e);
    break;
  case APROF_TRACE_TIER:
    l = replay_life(s, e->future);
    if (is_known(l))
      replay_tier(s, l, e->node < STORY_TIERS ? (uint8_t)e->node : 0, e->tick);
    break;
  default:
    of_future(s, t, e);
    break;
  }
  s->trace[0] = s->trace[1] = s->span = s->parent_span = 0;
}

/* What a thread did untraced before its first event here counts from the image on only: the trace
   may have been off for long before. */
static uint64_t untraced(const struct replay_state *s, const struct runner *t,
                         const struct stream_event *e) {
  const struct aprof_block *b = s->r->base ? profile_block(s->r->base, e->block) : NULL;
  if (e->kind == APROF_TRACE_GAP)
    return t->told || !s->r->base ? e->a[0] : 0;
  if (e->kind != APROF_TRACE_THREAD || t->told || !b)
    return 0;
  uint64_t until = (b->sequence + 1) / 2;
  return e->b[1] > until ? e->b[1] - until : 0;
}

/* Events are missing: what their thread did, and what it did to futures, is not known. Where
   recording was stopped meanwhile they are not lost. */
static void play_loss(struct replay_state *s, const struct stream_event *e) {
  struct runner *t = replay_runner(s, e->block);
  uint64_t off = untraced(s, t, e);
  bool stopped = off && replay_stood_still(s, t->told ? t->last : s->r->begin, e->now);
  uint64_t lost = e->lost + (stopped ? 0 : off);
  if (e->kind != APROF_TRACE_GAP)
    t->told = true;
  if (!lost && !off)
    return;
  s->doubt++;
  s->story->stopped_events += stopped ? off : 0;
  s->story->lost += lost;
  s->story->threads[t->thread].lost += lost;
  replay_rests(s, t, t->last, t->idle);
}

/* -- whose it is --------------------------------------------------------------------- */

static uint32_t future_of(struct replay_state *s, const struct stream_event *e) {
  const struct life *l = e->kind >= APROF_TRACE_BORN ? replay_life(s, e->future) : NULL;
  return l ? l->future : STORY_NONE;
}

static bool is_of_request(uint32_t kind) {
  return kind == APROF_TRACE_REQUEST_BEGIN || kind == APROF_TRACE_REQUEST_END;
}

static struct replay_list *list_of(struct replay_marks *m, uint32_t block) {
  if (m->blocks <= block) {
    uint32_t blocks = block + block / 2 + 8;
    m->block = reallocate(m->block, blocks, sizeof *m->block);
    memset(m->block + m->blocks, 0, (blocks - m->blocks) * sizeof *m->block);
    m->blocks = blocks;
  }
  return &m->block[block];
}

/* Behind it; `before`: what its future was. */
static void mark(struct replay_state *s, const struct stream_event *e, uint32_t before) {
  struct replay_list *to = list_of(s->marks, e->block);
  struct replay_mark m = {e->number, STORY_NONE, STORY_NONE, STORY_NONE};
  bool new = e->kind == APROF_TRACE_BORN || e->kind == APROF_TRACE_JOIN;
  if (is_of_request(e->kind))
    m.request =
        replay_part(s, (uint32_t)(e->a[0] & APROF_TRACE_MASK(APROF_TRACE_REQUEST_BITS)))->request;
  else if (e->kind != APROF_TRACE_TOKEN && e->kind != APROF_TRACE_HELD) {
    uint32_t after = future_of(s, e);
    m.future = (new &&after != STORY_NONE) || before == STORY_NONE ? after : before;
    m.from = e->kind == APROF_TRACE_JOIN ? before : STORY_NONE;
  }
  if (to->count == to->room) {
    to->room += to->room / 2 + 1024;
    to->mark = reallocate(to->mark, to->room, sizeof m);
  }
  to->mark[to->count++] = m;
}

/* -- all of them -------------------------------------------------------------------- */

static void play_all(struct replay_state *s, struct trace *trace) {
  struct streams *streams = streams_new(trace, s->r->base, s->r->latest, s->r->begin, s->r->end);
  struct stream_event e;
  s->whole_from = streams_whole_from(streams);
  while (streams_next(streams, &e, can_be_next, s)) {
    play_loss(s, &e);
    uint32_t before = s->marks ? future_of(s, &e) : STORY_NONE;
    play(s, &e);
    if (s->marks && e.kind != APROF_TRACE_NONE)
      mark(s, &e, before);
    struct runner *t = replay_runner(s, e.block);
    t->last = e.now;
    s->story->threads[t->thread].events++;
  }
  s->story->events = streams_events(streams);
  streams_free(streams);
}

/* The tick that ends it: said there, else the latest of the last image and of all events. */
static uint64_t end_of(const struct trace *t) {
  uint64_t end = t->end.magic ? t->end.first : t->last.magic ? t->last.first : 0;
  for (uint32_t i = 0; !t->end.magic && i < t->frames; i++)
    if (t->frame[i].head.type == TRACE_EVENTS && t->frame[i].head.last > end)
      end = t->frame[i].head.last;
  return end > t->header.begin_tick ? end : t->header.begin_tick;
}

static void describe(struct story *s, const struct replay *r, const struct trace *t) {
  const struct aprof_header *h = &r->latest->header;
  char build_id[2 * sizeof h->build_id + 1];
  for (uint32_t i = 0; i < h->build_id_length; i++)
    snprintf(build_id + 2 * i, 3, "%02x", h->build_id[i]);
  s->process = story_text(s, h->name);
  s->command = story_text(s, h->command);
  s->host = story_text(s, h->host);
  s->build_id = h->build_id_length ? story_text(s, build_id) : NULL;
  s->pid = t->header.pid;
  s->started_at_ns = t->header.begin_ns;
  s->clock_source = t->header.clock_source;
  s->tick_rate = t->header.mult;
  s->truncated = t->truncated;
  for (uint32_t i = 1; i < STORY_TIERS; i++) {
    const char *name = profile_tier_name(r->latest, i);
    char *copy = (char *)story_text(s, name && *name ? name : NULL);
    if (copy)
      clean_text(copy);
    s->tiers[i] = copy;
  }
}

struct replay *replay_new(struct trace *t, struct trace_error *why) {
  return replay_marked(t, why, NULL);
}

struct replay *replay_marked(struct trace *t, struct trace_error *why, struct replay_marks *m) {
  struct replay *r = allocate(1, sizeof *r);
  r->begin = t->header.begin_tick;
  r->end = end_of(t);
  r->mult = t->header.mult;
  r->base = t->base.magic ? trace_image(t, false, why) : NULL;
  r->latest = !t->base.magic || r->base ? trace_image(t, true, why) : NULL;
  if (!r->latest) {
    replay_free(r);
    return NULL;
  }
  r->story = story_new();
  struct replay_state s = {.r = r, .story = r->story, .marks = m};
  s.names = names_new(r->latest, 0);
  s.pages = (uint32_t)(r->latest->size / sizeof(struct aprof_future) / LIVES) + 1;
  s.lives = allocate(s.pages, sizeof *s.lives);
  describe(r->story, r, t);
  replay_make_paths(&s);
  replay_shares(&s, t);
  replay_from_base(&s);
  play_all(&s, t);
  replay_hits(&s, t);
  if (m)
    m->played(m, r->story, s.undone, s.undone_room, r->mult);
  replay_close_all(&s);
  return r;
}

void replay_free(struct replay *r) {
  if (!r)
    return;
  story_free(r->story);
  profile_free(r->base);
  profile_free(r->latest);
  free(r->path_of);
  free(r);
}
