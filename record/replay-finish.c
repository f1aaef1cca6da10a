/* SPDX-License-Identifier: MIT */
/* The end of a replay: what is open ends, what never was goes, ticks become ns; see replay.h. */
#include "replay-state.h"

#include "read/clock.h"
#include "read/model.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* -- what is open --------------------------------------------------------------------- */

/* A thread that has had no event since profiling went off, or began from zero, has not told so. */
static uint64_t end_of(const struct replay_state *s, uint32_t index) {
  const struct aprof_header *h = &s->r->latest->header;
  const struct aprof_future *f = profile_future(s->r->latest, index);
  return f && f->id ? replay_end_in(h, model_epoch_of(h, f->id), s->r->end) : s->r->end;
}

static void end_lives(struct replay_state *s) {
  for (uint32_t page = 0; page < s->pages; page++) {
    for (uint32_t i = 0; s->lives[page] && i < LIVES; i++) {
      struct life *l = &s->lives[page][i];
      if (l->future == STORY_NONE)
        continue;
      uint64_t end = end_of(s, l->index);
      replay_ready_unseen(s, l, end);
      if (l->segment != STORY_NONE)
        s->story->segments[l->segment].flags |= STORY_CUT_END;
      replay_close(s, l, end);
      s->story->futures[l->future].over = end;
    }
    free(s->lives[page]);
  }
  free(s->lives);
}

static void end_threads(struct replay_state *s) {
  for (uint32_t i = 0; i < s->runners; i++)
    if (s->runner[i].slice != STORY_NONE)
      s->story->slices[s->runner[i].slice].end =
          s->runner[i].current || s->runner[i].held ? s->r->end : s->runner[i].stopped;
  free(s->runner);
  free(s->held);
}

static void end_requests(struct replay_state *s) {
  for (uint32_t i = 0; i < s->story->requests_count; i++)
    if (s->story->requests[i].end == UINT64_MAX)
      s->story->requests[i].end = s->r->end;
  free(s->part);
}

/* -- what never was ------------------------------------------------------------------- */

static void rename_all(struct story *s, const uint32_t *future, const uint32_t *request) {
#define RENAME(member, table)                                                                      \
  if ((member) != STORY_NONE)                                                                      \
  (member) = (table)[member]
  for (uint32_t i = 0; i < s->segments_count; i++) {
    RENAME(s->segments[i].future, future);
    RENAME(s->segments[i].waker, future);
  }
  for (uint32_t i = 0; i < s->slices_count; i++)
    RENAME(s->slices[i].future, future);
  for (uint32_t i = 0; i < s->requests_count; i++)
    RENAME(s->requests[i].root, future);
  for (uint32_t i = 0; i < s->futures_count; i++) {
    struct story_future *f = &s->futures[i];
    RENAME(f->creator, future);
    RENAME(f->earlier, future);
    RENAME(f->later, future);
    RENAME(f->request, request);
  }
}

static uint32_t *number_futures(const struct story *s, uint32_t *count) {
  uint32_t *to = allocate(s->futures_count + 1u, sizeof *to);
  *count = 0;
  for (uint32_t i = 0; i < s->futures_count; i++)
    to[i] = s->futures[i].path == STORY_NONE ? STORY_NONE : (*count)++;
  return to;
}

static uint32_t *number_requests(const struct replay_state *s, uint32_t *count) {
  uint32_t *to = allocate(s->story->requests_count + 1u, sizeof *to);
  *count = 0;
  for (uint32_t i = 0; i < s->story->requests_count; i++)
    to[i] = i < s->undone_room && s->undone[i] ? STORY_NONE : (*count)++;
  return to;
}

/* Their segments stay, of no length and of no future; nothing leads to them. */
static void take_out(struct replay_state *s) {
  struct story *story = s->story;
  if (!s->any_undone && !s->any_unborn)
    return;
  uint32_t futures, requests;
  uint32_t *future = number_futures(story, &futures), *request = number_requests(s, &requests);
  rename_all(story, future, request);
  for (uint32_t i = 0; i < story->futures_count; i++)
    if (future[i] != STORY_NONE)
      story->futures[future[i]] = story->futures[i];
  for (uint32_t i = 0; i < story->requests_count; i++)
    if (request[i] != STORY_NONE)
      story->requests[request[i]] = story->requests[i];
  story->futures_count = futures;
  story->requests_count = requests;
  free(future);
  free(request);
}

