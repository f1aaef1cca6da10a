/* SPDX-License-Identifier: MIT */
/* What was going on when the recording began, of its image; see replay-state.h. */
#include "replay-state.h"

#include "read/model.h"

static bool is_alive(const struct replay_state *s, const struct aprof_future *f) {
  const struct aprof_header *h = &s->r->base->header;
  /* One whose create bracket is open is told of when that closes. */
  return f->id && model_epoch_of(h, f->id) == h->epoch && f->state != APROF_FUTURE_FREE &&
         f->state != APROF_FUTURE_TENTATIVE && f->state < APROF_FUTURE_ENDING;
}

static uint32_t index_of(const struct profile *p, const struct aprof_future *f) {
  return (uint32_t)((size_t)((const unsigned char *)f - p->data) / sizeof *f);
}

/* Of a recording of some requests only their parts are. */
static bool is_kept(const struct replay_state *s, const struct aprof_future *f) {
  const struct aprof_request *r = profile_request_of(s->r->base, f);
  return !s->story->shared ||
         (r && r->id && r->kept == aprof_trace_mark(s->r->base->header.traces));
}

/* What it does, in ticks since when: what is before the recording is cut off at the end, and until
   then a wait that was none is found out with all its length. It holds its loop, and is known,
   since `tick`. */
static void begin_segment(struct replay_state *s, struct life *l, const struct aprof_future *f,
                          uint64_t tick) {
  uint64_t since = f->last < tick ? f->last : tick;
  if (f->state == APROF_FUTURE_RUNNING) {
    replay_runs(s, replay_runner(s, f->lease & 0xffff), l->index, f->node, tick);
    s->story->segments[l->segment].begin = since;
  } else if (f->state == APROF_FUTURE_QUEUED)
    replay_open(s, l, STORY_QUEUED, replay_path(s->r, l->function), since);
  else {
    bool aside = f->state == APROF_FUTURE_ASIDE;
    replay_open(s, l, aside ? STORY_ASIDE : STORY_WAITING, replay_path(s->r, f->await), since);
  }
  s->story->segments[l->segment].flags |= STORY_CUT_BEGIN;
}

static void begin_future(struct replay_state *s, const struct aprof_future *f) {
  uint32_t index = index_of(s->r->base, f);
  struct life *l = replay_life(s, index);
  uint64_t tick = s->r->begin;
  if (!l || !is_alive(s, f) || !is_kept(s, f))
    return;
  replay_meet(s, l, f->node, model_epoch_of(&s->r->base->header, f->id), tick);
  const struct aprof_request *r = profile_request_of(s->r->base, f);
  const struct aprof_share *share = profile_share_of(s->r->base, f);
  l->tier = share && share->tier < STORY_TIERS ? share->tier : 0;
  if (r && r->id)
    s->story->futures[l->future].request =
        replay_request_met(s, profile_request_number(s->r->base, f), r->id, tick);
  l->caller = f->caller;
  l->serial = (uint32_t)f->id;
  l->block = (uint16_t)(f->id >> 32);
  begin_segment(s, l, f, tick);
}

/* A callee is known by its caller, once all are there. */
static void link_callers(struct replay_state *s) {
  for (uint32_t page = 0; page < s->pages; page++)
    for (uint32_t i = 0; s->lives[page] && i < LIVES; i++) {
      struct life *l = &s->lives[page][i], *below = replay_life(s, l->caller);
      if (l->future == STORY_NONE || !below || below->future == STORY_NONE)
        continue;
      below->callee = page * LIVES + i;
      below->above = l->future;
    }
}

void replay_from_base(struct replay_state *s) {
  const struct profile *p = s->r->base;
  for (size_t i = 0; p && i < p->futures.count; i++) {
    const struct aprof_future *f = p->futures.run[i].elements;
    for (uint32_t n = p->futures.run[i].count; n--; f++)
      begin_future(s, f);
  }
  link_callers(s);
  for (size_t i = 0; p && i < p->blocks.count; i++) {
    const struct aprof_block *b = p->blocks.run[i].elements;
    if (!b->leases || p->blocks.run[i].first >= 1u << 20)
      continue;
    struct runner *t = replay_runner(s, p->blocks.run[i].first);
    t->idle = b->state == APROF_THREAD_IDLE;
    t->epoch = b->epoch;
  }
}
