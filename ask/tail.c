/* SPDX-License-Identifier: MIT */
/* What differs inside the slowest; see tail.h. */
#include "tail.h"

#include "blame.h"
#include "read/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- rows ------------------------------------------------------------------------------ */

enum { NONES = 2, OWN_ROWS = NONES + 1 }; /* of no path: the loop, never, unseen */

struct sums {
  const struct story *story;
  struct tail *tail;
  const struct blame_sums *blamed;
  uint32_t *row_of; /* by what and path, then those of no path; STORY_NONE: none yet */
  uint64_t *last;   /* by row: the request that was counted last */
  size_t room;
  uint64_t request;
  enum tail_side side;
};

static struct tail_row *row_at(struct sums *s, size_t place, struct tail_row row) {
  struct tail *t = s->tail;
  if (s->row_of[place] == STORY_NONE) {
    if (t->rows == s->room) {
      s->room = s->room ? s->room * 2 : 32;
      t->row = reallocate(t->row, s->room, sizeof *t->row);
      s->last = reallocate(s->last, s->room, sizeof *s->last);
    }
    s->last[t->rows] = 0;
    t->row[t->rows] = row;
    s->row_of[place] = (uint32_t)t->rows++;
  }
  return &t->row[s->row_of[place]];
}

/* Without a path: by `none`, of which 0 is what was not seen. */
static void add(struct sums *s, enum critical_what what, uint32_t path, int none, uint64_t time,
                uint64_t times) {
  size_t paths = s->story->paths_count;
  size_t place = path != STORY_NONE ? what * paths + path : CRITICAL_WHATS * paths + (size_t)-none;
  struct tail_row *row =
      row_at(s, place, (struct tail_row){.what = what, .path = path, .none = none});
  uint64_t *last = &s->last[row - s->tail->row];
  row->time[s->side] += time;
  row->times[s->side] += times;
  row->requests[s->side] += *last != s->request;
  *last = s->request;
}

static void add_queued(const struct blame_part *part, void *context) {
  struct sums *s = context;
  uint32_t path = STORY_NONE;
  if (part->slice)
    path = blame_function(s->story, s->blamed, part);
  add(s, CRITICAL_QUEUED, path, part->slice ? 0 : part->none, part->time,
      part->slice ? part->count : 1);
}

static void add_piece(struct sums *s, const struct critical_piece *p) {
  if (p->what == CRITICAL_QUEUED)
    blame_stretch(s->story, s->blamed, p->thread, p->begin, p->end, add_queued, s);
  else
    add(s, (enum critical_what)p->what, p->path, 0, p->end - p->begin, 1);
}

static void add_request(struct sums *s, struct critical *c, const struct story_request *r) {
  size_t pieces;
  const struct critical_piece *piece = critical_path(c, r, &pieces);
  s->request++;
  s->tail->count[s->side]++;
  s->tail->wall[s->side] += slowest_wall(r);
  for (size_t i = 0; i < pieces; i++)
    add_piece(s, &piece[i]);
}

/* -- the cause ------------------------------------------------------------------------- */

static double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

/* Per request of the side. */
static double each(const struct tail *t, const uint64_t *number, enum tail_side side) {
  return ratio((double)number[side], (double)t->count[side]);
}

/* Which factor of shares, times and length makes most of the difference. */
static enum tail_how how_it_differs(const struct tail *t, const struct tail_row *row) {
  double had = each(t, row->requests, TAIL_REST), has = each(t, row->requests, TAIL_SLOW);
  double did = ratio((double)row->times[TAIL_REST], (double)row->requests[TAIL_REST]);
  double does = ratio((double)row->times[TAIL_SLOW], (double)row->requests[TAIL_SLOW]);
  double was = ratio((double)row->time[TAIL_REST], (double)row->times[TAIL_REST]);
  double is = ratio((double)row->time[TAIL_SLOW], (double)row->times[TAIL_SLOW]);
  if (!t->count[TAIL_REST])
    return TAIL_LONGER;
  if (!row->requests[TAIL_REST])
    return TAIL_ONLY;
  double share = has / had, times = does / did, length = ratio(is, was);
  return share > times && share > length ? TAIL_ONLY : times > length ? TAIL_OFTENER : TAIL_LONGER;
}

/* The deepest function beneath which lies most of the difference. */
static uint32_t most_beneath(const struct sums *s, double whole) {
  const struct story *story = s->story;
  double *more = allocate((size_t)story->paths_count + 1, sizeof *more);
  uint32_t deepest = STORY_NONE;
  for (size_t i = 0; i < s->tail->rows; i++) {
    const struct tail_row *row = &s->tail->row[i];
    if (row->path != STORY_NONE && row->what != CRITICAL_QUEUED)
      more[row->path] += tail_more(s->tail, row->time);
  }
  for (uint32_t i = story->paths_count; i-- > 0;) {
    const struct story_path *p = &story->paths[i];
    if (deepest == STORY_NONE && more[i] * 2 >= whole && p->kind != STORY_AWAIT)
      deepest = i;
    if (p->parent != STORY_NONE)
      more[p->parent] += more[i];
  }
  free(more);
  return deepest;
}