static void drop_segments(struct story *s) {
  uint32_t kept = 0;
  uint32_t *to = allocate(s->segments_count + 1u, sizeof *to);
  for (uint32_t i = 0; i < s->segments_count; i++)
    to[i] = s->segments[i].future == STORY_NONE ? STORY_NONE : kept++;
  for (uint32_t i = 0; i < s->segments_count && kept < s->segments_count; i++) {
    struct story_segment *g = &s->segments[i];
    if (g->next != STORY_NONE)
      g->next = to[g->next];
    if (to[i] != STORY_NONE)
      s->segments[to[i]] = *g;
  }
  for (uint32_t i = 0; i < s->futures_count && kept < s->segments_count; i++) {
    struct story_future *f = &s->futures[i];
    f->first = f->first == STORY_NONE ? STORY_NONE : to[f->first];
    f->last = f->last == STORY_NONE ? STORY_NONE : to[f->last];
  }
  s->segments_count = kept;
  free(to);
}

/* A slice of what never was is none. */
static void drop_slices(struct story *s) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < s->slices_count; i++)
    if (s->slices[i].future != STORY_NONE)
      s->slices[kept++] = s->slices[i];
  s->slices_count = kept;
}

/* -- threads that hold no loop ---------------------------------------------------------- */

static void find_pools(struct replay_state *s) {
  const struct profile *p = s->r->latest;
  for (uint32_t i = 0; i < s->runners; i++) {
    if (s->runner[i].thread == STORY_NONE)
      continue;
    uint64_t slices = 0, exec = 0;
    for (size_t run = 0; run < p->counters.count; run++) {
      const struct aprof_counters *c = p->counters.run[run].elements;
      for (uint32_t n = p->counters.run[run].owner == i ? p->counters.run[run].count : 0; n--;
           c++) {
        slices += c->function.slices;
        exec += c->function.exec;
      }
    }
    s->story->threads[s->runner[i].thread].is_pool = exec && !slices;
  }
}

void replay_close_all(struct replay_state *s) {
  end_lives(s);
  find_pools(s);
  end_threads(s);
  end_requests(s);
  take_out(s);
  if (s->any_unborn) {
    drop_segments(s->story);
    drop_slices(s->story);
  }
  free(s->undone);
  names_free(s->names);
}

/* -- ns ------------------------------------------------------------------------------- */

static uint64_t ns(const struct replay *r, uint64_t tick) {
  return tick > r->begin ? clock_to_ns(tick - r->begin, r->mult) : 0;
}

struct story *replay_finish(struct replay *r) {
  struct story *s = r->story;
  for (uint32_t i = 0; i < s->segments_count; i++) {
    s->segments[i].begin = ns(r, s->segments[i].begin);
    s->segments[i].end = ns(r, s->segments[i].end);
  }
  for (uint32_t i = 0; i < s->futures_count; i++) {
    s->futures[i].born = ns(r, s->futures[i].born);
    s->futures[i].over = ns(r, s->futures[i].over);
  }
  for (uint32_t i = 0; i < s->requests_count; i++) {
    s->requests[i].begin = ns(r, s->requests[i].begin);
    s->requests[i].end = ns(r, s->requests[i].end);
  }
  for (uint32_t i = 0; i < s->slices_count; i++) {
    struct story_slice *g = &s->slices[i];
    g->begin = ns(r, g->begin);
    g->end = ns(r, g->end);
    g->turn = g->turn == UINT64_MAX ? UINT64_MAX : ns(r, g->turn);
  }
  for (uint32_t i = 0; i < s->shares_count; i++) {
    s->shares[i].begin = ns(r, s->shares[i].begin);
    s->shares[i].end = ns(r, s->shares[i].end);
    s->stopped_ns += s->shares[i].share > 0 ? 0 : s->shares[i].end - s->shares[i].begin;
  }
  for (uint32_t i = 0; i < s->hits_count; i++)
    s->hits[i].at = ns(r, s->hits[i].at);
  s->end_ns = ns(r, r->end);
  story_finish(s);
  r->story = NULL;
  return s;
}
