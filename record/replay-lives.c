/* SPDX-License-Identifier: MIT */
/* Futures, from birth to end, segment by segment; see replay-state.h. */
#include "replay-state.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* -- records ------------------------------------------------------------------------ */

static void blank(struct life *l) {
  *l = (struct life){.index = l->index,
                     .future = STORY_NONE,
                     .segment = STORY_NONE,
                     .waited = STORY_NONE,
                     .thread = STORY_NONE,
                     .waker = STORY_NONE,
                     .above = STORY_NONE,
                     .gone = STORY_NONE};
}

static void leave(struct replay_state *s, struct life *l) {
  if (l->older)
    l->older->younger = l->younger;
  if (l->younger)
    l->younger->older = l->older;
  else
    s->youngest = l->older;
}

static void clear(struct replay_state *s, struct life *l) {
  if (l->future != STORY_NONE)
    leave(s, l);
  blank(l);
}

struct life *replay_life(struct replay_state *s, uint32_t index) {
  uint32_t page = index / LIVES;
  if (!index || page >= s->pages)
    return NULL;
  if (!s->lives[page]) {
    s->lives[page] = allocate(LIVES, sizeof **s->lives);
    for (uint32_t i = 0; i < LIVES; i++) {
      s->lives[page][i].index = page * LIVES + i;
      blank(&s->lives[page][i]);
    }
  }
  return &s->lives[page][index % LIVES];
}

/* -- segments ------------------------------------------------------------------------ */

static struct story_segment *open_one(struct replay_state *s, const struct life *l) {
  return l->segment == STORY_NONE ? NULL : &s->story->segments[l->segment];
}

static void ends_at(struct story_segment *g, uint64_t tick) {
  g->end = tick > g->begin ? tick : g->begin;
}

void replay_close(struct replay_state *s, struct life *l, uint64_t tick) {
  struct story_segment *g = open_one(s, l);
  if (g)
    ends_at(g, tick);
  l->segment = STORY_NONE;
}

uint32_t replay_open(struct replay_state *s, struct life *l, enum story_what what, uint32_t path,
                     uint64_t tick) {
  struct story_segment *before = open_one(s, l);
  if (before) {
    ends_at(before, tick);
    tick = before->end;
  } else if (s->story->futures[l->future].last != STORY_NONE) {
    struct story_segment *last = &s->story->segments[s->story->futures[l->future].last];
    tick = tick > last->end ? tick : last->end;
  }
  /* Of no length, and not counted: this one takes its place. */
  bool empty = before && before->begin == tick &&
               (before->what == STORY_EXEC || before->what == STORY_QUEUED) && !before->flags;
  if (empty) {
    uint32_t next = before->next;
    *before = (struct story_segment){.begin = tick,
                                     .future = l->future,
                                     .path = path,
                                     .thread = STORY_NONE,
                                     .waker = STORY_NONE,
                                     .next = next,
                                     .what = (uint8_t)what};
  } else
    l->segment = story_add_segment(s->story, l->future, what, path, tick, tick);
  struct story_segment *g = &s->story->segments[l->segment];
  g->end = UINT64_MAX;
  g->tier = l->tier;
  if (what == STORY_WAITING)
    l->waited = l->segment;
  return l->segment;
}

/* -- birth and end ------------------------------------------------------------------- */

static void new_future(struct replay_state *s, struct life *l, uint32_t request, uint32_t creator,
                       uint64_t tick) {
  if (l->future != STORY_NONE)
    leave(s, l);
  l->stays = l->looked = 0;
  l->younger = NULL;
  l->older = s->youngest;
  if (l->older)
    l->older->younger = l;
  s->youngest = l;
  l->future = story_add_future(s->story, replay_path(s->r, l->function), request, creator, tick);
  s->story->futures[l->future].epoch = l->epoch;
}

void replay_meet(struct replay_state *s, struct life *l, uint32_t node, uint32_t epoch,
                 uint64_t tick) {
  clear(s, l);
  l->function = replay_function_node(s, node);
  l->epoch = epoch;
  l->doubt = s->doubt;
  new_future(s, l, STORY_NONE, STORY_NONE, tick);
}

/* One that nobody has seen the end of: its record is another's, or its epoch is over. */
static void lost_sight(struct replay_state *s, struct life *l, uint64_t tick) {
  uint32_t future = l->future;
  struct story_future *f = &s->story->futures[future];
  replay_close(s, l, tick);
  if (f->last != STORY_NONE)
    s->story->segments[f->last].flags |= STORY_CUT_END;
  f->over =
      tick > f->born ? tick : f->born; /* a thread may have seen late that its epoch is over */
  clear(s, l);
  l->gone = future;
}

