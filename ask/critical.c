/* SPDX-License-Identifier: MIT */
/* The critical path of a request; see critical.h. */
#include "critical.h"

#include "blame.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* A wait that is being replaced by what somebody else did: where the walk goes on behind it. */
struct replaced {
  uint64_t floor; /* of the walk around it */
  uint32_t future, segment;
};

struct critical {
  const struct story *story;
  struct blame_sums *blamed; /* NULL: not asked for yet */
  uint32_t *before;          /* by segment: the one before it, of its future */
  uint32_t *cursor;          /* by future: the last segment that the walk has not passed */
  uint8_t *is_replaced;      /* by segment */
  struct replaced *stack;
  size_t depth, stack_room;
  struct critical_piece *piece;
  size_t pieces, room;

  /* The walk. */
  const struct story_request *request;
  uint64_t at, floor;  /* goes back from here to there, */
  uint32_t future;     /* along this one */
  uint32_t jumps_left; /* to others, without a step back */
};

struct critical *critical_new(const struct story *s) {
  struct critical *c = allocate(1, sizeof *c);
  c->story = s;
  c->before = allocate((size_t)s->segments_count + 1, sizeof *c->before);
  c->cursor = allocate((size_t)s->futures_count + 1, sizeof *c->cursor);
  c->is_replaced = allocate((size_t)s->segments_count + 1, 1);
  memset(c->before, 0xff, ((size_t)s->segments_count + 1) * sizeof *c->before);
  for (uint32_t i = 0; i < s->segments_count; i++)
    if (s->segments[i].next != STORY_NONE)
      c->before[s->segments[i].next] = i;
  return c;
}

void critical_free(struct critical *c) {
  if (!c)
    return;
  blame_sums_free(c->blamed);
  free(c->before);
  free(c->cursor);
  free(c->is_replaced);
  free(c->stack);
  free(c->piece);
  free(c);
}

const struct blame_sums *critical_blamed(struct critical *c) {
  if (!c->blamed)
    c->blamed = blame_sums_new(c->story, false);
  return c->blamed;
}

static bool is_member(const struct critical *c, uint32_t future) {
  return future != STORY_NONE &&
         c->story->futures[future].request == (uint32_t)(c->request - c->story->requests);
}

/* -- pieces: from the last to the first ------------------------------------------------ */

static void add_piece(struct critical *c, struct critical_piece piece) {
  struct critical_piece *last = c->pieces ? &c->piece[c->pieces - 1] : NULL;
  c->at = piece.begin;
  c->jumps_left = c->request->futures_count + 1;
  if (piece.begin == piece.end)
    return;
  if (last && last->begin == piece.end && last->segment == piece.segment &&
      last->what == piece.what && last->path == piece.path) {
    last->begin = piece.begin;
    return;
  }
  if (c->pieces == c->room) {
    c->room = c->room ? c->room * 2 : 64;
    c->piece = reallocate(c->piece, c->room, sizeof *c->piece);
  }
  c->piece[c->pieces++] = piece;
}

/* From where the walk is back to `begin`, or its floor. */
static void add_of(struct critical *c, uint32_t segment, enum critical_what what, uint64_t begin) {
  const struct story_segment *s = &c->story->segments[segment];
  add_piece(c, (struct critical_piece){.begin = begin > c->floor ? begin : c->floor,
                                       .end = c->at,
                                       .path = s->path,
                                       .future = s->future,
                                       .thread = s->thread,
                                       .segment = segment,
                                       .what = (uint8_t)what,
                                       .tier = s->tier});
}

/* What a poller ended, and ran only then: back to when the poller returned. */
static void add_polled(struct critical *c, uint32_t segment, uint64_t ready) {
  const struct story_segment *s = &c->story->segments[segment];
  add_of(c, segment, CRITICAL_QUEUED, ready);
  if (c->pieces)
    c->piece[c->pieces - 1].thread = c->story->segments[s->next].thread;
}

/* No member that could have ended this is seen then: it is the wait's own that was to be replaced,
   or nobody's. */
static void add_unseen(struct critical *c, uint64_t begin) {
  if (c->depth) {
    add_of(c, c->stack[c->depth - 1].segment, CRITICAL_WAITING, begin);
    return;
  }
  add_piece(c, (struct critical_piece){.begin = begin > c->floor ? begin : c->floor,
                                       .end = c->at,
                                       .path = STORY_NONE,
                                       .future = STORY_NONE,
                                       .thread = STORY_NONE,
                                       .segment = STORY_NONE,
                                       .what = CRITICAL_UNSEEN});
}