static bool has_name(const struct sums *s, const struct tail_row *a, const struct tail_row *b) {
  if (a == b)
    return true;
  return a->what == b->what && a->path != STORY_NONE && b->path != STORY_NONE &&
         !strcmp(s->story->paths[a->path].name, s->story->paths[b->path].name);
}

static bool makes_most(const struct tail *t, const struct tail_row *row) {
  return tail_more(t, row->time) * 2 >= tail_more(t, t->wall);
}

/*
 * All rows of a name: a function that is called at several places is one cause. Not where one of
 * them makes most of the difference: what a library calls uv_timer_start may be anything elsewhere.
 */
static struct tail_cause sum_up(const struct sums *s, const struct tail_row *row) {
  struct tail_cause c = {.row = row, .all = {.what = row->what, .path = row->path}};
  bool alone = makes_most(s->tail, row);
  c.path = STORY_NONE;
  for (size_t i = 0; i < s->tail->rows; i++) {
    const struct tail_row *other = &s->tail->row[i];
    if (!has_name(s, row, other))
      continue;
    c.apart += alone && row != other;
    if (alone && row != other)
      continue;
    c.places++;
    for (int side = 0; side < TAIL_SIDES; side++) {
      uint64_t *requests = &c.all.requests[side];
      c.all.time[side] += other->time[side];
      c.all.times[side] += other->times[side];
      *requests = other->requests[side] > *requests ? other->requests[side] : *requests;
    }
  }
  c.more = tail_more(s->tail, c.all.time);
  c.how = how_it_differs(s->tail, &c.all);
  return c;
}

/* Of most of the difference, whatever stands in it. */
static struct tail_cause cause_beneath(const struct sums *s, uint32_t path) {
  struct tail_cause c = {.path = path};
  for (size_t i = 0; i < s->tail->rows; i++) {
    const struct tail_row *row = &s->tail->row[i];
    uint32_t at = row->what == CRITICAL_QUEUED ? STORY_NONE : row->path;
    while (at != STORY_NONE && at != path)
      at = s->story->paths[at].parent;
    c.more += at == path ? tail_more(s->tail, row->time) : 0;
  }
  return c;
}

static void find_cause(const struct sums *s) {
  enum { LOOKED_AT = 32 }; /* rows, of those that make most difference */
  struct tail *t = s->tail;
  double whole = tail_more(t, t->wall);
  t->cause.path = STORY_NONE;
  if (whole <= 0)
    return;
  for (size_t i = 0; i < t->rows && i < LOOKED_AT; i++) {
    struct tail_cause c = sum_up(s, &t->row[i]);
    bool alone = makes_most(t, &t->row[i]);
    if (!t->cause.row || alone || c.more > t->cause.more)
      t->cause = c;
    if (alone)
      break;
  }
  uint32_t path = t->cause.more * 2 < whole ? most_beneath(s, whole) : STORY_NONE;
  if (path != STORY_NONE && s->story->paths[path].parent != STORY_NONE)
    t->cause = cause_beneath(s, path);
}

/* -- all of it ------------------------------------------------------------------------- */

static int by_difference(const void *a, const void *b, void *of) {
  const struct tail *t = of;
  const struct tail_row *x = a, *y = b;
  double one = fabs(tail_more(t, x->time)), other = fabs(tail_more(t, y->time));
  if (one != other)
    return (one < other) - (one > other);
  return x->what != y->what ? x->what - y->what : (x->path > y->path) - (x->path < y->path);
}

void tail_settle(const struct story *story, struct tail *t) {
  const struct sums s = {.story = story, .tail = t};
  if (t->rows)
    qsort_r(t->row, t->rows, sizeof *t->row, by_difference, t);
  find_cause(&s);
}

struct tail *tail_of(const struct story *story, struct critical *c, const struct slowest_kind *k) {
  struct sums s = {
      .story = story, .blamed = critical_blamed(c), .tail = allocate(1, sizeof(struct tail))};
  size_t places = CRITICAL_WHATS * (size_t)story->paths_count + OWN_ROWS;
  s.row_of = allocate(places, sizeof *s.row_of);
  memset(s.row_of, 0xff, places * sizeof *s.row_of);
  const struct story_request **request = slowest_in_time(k);
  for (uint32_t i = 0; i < k->count; i++) {
    s.side = i < k->slow ? TAIL_SLOW : TAIL_REST;
    add_request(&s, c, request[i]);
  }
  free(request);
  tail_settle(story, s.tail);
  free(s.row_of);
  free(s.last);
  return s.tail;
}

void tail_free(struct tail *t) {
  if (!t)
    return;
  free(t->row);
  free(t);
}