void replay_born(struct replay_state *s, const struct stream_event *e, uint32_t epoch) {
  struct life *l = replay_life(s, e->future);
  if (!l)
    return;
  if (l->future != STORY_NONE)
    lost_sight(s, l, e->tick);
  clear(s, l);
  l->function = e->node;
  l->epoch = epoch;
  l->serial = (uint32_t)e->a[0];
  l->block = (uint16_t)(e->b[0] >> APROF_TRACE_FUTURE_BITS);
  l->doubt = s->doubt;
  l->born = e->tick >= s->r->begin;
  struct life *creator = replay_life(s, (uint32_t)(e->b[0] & APROF_TRACE_MASK(28)));
  new_future(s, l, STORY_NONE, creator ? creator->future : STORY_NONE, e->tick);
  uint32_t queued = replay_open(s, l, STORY_QUEUED, replay_path(s->r, l->function), e->tick);
  if (!l->born)
    s->story->segments[queued].flags |= STORY_CUT_BEGIN;
}

/* What it was is taken out at the end: until then it has no length. */
void replay_unborn(struct replay_state *s, struct life *l) {
  struct story_future *f = &s->story->futures[l->future];
  for (uint32_t i = f->first; i != STORY_NONE; i = s->story->segments[i].next)
    s->story->segments[i].end = s->story->segments[i].begin = f->born;
  f->over = f->born;
  f->path = STORY_NONE;
  s->any_unborn = true;
  clear(s, l);
}

void replay_named(struct replay_state *s, struct life *l, uint32_t function, uint32_t await) {
  l->function = function;
  s->story->futures[l->future].path = replay_path(s->r, function);
  struct story_segment *g = open_one(s, l);
  if (g && (g->what == STORY_EXEC || g->what == STORY_QUEUED))
    g->path = replay_path(s->r, function);
  else if (g && await)
    g->path = replay_path(s->r, await);
}

void replay_over(struct replay_state *s, struct life *l, enum story_end how, uint64_t tick) {
  struct story_segment *g = open_one(s, l);
  if (g && g->what == STORY_WAITING)
    g->waker = l->waker;
  replay_close(s, l, tick);
  story_end_future(s->story, l->future, tick, how);
  s->story->futures[l->future].whole = l->born && l->doubt == s->doubt;
  clear(s, l);
}

/* Its epoch's own end, where that is known: a thread may have noticed late. */
static uint64_t detached_at(const struct replay_state *s, const struct life *l, uint64_t tick) {
  uint64_t end = l->epoch ? replay_end_in(&s->r->latest->header, l->epoch, tick) : 0;
  return end ? end : tick;
}

/* Those that stay are of a later epoch, as all are that became known behind them; whoever comes by
   with an end of no later one need not look any further. A recording may claim to have many more
   epochs than it has: then what was looked at often is over, too. */
void replay_detach_all(struct replay_state *s, uint32_t epoch, uint64_t tick) {
  enum { LOOKS_MOST = 16 };
  for (struct life *l = s->youngest, *older; l && (!epoch || l->stays < epoch); l = older) {
    bool over = l->epoch && epoch ? l->epoch <= epoch : s->story->futures[l->future].born < tick;
    older = l->older;
    if (!over && l->looked++ < LOOKS_MOST) {
      l->stays = epoch;
      continue;
    }
    uint64_t end = detached_at(s, l, tick);
    replay_ready_unseen(s, l, end);
    lost_sight(s, l, end);
  }
}

/* -- waiting ------------------------------------------------------------------------- */

void replay_wake(struct replay_state *s, struct life *l, uint32_t waker) {
  (void)s;
  if (l->woken)
    return; /* the first one counts */
  l->woken = 1;
  l->waker = waker;
}

void replay_ready(struct replay_state *s, struct life *l, uint64_t tick) {
  struct story_segment *g = open_one(s, l);
  uint32_t waker = l->woken ? l->waker : STORY_NONE;
  uint32_t behind = g ? g->path : replay_path(s->r, l->function);
  if (g && g->what == STORY_QUEUED)
    return;
  if (g)
    g->waker = waker;
  uint32_t queued = replay_open(s, l, STORY_QUEUED, behind, tick);
  s->story->segments[queued].waker = waker;
}

bool replay_was_ready(struct replay_state *s, const struct life *l, uint64_t tick) {
  struct story_future *f = l && l->gone != STORY_NONE ? &s->story->futures[l->gone] : NULL;
  struct story_segment *g = f && f->last != STORY_NONE ? &s->story->segments[f->last] : NULL;
  if (!g || g->what != STORY_WAITING || tick >= g->end)
    return f != NULL;
  uint32_t path = g->path;
  uint64_t end = g->end, since = tick > g->begin ? tick : g->begin;
  uint8_t tier = g->tier;
  g->end = since;
  g->flags &= (uint8_t)~STORY_CUT_END;
  uint32_t queued = story_add_segment(s->story, l->gone, STORY_QUEUED, path, since, end);
  s->story->segments[queued].flags = STORY_CUT_END;
  s->story->segments[queued].tier = tier;
  return true;
}

/* Whether the record is this one's still, as far as is known. */
static bool is_of(const struct life *l, const struct aprof_future *f) {
  bool known = l->serial || l->block;
  return f->id && (!known || (l->serial == (uint32_t)f->id && l->block == (uint16_t)(f->id >> 32)));
}

