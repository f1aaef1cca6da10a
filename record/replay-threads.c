/* SPDX-License-Identifier: MIT */
/* What runs on which thread, and who holds its loop; see replay-state.h. */
#include "replay-state.h"

#include "read/util.h"

#include <string.h>

struct runner *replay_runner(struct replay_state *s, uint32_t block) {
  while (s->runners <= block) {
    uint32_t number = s->runners, more = number / 2 + 8;
    s->runner = reallocate(s->runner, number + more, sizeof *s->runner);
    for (s->runners += more; number < s->runners; number++)
      s->runner[number] = (struct runner){
          .thread = STORY_NONE, .slice = STORY_NONE, .turn = UINT64_MAX, .stopped = UINT64_MAX};
  }
  struct runner *t = &s->runner[block];
  if (t->thread == STORY_NONE) {
    const struct aprof_block *b = profile_block(s->r->latest, block);
    char name[sizeof b->name + 1] = "";
    if (b)
      memcpy(name, b->name, sizeof b->name);
    clean_text(name);
    t->thread = story_add_thread(s->story, b ? b->tid : 0, name);
  }
  return t;
}

static struct life *current(struct replay_state *s, const struct runner *t) {
  struct life *l = replay_life(s, t->current);
  return l && l->future != STORY_NONE && l->thread == t->thread ? l : NULL;
}

/* -- slices ------------------------------------------------------------------------ */

/* What is left out called l, and its slice goes on; or l is that, which is kept since then. */
static void held_until(struct replay_state *s, struct runner *t, const struct life *l,
                       uint64_t tick) {
  if (!t->held)
    return;
  t->held = false;
  t->stopped = tick;
  t->aside = true;
  if (t->slice != STORY_NONE && l && s->story->slices[t->slice].begin == tick)
    s->story->slices[t->slice].future = l->future;
}

static void slice_ends(struct replay_state *s, struct runner *t) {
  if (t->slice != STORY_NONE)
    s->story->slices[t->slice].end = t->stopped;
  t->slice = STORY_NONE;
}

/* The one at the bottom of the stack that this lies on. */
static uint32_t outermost(struct replay_state *s, struct life *l) {
  uint32_t future = l->future;
  for (unsigned depth = 0; depth < 1000 && l->caller; depth++) {
    struct life *below = replay_life(s, l->caller);
    if (!below || below->future == STORY_NONE || below->callee == 0)
      break;
    l = below;
    future = l->future;
  }
  return future;
}

/* A call, and the return from one, go on with the slice; what is let go and taken up again is a
   slice more, be it at the same tick. */
static void slice_goes_on(struct replay_state *s, struct runner *t, struct life *l, bool was_aside,
                          uint64_t tick) {
  held_until(s, t, l, tick);
  bool same = t->slice != STORY_NONE && t->stopped == tick && (t->aside || was_aside);
  if (t->idle)
    t->turn = tick;
  if (same)
    return;
  slice_ends(s, t);
  t->slice = story_add_slice(s->story, t->thread, outermost(s, l), tick, tick);
  s->story->slices[t->slice].turn = t->turn;
}

/* -- what runs --------------------------------------------------------------------- */

void replay_stops(struct replay_state *s, struct runner *t, uint64_t tick, bool aside) {
  (void)s;
  t->current = t->put_aside = 0;
  t->stopped = tick;
  t->aside = aside;
}

/* Something ran that is not known to have stopped: what it does since is not known. */
static void unseen_stop(struct replay_state *s, struct runner *t, uint64_t tick) {
  struct life *l = current(s, t);
  if (l) {
    replay_close(s, l, tick);
    l->thread = STORY_NONE;
    l->doubt = s->doubt - 1;
  }
  replay_stops(s, t, tick, false);
}

void replay_runs(struct replay_state *s, struct runner *t, uint32_t index, uint32_t node,
                 uint64_t tick) {
  struct life *l = replay_life(s, index);
  if (t->current && t->current != index)
    unseen_stop(s, t, tick);
  struct story_segment *g = l->segment == STORY_NONE ? NULL : &s->story->segments[l->segment];
  bool was_aside = g && g->what == STORY_ASIDE;
  if (was_aside) {
    struct life *callee = replay_life(s, l->callee);
    bool there = callee && callee->future != STORY_NONE && callee->caller == index;
    g->waker = there ? callee->future : l->above;
  } else if (g && g->what == STORY_WAITING)
    g->waker = l->woken ? l->waker : STORY_NONE;
  else if (g && g->what == STORY_QUEUED)
    g->thread = t->thread;
  else if (g && l->thread != STORY_NONE && l->thread != t->thread)
    l->doubt = s->doubt - 1; /* two threads at once */
  if (!was_aside)
    l->woken = 0; /* who is aside keeps a wake for its next wait */
  uint32_t segment = replay_open(s, l, STORY_EXEC, replay_path(s->r, node), tick);
  s->story->segments[segment].thread = t->thread;
  slice_goes_on(s, t, l, was_aside, tick);
  l->thread = t->thread;
  l->callee = 0;
  l->above = STORY_NONE;
  t->current = index;
  t->known = true;
}

void replay_rests(struct replay_state *s, struct runner *t, uint64_t tick, bool idle) {
  if (t->current)
    unseen_stop(s, t, tick);
  held_until(s, t, NULL, tick);
  slice_ends(s, t);
  if (t->idle && !idle)
    t->turn = tick;
  t->idle = idle;
  t->known = true;
}

