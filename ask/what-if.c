/* SPDX-License-Identifier: MIT */
/* Requests once more, with awaits that take another time; see what-if.h. */
#include "what-if.h"

#include "blame.h"
#include "critical.h"
#include "read/util.h"
#include "replay-loops.h"
#include "value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *what_if_take(struct what_if *w, const char *text) {
  const char *equal = strrchr(text, '=');
  double factor = -1;
  bool read = equal && (value_read(equal + 1, UNIT_COUNT, 1, &factor) ||
                        (value_read(equal + 1, UNIT_SHARE, 0, &factor) && (factor /= 100, true)));
  if (!read || equal == text || factor < 0 || factor > 1000)
    return print_string("it takes AWAIT=FACTOR, as pool_get=0.5");
  if (w->count == WHAT_IFS)
    return print_string("%d of them at most", WHAT_IFS);
  w->of[w->count++] = (struct what_if_factor){text, (size_t)(equal - text), factor};
  return NULL;
}

/* -- which paths ----------------------------------------------------------------------- */

static bool is_text(const struct what_if_factor *f, const char *text) {
  return strlen(text) == f->length && !memcmp(text, f->name, f->length);
}

/* By name, by place, or by the last steps of its text. */
static bool is_meant(const struct what_if_factor *f, const struct story_path *p) {
  size_t length = strlen(p->text);
  if (is_text(f, p->name) || (p->file && (is_text(f, place_text(base_name(p->file), p->line)) ||
                                          is_text(f, place_text(p->file, p->line)))))
    return true;
  if (length < f->length || memcmp(p->text + length - f->length, f->name, f->length))
    return false;
  return length == f->length || p->text[length - f->length - 1] == ' ';
}

/* By path, with all beneath it. False after a message: one is not there. */
static bool find_factors(const struct story *s, const struct what_if *w, double *factor) {
  bool found[WHAT_IFS] = {false};
  for (uint32_t i = 0; i < s->paths_count; i++) {
    const struct story_path *p = &s->paths[i];
    factor[i] = p->parent == STORY_NONE ? 1 : factor[p->parent];
    for (size_t j = 0; j < w->count; j++)
      if (is_meant(&w->of[j], p)) {
        factor[i] = w->of[j].factor;
        found[j] = true;
      }
  }
  for (size_t j = 0; j < w->count; j++)
    if (!found[j]) {
      complain("the recording has no await or function `%.*s'; `aprof path' shows which there are",
               (int)w->of[j].length, w->of[j].name);
      return false;
    }
  return true;
}

/* -- the model ------------------------------------------------------------------------- */

struct model {
  const struct story *story;
  struct loops *replay;
  struct recorded {
    uint64_t busy, queued;
  } * recorded; /* by request: as the critical paths have it */
  struct critical *critical;
  double *factor;                     /* by path */
  const struct critical_piece *piece; /* that is added */
  struct loops_turn turn;             /* the next run, as far as its queue tells */
  uint64_t blamed, blamed_until;      /* of that queue */
};

static void add_blamed(const struct blame_part *part, void *context) {
  struct model *m = context;
  if (!part->slice)
    return;
  m->blamed += part->time;
  m->blamed_until = part->end > m->blamed_until ? part->end : m->blamed_until;
}

static bool is_loop(const struct story *s, uint32_t thread) {
  return thread != STORY_NONE && !s->threads[thread].is_pool;
}

/* What of the queue is no future's: the part behind the last one, and the rest. */
static void add_queue(struct model *m) {
  const struct critical_piece *p = m->piece;
  m->blamed = 0;
  m->blamed_until = p->begin;
  blame_stretch(m->story, critical_blamed(m->critical), p->thread, p->begin, p->end, add_blamed, m);
  m->turn.ready = p->begin;
  m->turn.after = p->end - m->blamed_until;
  m->turn.before = p->end - p->begin - m->blamed - m->turn.after;
}

/* `next`: runs behind it, or NULL. */
static void add_piece(struct model *m, const struct critical_piece *next) {
  const struct critical_piece *p = m->piece;
  uint64_t time = p->end - p->begin;
  double factor = p->path != STORY_NONE ? m->factor[p->path] : 1;
  bool runs = next && next->what == CRITICAL_EXEC && next->thread == p->thread;
  if (p->what == CRITICAL_QUEUED && is_loop(m->story, p->thread) && runs) {
    add_queue(m);
  } else if (p->what == CRITICAL_EXEC && is_loop(m->story, p->thread)) {
    m->turn.thread = p->thread;
    m->turn.begin = p->begin;
    m->turn.time = time;
    m->turn.factor = factor;
    loops_add_run(m->replay, &m->turn);
    m->turn = (struct loops_turn){0};
  } else
    loops_add_wait(m->replay, time, p->what == CRITICAL_QUEUED ? 1 : factor);
}

