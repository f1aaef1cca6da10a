/* SPDX-License-Identifier: MIT */
/* Whether a recording adds up; see balance.h. */
#include "balance.h"

#include "read/model.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* -- what the events say ---------------------------------------------------------------- */

/* What follows it, also where its future has gone to another request. */
static const struct story_segment *behind(const struct story *s, const struct story_segment *g) {
  uint32_t next = g->next;
  for (uint32_t f = g->future; next == STORY_NONE && f != STORY_NONE;) {
    f = s->futures[f].later;
    next = f == STORY_NONE ? STORY_NONE : s->futures[f].first;
  }
  return next == STORY_NONE ? NULL : &s->segments[next];
}

/* A wait counts once what it was for runs. */
static bool is_open(const struct story *s, const struct story_segment *g) {
  while ((g = behind(s, g)) != NULL && g->what == STORY_QUEUED)
    if (g->flags & STORY_CUT_END)
      return true;
  return false;
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
    b[g->path].told.waits += !(g->flags & (STORY_CUT_END | STORY_POLLED)) && !is_open(s, g);
  }
}

/* Whether it is of before the counters began from zero last: what is told of it is in none. */
static bool is_of_before(const struct replay *r, uint32_t future) {
  uint32_t epoch = future == STORY_NONE ? 0 : r->story->futures[future].epoch;
  return epoch && epoch < r->latest->header.reset_epoch;
}

static void add_told(struct balance *b, const struct replay *r) {
  const struct story *s = r->story;
  for (uint32_t i = 0; i < s->segments_count; i++)
    if (!is_of_before(r, s->segments[i].future))
      add_segment(b, s, &s->segments[i]);
  for (uint32_t i = 0; i < s->futures_count; i++)
    if (!is_of_before(r, i) && s->futures[i].how != STORY_LIVES && s->futures[i].how != STORY_MOVED)
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

/* What futures have open: of those of epochs up to that. */
static void add_live(struct balance *b, const struct replay *r, const struct profile *p,
                     uint64_t end, uint32_t last, uint64_t sign) {
  for (size_t i = 0; i < p->futures.count; i++) {
    const struct aprof_future *f = p->futures.run[i].elements;
    for (uint32_t n = p->futures.run[i].count; n--; f++) {
      uint32_t epoch = model_epoch_of(&p->header, f->id);
      if (f->id && epoch >= p->header.reset_epoch && epoch <= last)
        add_open(b, r, f, replay_end_in(&p->header, epoch, end), sign);
    }
  }
}

struct balance *balance_new(const struct replay *r) {
  struct balance *b = allocate(r->story->paths_count + 1u, sizeof *b);
  add_told(b, r);
  add_counters(b, r, r->latest, 1);
  add_live(b, r, r->latest, r->end, r->latest->header.epoch, 1);
  if (r->base && r->base->header.reset_epoch == r->latest->header.reset_epoch) {
    add_counters(b, r, r->base, (uint64_t)-1);
    /* What was going on then is told since it began; what had ended unseen is in the other image,
       or is counted by now. */
    add_live(b, r, r->base, r->begin, r->base->header.epoch - 1, (uint64_t)-1);
  }
  return b;
}

bool balance_holds(const struct balance *b) {
  return !memcmp(&b->told, &b->counted, sizeof b->told);
}