void replay_ready_unseen(struct replay_state *s, struct life *l, uint64_t end) {
  const struct aprof_future *f = profile_future(s->r->latest, l->index);
  const struct story_segment *g = open_one(s, l);
  if (!g || g->what != STORY_WAITING || !f || !is_of(l, f) || f->state != APROF_FUTURE_WAITING ||
      !f->wake_tick)
    return;
  uint64_t due = f->wake_tick > f->last ? f->wake_tick : f->last;
  if (due < end)
    replay_ready(s, l, due);
}

void replay_waits(struct replay_state *s, struct life *l, enum story_what what, uint32_t node,
                  uint64_t tick) {
  replay_open(s, l, what, replay_path(s->r, node), tick);
  l->thread = STORY_NONE;
  l->callee = 0;
}

bool replay_waits_on(struct replay_state *s, struct life *l, uint32_t node) {
  struct story_segment *g = open_one(s, l);
  if (!g || g->what != STORY_ASIDE)
    return false;
  g->what = STORY_WAITING;
  g->path = replay_path(s->r, node);
  l->waited = l->segment;
  l->callee = 0;
  return true;
}

/* -- stays --------------------------------------------------------------------------- */

/* The first segment that begins at `tick` or later, or ends behind it: where the next stay begins.
   NONE: none does. */
static uint32_t first_behind(const struct story *s, const struct story_future *f, uint64_t tick,
                             uint32_t *before) {
  *before = STORY_NONE;
  for (uint32_t i = f->first; i != STORY_NONE; *before = i, i = s->segments[i].next)
    if (s->segments[i].begin >= tick || s->segments[i].end > tick)
      return i;
  return STORY_NONE;
}

/* Cuts a segment in two; the second one is behind the first. */
static uint32_t cut(struct replay_state *s, struct life *l, uint32_t number, uint64_t tick) {
  struct story *story = s->story;
  struct story_segment old = story->segments[number];
  uint32_t last = story->futures[old.future].last;
  uint32_t second = story_add_segment(story, old.future, old.what, old.path, tick, old.end);
  struct story_segment *a = &story->segments[number], *b = &story->segments[second];
  story->segments[last].next = STORY_NONE; /* out of its place at the end */
  story->futures[old.future].last = last == number ? second : last;
  *b = old;
  b->begin = tick;
  a->end = tick;
  a->next = second;
  if (a->what == STORY_WAITING || a->what == STORY_ASIDE) {
    a->flags |= STORY_POLLED;
    a->waker = STORY_NONE;
  }
  if (l->segment == number)
    l->segment = second;
  if (l->waited == number)
    l->waited = second;
  return second;
}

/* Those from `first` on are of another future. */
static void hand_over(struct story *s, uint32_t from, uint32_t to, uint32_t first,
                      uint32_t before) {
  struct story_future *a = &s->futures[from], *b = &s->futures[to];
  b->first = first;
  b->last = first == STORY_NONE ? STORY_NONE : a->last;
  for (uint32_t i = first; i != STORY_NONE; i = s->segments[i].next)
    s->segments[i].future = to;
  if (first == STORY_NONE)
    return;
  a->last = before;
  if (before == STORY_NONE)
    a->first = STORY_NONE;
  else
    s->segments[before].next = STORY_NONE;
}

void replay_move(struct replay_state *s, struct life *l, uint32_t request, uint64_t tick) {
  struct story *story = s->story;
  uint32_t old = l->future, before;
  if (story->futures[old].request == request)
    return;
  if (tick <= story->futures[old].born) {
    story->futures[old].request = request;
    if (request != STORY_NONE && story->requests[request].root == STORY_NONE)
      story->requests[request].root = old;
    return;
  }
  uint32_t first = first_behind(story, &story->futures[old], tick, &before);
  if (first != STORY_NONE && story->segments[first].begin < tick) {
    before = first;
    first = cut(s, l, first, tick);
  }
  new_future(s, l, request, story->futures[old].creator, tick);
  story->futures[l->future].path = story->futures[old].path;
  story->futures[l->future].earlier = old;
  hand_over(story, old, l->future, first, before);
  story_end_future(story, old, tick, STORY_MOVED);
  story->futures[old].later = l->future;
  story->futures[old].whole = l->born && l->doubt == s->doubt;
}

void replay_left(struct replay_state *s, struct life *l, uint64_t tick) {
  replay_close(s, l, tick);
  story_end_future(s->story, l->future, tick, STORY_MOVED);
  s->story->futures[l->future].whole = l->born && l->doubt == s->doubt;
  clear(s, l);
}

void replay_tier(struct replay_state *s, struct life *l, uint8_t tier, uint64_t tick) {
  struct story_segment *g = open_one(s, l);
  if (l->tier == tier)
    return;
  l->tier = tier;
  if (!g)
    return;
  if (tick > g->begin && g->what == STORY_EXEC) {
    cut(s, l, l->segment, tick);
    g = open_one(s, l);
  }
  g->tier = tier;
}