void replay_thread(struct replay_state *s, struct runner *t, const struct stream_event *e) {
  uint32_t state = (uint32_t)(e->a[0] >> 40) & 0xff, rest = (uint32_t)(e->a[0] >> 32) & 0xff;
  if (t->current && t->current != e->future)
    unseen_stop(s, t, e->tick);
  t->lease = e->a[1];
  t->epoch = (uint32_t)e->a[0];
  t->idle = (state == APROF_THREAD_RUNNING ? rest : state) == APROF_THREAD_IDLE;
  t->known = true;
  if (!e->future) {
    held_until(s, t, NULL, e->tick);
    slice_ends(s, t);
    return;
  }
  struct life *l = replay_life(s, e->future);
  if (!l || (l->future != STORY_NONE && l->thread == t->thread && t->current == e->future))
    return; /* as was known */
  if (l->future == STORY_NONE)
    replay_meet(s, l, e->node, t->epoch, e->tick);
  replay_runs(s, t, e->future, e->node, e->tick);
  s->story->segments[l->segment].flags |= STORY_CUT_BEGIN;
}

static void was_exec(struct replay_state *s, const struct runner *t, uint32_t segment,
                     uint32_t node) {
  struct story_segment *g = &s->story->segments[segment];
  g->what = STORY_EXEC;
  g->path = replay_path(s->r, node);
  g->thread = t->thread;
  g->waker = STORY_NONE;
  g->flags &= (uint8_t)~STORY_POLLED;
}

/* The wait was none: it ran, and so did its thread. It may have been told to be over already, as
   its future, which was woken before, went to another request when it began. */
void replay_ran(struct replay_state *s, struct runner *t, uint32_t index, uint32_t node,
                uint64_t tick) {
  struct life *l = replay_life(s, index);
  const struct story_segment *all = s->story->segments;
  if (l->segment == STORY_NONE || l->waited == STORY_NONE)
    return;
  uint32_t await = all[l->waited].path;
  if (l->waited != l->segment) {
    if (all[l->segment].what != STORY_QUEUED || all[l->waited].next != l->segment)
      return;
    was_exec(s, t, l->waited, node);
  } else if (all[l->segment].what != STORY_WAITING)
    return;
  was_exec(s, t, l->segment, node);
  replay_open(s, l, STORY_WAITING, await, tick);
  if (t->slice != STORY_NONE)
    t->stopped = tick;
}

/* Its slice, and what it seemed to run, end where it told of that last. */
void replay_stolen(struct replay_state *s, struct runner *t) {
  struct life *l = current(s, t);
  if (l && l->segment != STORY_NONE) {
    struct story_segment *g = &s->story->segments[l->segment];
    replay_close(s, l, g->begin);
    l->thread = STORY_NONE;
    l->doubt = s->doubt - 1;
  }
  t->current = 0;
  t->held = false;
  t->stopped = t->slice == STORY_NONE ? 0 : s->story->slices[t->slice].begin;
  slice_ends(s, t);
}

/* -- what is left out ----------------------------------------------------------------- */

/* One for each function: who held the loop is known by that. */
static uint32_t left_out(struct replay_state *s, uint32_t node) {
  uint32_t path = s->story->paths[replay_path(s->r, node)].function;
  if (path == STORY_NONE)
    path = 0;
  if (!s->held) {
    s->held = allocate(s->story->paths_count + 1u, sizeof *s->held);
    memset(s->held, 0xff, (s->story->paths_count + 1u) * sizeof *s->held);
  }
  if (s->held[path] == STORY_NONE)
    s->held[path] = story_add_future(s->story, path, STORY_NONE, STORY_NONE, s->r->begin);
  return s->held[path];
}

static bool is_left_out(const struct replay_state *s, uint32_t future) {
  const struct story_future *f = &s->story->futures[future];
  return s->held && f->path != STORY_NONE && s->held[f->path] == future;
}

/* It goes on with the slice that it was called in, or that it called from. */
void replay_held(struct replay_state *s, struct runner *t, uint32_t node, uint64_t tick) {
  if (t->current)
    unseen_stop(s, t, tick);
  bool within = t->slice != STORY_NONE && (t->held || t->stopped == tick) &&
                (t->held || t->aside || is_left_out(s, s->story->slices[t->slice].future));
  t->put_aside = 0;
  if (t->idle)
    t->turn = tick;
  if (!within) {
    slice_ends(s, t);
    t->slice = story_add_slice(s->story, t->thread, left_out(s, node), tick, tick);
    s->story->slices[t->slice].turn = t->turn;
  }
  t->held = t->known = true;
}

void replay_lies_above(struct replay_state *s, struct runner *t, uint32_t index, uint64_t tick) {
  struct life *l = current(s, t), *below = replay_life(s, index);
  uint32_t above = t->current;
  for (unsigned depth = 0; l && l->caller && depth < 1000; depth++) {
    struct life *next = replay_life(s, l->caller);
    if (!next || next->future == STORY_NONE || next == below)
      return;
    above = l->caller;
    l = next;
  }
  if (!l || l == below)
    return;
  l->caller = index;
  below->callee = above;
  below->above = l->future;
  if (t->slice != STORY_NONE && s->story->slices[t->slice].begin == tick)
    s->story->slices[t->slice].future = below->future;
}
