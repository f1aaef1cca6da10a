/* SPDX-License-Identifier: MIT */
/* Whether a recording adds up; see balance.h. */
#include "balance.h"

#include "read/model.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* -- what the events say ---------------------------------------------------------------- */

/* A wait counts once what it was for runs. */
static bool is_open(const struct story *s, uint32_t next) {
  return next != STORY_NONE && s->segments[next].what == STORY_QUEUED &&
         s->segments[next].flags & STORY_CUT_END;
}

static void add_segment(struct balance *b, const struct story *s, const struct story_segment *g) {
  uint64_t time = g->end - g->begin;
  uint32_t function = s->paths[g->path].function;
  if (g->what == STORY_EXEC)
    b[g->path].told.exec += time;
  else if (g->what == STORY_QUEUED)
    b[function == STORY_NONE ? 0 : function].told.queued += time;
  else {
    b[g->path].told.waiting += time;
    b[g->path].told.waits += !(g->flags & (STORY_CUT_END | STORY_POLLED)) && !is_open(s, g->next);
  }
}

/* When the counters began from zero last: what the events say of the time before is in none. All
   that was open then ended with its epoch. */
static uint64_t counted_from(const struct replay *r) {
  const struct aprof_header *h = &r->latest->header;
  bool again = !r->base || r->base->header.reset_epoch != h->reset_epoch;
  return again ? h->epochs[h->reset_epoch % APROF_EPOCHS].begin_tick : 0;
}

static void add_told(struct balance *b, const struct replay *r) {
  const struct story *s = r->story;
  uint64_t from = counted_from(r);
  for (uint32_t i = 0; i < s->segments_count; i++)
    if (s->segments[i].begin >= from)
      add_segment(b, s, &s->segments[i]);
  for (uint32_t i = 0; i < s->futures_count; i++)
    if (s->futures[i].born >= from && s->futures[i].how != STORY_LIVES &&
        s->futures[i].how != STORY_MOVED)
      b[s->futures[i].path].told.ended++;
}

/* -- what the counters say ------------------------------------------------------------- */

/* Modulo 2^64, so that what an image has is taken off by adding its negative. */
static void add_leaf(struct balance_sums *s, const struct aprof_counters *c, uint32_t kind,
                     uint64_t sign) {
  if (kind == APROF_NODE_AWAIT) {
    s->waiting += sign * c->await.waiting;
    s->waits += sign * c->await.count;
  } else if (kind == APROF_NODE_FUNCTION || kind == APROF_NODE_SPAN) {
    s->exec += sign * c->function.exec;
    s->queued += sign * c->function.queued;
    if (kind == APROF_NODE_FUNCTION)
      s->ended += sign * (c->function.done + c->function.failed + c->function.cancelled);
  }
}

static void add_counters(struct balance *b, const struct replay *r, const struct profile *p,
                         uint64_t sign) {
  for (size_t i = 0; i < p->counters.count; i++) {
    const struct profile_run *run = &p->counters.run[i];
    const struct aprof_counters *c = run->elements;
    const struct aprof_block *block = profile_block(p, run->owner);
    if (!block || block->counters_epoch != p->header.reset_epoch)
      continue;
    for (uint32_t n = 0; n < run->count; n++) {
      const struct aprof_node *node = profile_node(r->latest, run->first + n);
      const struct story_path *path = &r->story->paths[replay_path(r, run->first + n)];
      if (node && path->function != STORY_NONE) /* else a span outside futures: no future's time */
        add_leaf(&b[replay_path(r, run->first + n)].counted, &c[n], node->is_await, sign);
    }
  }
}

static void add_open(struct balance *b, const struct replay *r, const struct aprof_future *f,
                     uint64_t end, uint64_t sign) {
  uint32_t path = replay_path(r, f->node);
  uint32_t function = r->story->paths[path].function;
  uint64_t due = f->wake_tick > f->last ? f->wake_tick : f->last;
  uint64_t since = end > f->last ? end - f->last : 0;
  struct balance_sums *of = &b[function == STORY_NONE ? 0 : function].counted;
  struct balance_sums *await = &b[replay_path(r, f->await)].counted;
  if (f->state == APROF_FUTURE_RUNNING)
    b[path].counted.exec += sign * since;
  else if (f->state == APROF_FUTURE_QUEUED)
    of->queued += sign * since;
  else if (f->state == APROF_FUTURE_WAITING || f->state == APROF_FUTURE_ASIDE) {
    bool woken = f->state == APROF_FUTURE_WAITING && f->wake_tick && due < end;
    await->waiting += sign * (woken ? due - f->last : since);
    of->queued += sign * (woken ? end - due : 0);
  }
}

static void add_live(struct balance *b, const struct replay *r, const struct profile *p,
                     uint64_t end, uint64_t sign) {
  for (size_t i = 0; i < p->futures.count; i++) {
    const struct aprof_future *f = p->futures.run[i].elements;
    for (uint32_t n = p->futures.run[i].count; n--; f++) {
      uint32_t epoch = model_epoch_of(&p->header, f->id);
      if (f->id && epoch >= p->header.reset_epoch && epoch <= p->header.epoch)
        add_open(b, r, f, replay_end_in(&p->header, epoch, end), sign);
    }
  }
}

struct balance *balance_new(const struct replay *r) {
  struct balance *b = allocate(r->story->paths_count + 1u, sizeof *b);
  add_told(b, r);
  add_counters(b, r, r->latest, 1);
  add_live(b, r, r->latest, r->end, 1);
  if (r->base && r->base->header.reset_epoch == r->latest->header.reset_epoch) {
    add_counters(b, r, r->base, (uint64_t)-1);
    add_live(b, r, r->base, r->begin, (uint64_t)-1);
  }
  return b;
}

bool balance_holds(const struct balance *b) {
  return !memcmp(&b->told, &b->counted, sizeof b->told);
}
