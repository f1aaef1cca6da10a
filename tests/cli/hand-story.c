/* SPDX-License-Identifier: MIT */
/* A story made by hand; see hand-story.h. */
#include "hand-story.h"

#include <string.h>

struct hand {
  struct story *s;
  uint32_t loop, pool;
  uint32_t item, db, render, fast, slow, call, job, idle, timer;
};

static void set_paths(struct hand *h) {
  struct story *s = h->s;
  h->item = story_add_path(s, STORY_NONE, STORY_FUNCTION, "get_item", "item.c", 10);
  h->call = story_add_path(s, h->item, STORY_AWAIT, "db_get", "item.c", 12);
  h->db = story_add_path(s, h->item, STORY_FUNCTION, "db_get", "db.c", 20);
  h->fast = story_add_path(s, h->db, STORY_AWAIT, "pool \"get\";\\ <b>", "db.c", 22);
  h->slow = story_add_path(s, h->db, STORY_AWAIT, "disk_get", "db.c", 23);
  h->job = story_add_path(s, h->db, STORY_FUNCTION, "std::map<int, a&b>::operator[]", "job.cc", 30);
  h->render = story_add_path(s, h->item, STORY_SPAN, "render", "item.c", 15);
  h->timer = story_add_path(s, STORY_NONE, STORY_FUNCTION, "on_timer", NULL, 0);
  h->idle = story_add_path(s, h->timer, STORY_AWAIT, "\xe5\x87\xa6", "timer.c", 5);
  s->paths[h->idle].background = true;
  s->tiers[HAND_TIER_DB] = story_text(s, "db");
  s->tiers[HAND_TIER_RENDER] = story_text(s, "render");
}

/* Behind the last one of it. */
static uint32_t add(struct hand *h, uint32_t future, enum story_what what, uint32_t path,
                    uint64_t until) {
  const struct story_future *f = &h->s->futures[future];
  uint64_t since = f->last == STORY_NONE ? f->born : h->s->segments[f->last].end;
  uint32_t number = story_add_segment(h->s, future, what, path, since, until);
  h->s->segments[number].thread = what != STORY_EXEC && what != STORY_QUEUED ? STORY_NONE
                                  : path == h->job                           ? h->pool
                                                                             : h->loop;
  return number;
}

/* Asks at `begin`, has its answer `waits` later, and is done 20 us behind that. */
static void add_request(struct hand *h, uint32_t i, uint64_t begin, uint64_t waits, bool whole) {
  struct story *s = h->s;
  uint64_t answer = begin + 30000 + waits, end = answer + 20000;
  uint32_t r = story_add_request(s, i % 3 ? "GET /item" : "POST \"odd\", \\ {kind}\t\xe5\x87\xa6",
                                 "get_item", begin, end);
  uint32_t root = story_add_future(s, h->item, r, STORY_NONE, begin);
  add(h, root, STORY_EXEC, h->item, begin + 10000);
  uint32_t db = story_add_future(s, h->db, r, root, begin + 10000);
  add(h, root, STORY_ASIDE, h->call, begin + 15000);
  add(h, db, STORY_EXEC, h->db, begin + 15000);
  s->segments[s->futures[db].last].tier = HAND_TIER_DB;
  uint32_t job = story_add_future(s, h->job, r, db, begin + 12000);
  uint32_t queued = add(h, job, STORY_QUEUED, h->job, begin + 20000);
  s->segments[queued].waker = db;
  add(h, job, STORY_EXEC, h->job, begin + 30000);
  story_end_future(s, job, begin + 30000, STORY_DONE);
  uint32_t wait = add(h, db, STORY_WAITING, waits ? h->slow : h->fast, answer);
  s->segments[wait].tier = HAND_TIER_DB;
  s->segments[wait].waker = waits ? STORY_NONE : job;
  uint32_t late = add(h, db, STORY_QUEUED, waits ? h->slow : h->fast, answer + 5000);
  s->segments[late].waker = waits ? STORY_NONE : job;
  add(h, db, STORY_EXEC, h->db, answer + 10000);
  story_end_future(s, db, answer + 10000, i % 7 ? STORY_DONE : STORY_FAILED);
  uint32_t outer = add(h, root, STORY_WAITING, h->call, answer + 10000);
  s->segments[outer].waker = db;
  add(h, root, STORY_EXEC, h->item, answer + 12000);
  add(h, root, STORY_EXEC, h->render, end);
  s->segments[s->futures[root].last].tier = HAND_TIER_RENDER;
  story_end_future(s, root, end, STORY_DONE);
  story_add_slice(s, h->loop, root, begin, begin + 15000);
  story_add_slice(s, h->pool, job, begin + 20000, begin + 30000);
  story_add_slice(s, h->loop, db, answer + 5000, end);
  s->requests[r].number = 1000 + i;
  s->requests[r].failed = i % 7 == 0;
  s->requests[r].whole = whole;
  if (i % 2) {
    s->requests[r].trace[0] = 0x4bf92f3577b34da6;
    s->requests[r].trace[1] = i + 1;
    s->requests[r].span = 0xabc0000000000000 + i;
    s->requests[r].parent_span = 0x00f067aa0ba902b7;
  }
}

bool hand_is_slow(const struct story *s, uint32_t request) {
  return s->requests[request].end - s->requests[request].begin > HAND_APART;
}

struct story *hand_story(uint32_t requests) {
  struct hand h = {.s = story_new()};
  struct story *s = h.s;
  s->process = story_text(s, "shop \"one\"");
  s->command = story_text(s, "./shop --port 80");
  s->host = story_text(s, "lab");
  s->pid = 4242;
  s->started_at_ns = HAND_STARTED;
  set_paths(&h);
  h.loop = story_add_thread(s, 4242, "shop");
  h.pool = story_add_thread(s, 4243, "worker <1>");
  s->threads[h.pool].is_pool = true;
  for (uint32_t i = 0; i < requests; i++) {
    /* The answers of slow ones come while the loop is free. */
    uint64_t slow = HAND_SLOW_WAITS * HAND_APART + 30000;
    add_request(&h, i, (uint64_t)i * HAND_APART, i % HAND_SLOW_EVERY == 5 ? slow : 0,
                i + 1 < requests);
  }
  uint32_t timer = story_add_future(s, h.timer, STORY_NONE, STORY_NONE, 90000);
  add(&h, timer, STORY_EXEC, h.timer, 91000);
  add(&h, timer, STORY_WAITING, h.idle, (uint64_t)(requests + 20) * HAND_APART);
  story_add_slice(s, h.loop, timer, 90000, 91000);
  story_finish(s);
  return s;
}