/* -- the walk -------------------------------------------------------------------------- */

/* Of the futures of a request that which ran last, and until when. */
static uint32_t last_runner(struct critical *c) {
  const struct story *s = c->story;
  const struct story_request *r = c->request;
  uint32_t best = r->root;
  uint64_t latest = 0;
  for (uint32_t i = 0; i < r->futures_count; i++) {
    uint32_t future = r->futures[i], at = s->futures[future].last;
    c->cursor[future] = at;
    while (at != STORY_NONE &&
           (s->segments[at].what != STORY_EXEC || s->segments[at].begin >= r->end))
      at = c->before[at];
    if (at == STORY_NONE)
      continue;
    uint64_t end = s->segments[at].end < r->end ? s->segments[at].end : r->end;
    if (end > latest || !is_member(c, best)) {
      latest = end;
      best = future;
    }
  }
  return is_member(c, best) ? best : STORY_NONE;
}

/* The segment that the future was in just before `at`; NONE: it had not been born, to this
   request. */
static uint32_t segment_before(struct critical *c) {
  uint32_t at = c->cursor[c->future];
  while (at != STORY_NONE && c->story->segments[at].begin >= c->at)
    at = c->before[at];
  c->cursor[c->future] = at;
  return at;
}

/* Who acted before the future was there: what made it, else the root. NONE: nobody is known. */
static uint32_t predecessor(const struct critical *c) {
  uint32_t creator = c->story->futures[c->future].creator;
  return is_member(c, creator) && creator != c->future                     ? creator
         : c->request->root != c->future && is_member(c, c->request->root) ? c->request->root
                                                                           : STORY_NONE;
}

static void replace(struct critical *c, uint32_t segment, uint32_t by) {
  const struct story_segment *s = &c->story->segments[segment];
  if (c->depth == c->stack_room) {
    c->stack_room = c->stack_room ? c->stack_room * 2 : 16;
    c->stack = reallocate(c->stack, c->stack_room, sizeof *c->stack);
  }
  c->stack[c->depth++] = (struct replaced){c->floor, c->future, segment};
  c->is_replaced[segment] = 1;
  c->floor = s->begin > c->floor ? s->begin : c->floor;
  c->future = by;
}

/* One step back along the future, or to another one. */
static void step(struct critical *c) {
  uint32_t segment = segment_before(c);
  if (c->jumps_left == 0) {
    add_unseen(c, c->floor);
    return;
  }
  if (segment == STORY_NONE) {
    uint32_t other = predecessor(c);
    c->jumps_left--;
    if (other == STORY_NONE)
      add_unseen(c, c->floor);
    else
      c->future = other;
    return;
  }
  const struct story_segment *s = &c->story->segments[segment];
  if (s->end < c->at) {
    add_unseen(c, s->end);
  } else if (s->what == STORY_EXEC || s->what == STORY_QUEUED) {
    add_of(c, segment, (enum critical_what)s->what, s->begin);
  } else if (is_member(c, s->waker) && s->waker != c->future && !c->is_replaced[segment]) {
    c->jumps_left--;
    replace(c, segment, s->waker);
  } else {
    uint64_t ready = blame_ready(c->story, s);
    if (ready < c->at)
      add_polled(c, segment, ready);
    else
      add_of(c, segment, CRITICAL_WAITING, s->begin);
  }
}

/* A wait that has been replaced whole: on, before it, along who waited. */
static void leave_replaced(struct critical *c) {
  while (c->depth && c->at <= c->floor) {
    const struct replaced *r = &c->stack[--c->depth];
    c->is_replaced[r->segment] = 0;
    c->floor = r->floor;
    c->future = r->future;
  }
}

static void put_in_order(struct critical *c) {
  for (size_t i = 0, j = c->pieces; i + 1 < j; i++) {
    struct critical_piece piece = c->piece[i];
    c->piece[i] = c->piece[--j];
    c->piece[j] = piece;
  }
}

const struct critical_piece *critical_path(struct critical *c, const struct story_request *r,
                                           size_t *count) {
  c->request = r;
  c->pieces = 0;
  c->depth = 0;
  c->at = r->end;
  c->floor = r->begin;
  c->jumps_left = r->futures_count + 1;
  c->future = last_runner(c);
  while (c->at > r->begin) {
    if (c->future == STORY_NONE)
      add_unseen(c, c->floor);
    else
      step(c);
    leave_replaced(c);
  }
  put_in_order(c);
  *count = c->pieces;
  return c->piece;
}