static void add_recorded(struct model *m, struct recorded *r) {
  const struct critical_piece *p = m->piece;
  uint64_t time = p->end - p->begin;
  r->busy += p->what == CRITICAL_EXEC && is_loop(m->story, p->thread) ? time : 0;
  r->queued += p->what == CRITICAL_QUEUED ? time : 0;
}

/* All that are whole, since they meet in the loops' queues; by their number in the story. */
static void add_requests(struct model *m) {
  for (uint32_t i = 0; i < m->story->requests_count; i++) {
    const struct story_request *r = &m->story->requests[i];
    size_t pieces = 0;
    const struct critical_piece *piece =
        r->whole && r->end >= r->begin ? critical_path(m->critical, r, &pieces) : NULL;
    loops_add_request(m->replay, r->begin);
    for (size_t j = 0; j < pieces; j++) {
      m->piece = &piece[j];
      add_recorded(m, &m->recorded[i]);
      add_piece(m, j + 1 < pieces ? &piece[j + 1] : NULL);
    }
  }
}

/* -- numbers --------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint64_t percentile(const uint64_t *sorted, uint32_t count, unsigned percent) {
  uint64_t behind = (uint64_t)count * (100 - percent) / 100;
  return sorted[behind < count ? count - 1 - behind : 0];
}

static struct what_if_numbers replayed(const struct story *s, const struct slowest_kind *k,
                                       const struct loops_ran *of) {
  struct what_if_numbers n = {0};
  uint64_t *wall = allocate((size_t)k->count + 1, sizeof *wall);
  for (uint32_t i = 0; i < k->count; i++) {
    const struct loops_ran *r = &of[k->request[i] - s->requests];
    wall[i] = r->wall;
    n.mean += (double)r->wall / k->count;
    n.busy += (double)r->busy / k->count;
    n.queued += (double)r->queued / k->count;
  }
  qsort(wall, k->count, sizeof *wall, by_time);
  n.p50 = percentile(wall, k->count, 50);
  n.p95 = percentile(wall, k->count, 95);
  n.p99 = percentile(wall, k->count, 99);
  free(wall);
  return n;
}

static struct what_if_numbers recorded(const struct model *m, const struct slowest_kind *k) {
  struct what_if_numbers n = {0};
  for (uint32_t i = 0; i < k->count; i++) {
    const struct recorded *r = &m->recorded[k->request[i] - m->story->requests];
    n.mean += (double)slowest_wall(k->request[i]) / k->count;
    n.busy += (double)r->busy / k->count;
    n.queued += (double)r->queued / k->count;
  }
  n.p50 = slowest_percentile(k, 50);
  n.p95 = slowest_percentile(k, 95);
  n.p99 = slowest_percentile(k, 99);
  return n;
}

struct what_if_kind *what_if_replay(const struct story *s, const struct slowest *all,
                                    const struct what_if *w) {
  struct model m = {.story = s, .factor = allocate((size_t)s->paths_count + 1, sizeof *m.factor)};
  struct what_if_kind *kind = NULL;
  if (find_factors(s, w, m.factor)) {
    kind = allocate(all->kinds + 1, sizeof *kind);
    m.critical = critical_new(s);
    m.replay = loops_new(s);
    m.recorded = allocate((size_t)s->requests_count + 1, sizeof *m.recorded);
    add_requests(&m);
    for (int run = WHAT_IF_REPLAYED; run < WHAT_IF_RUNS; run++) {
      struct loops_ran *of = loops_run(m.replay, run == WHAT_IF_CHANGED);
      for (size_t i = 0; i < all->kinds; i++)
        kind[i].run[run] = replayed(s, &all->kind[i], of);
      free(of);
    }
    for (size_t i = 0; i < all->kinds; i++) {
      kind[i].kind = &all->kind[i];
      kind[i].run[WHAT_IF_RECORDED] = recorded(&m, &all->kind[i]);
    }
  }
  loops_free(m.replay);
  critical_free(m.critical);
  free(m.recorded);
  free(m.factor);
  return kind;
}
