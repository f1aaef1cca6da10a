/* SPDX-License-Identifier: MIT */
/* Critical paths and blame: ask/critical.c, ask/blame.c, ask/blame-sums.c, of stories made by hand.
 */
#include "ask/blame.h"
#include "ask/critical.h"
#include "read/util.h"
#include "story.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>

static struct story *s;
static uint32_t loop, get, load, pool, child_wait, hog;

static void setup(void) {
  s = story_new();
  loop = story_add_thread(s, 42, "loop");
  get = story_add_path(s, NONE, STORY_FUNCTION, "get", "item.c", 5);
  child_wait = story_add_path(s, get, STORY_AWAIT, "load", "item.c", 9);
  load = story_add_path(s, get, STORY_FUNCTION, "load", "db.c", 20);
  pool = story_add_path(s, load, STORY_AWAIT, "pool_get", "db.c", 77);
  hog = story_add_path(s, NONE, STORY_FUNCTION, "hog", "hog.c", 3);
}

static void teardown(void) {
  story_free(s);
}

struct expected {
  uint64_t begin, end;
  uint32_t future;
  enum critical_what what;
  uint32_t path;
};

static void expect(uint32_t request, const struct expected *list, size_t count) {
  struct critical *c = critical_new(s);
  size_t pieces;
  for (int again = 0; again < 2; again++) {
    const struct critical_piece *p = critical_path(c, &s->requests[request], &pieces);
    ck_assert_uint_eq(pieces, count);
    for (size_t i = 0; i < count; i++) {
      ck_assert_uint_eq(p[i].begin, list[i].begin);
      ck_assert_uint_eq(p[i].end, list[i].end);
      ck_assert_uint_eq(p[i].future, list[i].future);
      ck_assert_int_eq(p[i].what, list[i].what);
      ck_assert_uint_eq(p[i].path, list[i].path);
    }
  }
  critical_free(c);
}
#define EXPECT(request, ...)                                                                       \
  expect(request, (const struct expected[]){__VA_ARGS__},                                          \
         sizeof(struct expected[]){__VA_ARGS__} / sizeof(struct expected))

/* get calls load, which is queued, runs, waits for a pool that another request empties. */
static void add_with_child(uint32_t request, uint32_t *root, uint32_t *child, uint32_t other) {
  uint32_t f = *root = story_add_future(s, get, request, NONE, 0);
  uint32_t g = *child = story_add_future(s, load, request, f, 5);
  add_ran(s, f, get, 0, 10, loop);
  add_waited(s, f, child_wait, 10, 90, g);
  add_ran(s, f, get, 90, 100, loop);
  add_queued(s, g, load, 5, 20, loop);
  add_ran(s, g, load, 20, 40, loop);
  add_waited(s, g, pool, 40, 80, other);
  add_ran(s, g, load, 80, 90, loop);
  story_end_future(s, g, 90, STORY_DONE);
  story_end_future(s, f, 100, STORY_DONE);
}

START_TEST(a_wait_is_what_the_member_did_that_ended_it) {
  uint32_t f, g, r = story_add_request(s, NULL, "get", 0, 100);
  uint32_t stranger = story_add_future(s, hog, NONE, NONE, 0);
  add_with_child(r, &f, &g, stranger);
  story_finish(s);
  EXPECT(r, {0, 10, f, CRITICAL_EXEC, get}, {10, 20, g, CRITICAL_QUEUED, load},
         {20, 40, g, CRITICAL_EXEC, load}, {40, 80, g, CRITICAL_WAITING, pool},
         {80, 90, g, CRITICAL_EXEC, load}, {90, 100, f, CRITICAL_EXEC, get});
}
END_TEST

START_TEST(one_put_aside_is_what_ran_on_its_stack) {
  uint32_t r = story_add_request(s, NULL, "get", 0, 60);
  uint32_t f = story_add_future(s, get, r, NONE, 0), g = story_add_future(s, load, r, f, 10);
  add_ran(s, f, get, 0, 10, loop);
  uint32_t aside = story_add_segment(s, f, STORY_ASIDE, child_wait, 10, 50);
  s->segments[aside].waker = g;
  add_ran(s, f, get, 50, 60, loop);
  add_ran(s, g, load, 10, 20, loop);
  add_waited(s, g, pool, 20, 45, NONE);
  add_ran(s, g, load, 45, 50, loop);
  story_finish(s);
  EXPECT(r, {0, 10, f, CRITICAL_EXEC, get}, {10, 20, g, CRITICAL_EXEC, load},
         {20, 45, g, CRITICAL_WAITING, pool}, {45, 50, g, CRITICAL_EXEC, load},
         {50, 60, f, CRITICAL_EXEC, get});
}
END_TEST

START_TEST(before_its_birth_its_creator_acted) {
  uint32_t r = story_add_request(s, NULL, "get", 0, 100);
  uint32_t f = story_add_future(s, get, r, NONE, 0), h = story_add_future(s, hog, r, f, 5);
  uint32_t g = story_add_future(s, load, r, h, 50);
  add_ran(s, f, get, 0, 10, loop);
  add_waited(s, f, child_wait, 10, 90, g);
  add_ran(s, f, get, 90, 100, loop);
  add_queued(s, h, hog, 5, 30, loop);
  add_ran(s, h, hog, 30, 52, loop);
  add_ran(s, g, load, 50, 90, loop);
  story_finish(s);
  EXPECT(r, {0, 10, f, CRITICAL_EXEC, get}, {10, 30, h, CRITICAL_QUEUED, hog},
         {30, 50, h, CRITICAL_EXEC, hog}, {50, 90, g, CRITICAL_EXEC, load},
         {90, 100, f, CRITICAL_EXEC, get});
}
END_TEST

/* The root ends before what it set going: the walk begins there, and comes back to the root. */
START_TEST(it_goes_back_from_who_ran_last) {
  uint32_t r = story_add_request(s, NULL, "get", 10, 80);
  uint32_t f = story_add_future(s, get, r, NONE, 10), g = story_add_future(s, load, r, f, 20);
  add_ran(s, f, get, 10, 30, loop);
  story_end_future(s, f, 30, STORY_DONE);
  add_waited(s, g, pool, 20, 70, NONE);
  add_ran(s, g, load, 70, 90, loop); /* the request ended before */
  story_finish(s);
  EXPECT(r, {10, 20, f, CRITICAL_EXEC, get}, {20, 70, g, CRITICAL_WAITING, pool},
         {70, 80, g, CRITICAL_EXEC, load});
}
END_TEST

/* Woken by one that was over before, or came later and was made by nobody known: the wait's own. */
START_TEST(what_is_not_known_of_a_wait_is_its_own) {
  uint32_t r = story_add_request(s, NULL, "get", 0, 100);
  uint32_t f = story_add_future(s, get, r, NONE, 0), g = story_add_future(s, load, r, NONE, 40);
  add_ran(s, f, get, 0, 10, loop);
  add_waited(s, f, child_wait, 10, 90, g);
  add_ran(s, f, get, 90, 100, loop);
  add_ran(s, g, load, 40, 60, loop);
  story_end_future(s, g, 60, STORY_DONE);
  story_finish(s);
  EXPECT(r, {0, 10, f, CRITICAL_EXEC, get}, {10, 40, f, CRITICAL_WAITING, child_wait},
         {40, 60, g, CRITICAL_EXEC, load}, {60, 90, f, CRITICAL_WAITING, child_wait},
         {90, 100, f, CRITICAL_EXEC, get});
}
END_TEST

START_TEST(what_nobody_was_seen_to_do_is_said) {
  uint32_t r = story_add_request(s, NULL, "get", 0, 50);
  uint32_t f = story_add_future(s, get, r, NONE, 20);
  add_ran(s, f, get, 20, 40, loop);
  story_end_future(s, f, 40, STORY_DONE);
  uint32_t empty = story_add_request(s, NULL, "get", 60, 70);
  story_finish(s);
  EXPECT(r, {0, 20, NONE, CRITICAL_UNSEEN, NONE}, {20, 40, f, CRITICAL_EXEC, get},
         {40, 50, NONE, CRITICAL_UNSEEN, NONE});
  EXPECT(empty, {60, 70, NONE, CRITICAL_UNSEEN, NONE});
}
END_TEST

/* I/O: from waiting to running, without a wake; the poller had returned at 60. */
START_TEST(what_a_poller_made_ready_is_queued_since_it_returned) {
  uint32_t r = story_add_request(s, NULL, "get", 0, 100);
  uint32_t f = story_add_future(s, get, r, NONE, 0), h = story_add_future(s, hog, NONE, NONE, 0);
  add_held(s, f, get, 0, 10, loop);
  add_waited(s, f, pool, 10, 90, NONE);
  add_held(s, h, hog, 60, 85, loop);
  s->slices[s->slices_count - 1].turn = 60;
  add_held(s, f, get, 90, 100, loop);
  s->slices[s->slices_count - 1].turn = 60;
  story_finish(s);
  EXPECT(r, {0, 10, f, CRITICAL_EXEC, get}, {10, 60, f, CRITICAL_WAITING, pool},
         {60, 90, f, CRITICAL_QUEUED, pool}, {90, 100, f, CRITICAL_EXEC, get});
  struct blamed *b = blame_all(s, NULL, false);
  ck_assert_uint_eq(b->time, 0);
  ck_assert_uint_eq(b->polled, 30);
  ck_assert_uint_eq(b->polled_count, 1);
  ck_assert_uint_eq(b->unknown, 0);
  ck_assert_uint_eq(b->rows, 2);
  ck_assert_uint_eq(b->row[0].function, hog);
  ck_assert_uint_eq(b->row[0].polled, 25);
  ck_assert_int_eq(b->row[1].none, BLAME_LOOP);
  ck_assert_uint_eq(b->row[1].polled, 5);
  blame_free(b);
}
END_TEST

/* -- blame ----------------------------------------------------------------------------- */

START_TEST(queued_time_is_whose_who_held_the_loop) {
  uint32_t hog_again = story_add_path(s, get, STORY_FUNCTION, "hog", "hog.c", 3);
  uint32_t r = story_add_request(s, NULL, "get", 0, 200);
  uint32_t f = story_add_future(s, get, r, NONE, 0), g = story_add_future(s, load, r, f, 0);
  uint32_t h = story_add_future(s, hog, NONE, NONE, 0),
           i = story_add_future(s, hog_again, NONE, h, 0);
  add_held(s, h, hog, 0, 30, loop);
  add_held(s, i, hog_again, 30, 50, loop);
  add_held(s, g, load, 55, 60, loop);
  add_queued(s, f, get, 10, 70, loop);
  add_held(s, f, get, 70, 100, loop);
  add_queued(s, f, get, 150, 180, NONE); /* until the request's end, and on */
  story_finish(s);
  struct blamed *b = blame_all(s, NULL, false);
  ck_assert_uint_eq(b->time, 90);
  ck_assert_uint_eq(b->count, 2);
  ck_assert_uint_eq(b->rows, 4);
  ck_assert_uint_eq(b->row[0].function, hog);
  ck_assert_uint_eq(b->row[0].time, 40);
  ck_assert_uint_eq(b->row[0].count, 1);
  ck_assert_uint_eq(b->row[0].longest, 30);
  ck_assert_uint_eq(b->row[0].own, 0);
  ck_assert_uint_eq(b->row[0].victims, 1);
  ck_assert_uint_eq(b->row[0].victim[0].function, get);
  ck_assert_uint_eq(b->row[0].victim[0].time, 40);
  ck_assert_int_eq(b->row[1].none, BLAME_NEVER);
  ck_assert_uint_eq(b->row[1].time, 30);
  ck_assert_int_eq(b->row[2].none, BLAME_LOOP);
  ck_assert_uint_eq(b->row[2].time, 15);
  ck_assert_uint_eq(b->row[3].function, load);
  ck_assert_uint_eq(b->row[3].time, 5);
  ck_assert_uint_eq(b->row[3].own, 5);
  blame_free(b);
}
END_TEST

START_TEST(of_a_pool_each_thread_has_its_part) {
  uint32_t a = story_add_thread(s, 50, "pool"), b = story_add_thread(s, 51, "pool");
  s->threads[a].is_pool = s->threads[b].is_pool = true;
  uint32_t f = story_add_future(s, get, NONE, NONE, 0),
           g = story_add_future(s, load, NONE, NONE, 0);
  uint32_t h = story_add_future(s, hog, NONE, NONE, 0);
  add_held(s, g, load, 0, 100, a);
  add_held(s, h, hog, 0, 60, b);
  add_queued(s, f, get, 40, 100, b);
  add_held(s, f, get, 100, 110, b);
  story_finish(s);
  struct blamed *all = blame_all(s, NULL, false);
  ck_assert_uint_eq(all->time, 60);
  ck_assert_uint_eq(all->rows, 3);
  ck_assert_uint_eq(all->row[0].function, load);
  ck_assert_uint_eq(all->row[0].time, 30);
  ck_assert_int_eq(all->row[1].none, BLAME_LOOP); /* thread 51, from 60 on */
  ck_assert_uint_eq(all->row[1].time, 20);
  ck_assert_uint_eq(all->row[2].function, hog);
  ck_assert_uint_eq(all->row[2].time, 10);
  blame_free(all);
}
END_TEST

START_TEST(of_requests_only_until_their_end) {
  uint32_t r = story_add_request(s, NULL, "get", 0, 40),
           partial = story_add_request(s, NULL, "get", 50, 60);
  uint32_t f = story_add_future(s, get, r, NONE, 0),
           g = story_add_future(s, get, partial, NONE, 50);
  s->requests[partial].whole = 0;
  add_queued(s, f, get, 0, 10, loop);
  add_ran(s, f, get, 10, 40, loop);
  add_queued(s, f, get, 35, 70, loop);
  add_queued(s, g, get, 50, 60, loop);
  story_finish(s);
  struct slowest *all = slowest_find(s, &(struct slowest_filter){0});
  struct blamed *b = blame_all(s, all, false);
  ck_assert_uint_eq(b->time, s->requests[r].queued);
  ck_assert_uint_eq(b->time, 15);
  blame_free(b);
  slowest_free(all);
}
END_TEST

/* -- whatever there may be ------------------------------------------------------------- */

static uint32_t any(uint32_t below) {
  return (uint32_t)rand() % below;
}

/* Segments, wakers and creators at random: nonsense, too, which damaged recordings hold. */
static void make_any(uint32_t requests, uint32_t futures) {
  for (uint32_t i = 0; i < requests; i++)
    story_add_request(s, NULL, "get", any(100), 100 + any(400));
  for (uint32_t i = 0; i < futures; i++) {
    uint64_t at = any(300);
    uint32_t f =
        story_add_future(s, any(2) ? get : hog, any(requests), any(3) ? any(futures) : NONE, at);
    for (int j = any(8); j > 0; j--) {
      uint64_t end = at + any(60);
      uint32_t n = story_add_segment(s, f, any(4), any(2) ? pool : load, at, end);
      s->segments[n].thread = any(3) ? loop : NONE;
      s->segments[n].waker = any(4) ? any(futures) : NONE;
      if (s->segments[n].what == STORY_EXEC && end > at && s->segments[n].thread == loop)
        story_add_slice(s, loop, f, at, end);
      at = end;
    }
    story_end_future(s, f, at, STORY_DONE);
  }
  story_finish(s);
}

START_TEST(each_moment_is_in_one_piece) {
  srand((unsigned)_i);
  make_any(1 + any(3), 1 + any(30));
  struct critical *c = critical_new(s);
  for (uint32_t i = 0; i < s->requests_count; i++) {
    size_t pieces;
    const struct critical_piece *p = critical_path(c, &s->requests[i], &pieces);
    uint64_t at = s->requests[i].begin;
    for (size_t j = 0; j < pieces; j++) {
      ck_assert_uint_eq(p[j].begin, at);
      ck_assert_uint_gt(p[j].end, at);
      at = p[j].end;
    }
    ck_assert_uint_eq(at, s->requests[i].end);
  }
  critical_free(c);
  struct blamed *b = blame_all(s, NULL, false);
  uint64_t queued = 0, blamed = 0, polled = 0, victims = 0;
  for (uint32_t i = 0; i < s->segments_count; i++)
    queued += s->segments[i].what == STORY_QUEUED ? s->segments[i].end - s->segments[i].begin : 0;
  for (size_t i = 0; i < b->rows; i++) {
    blamed += b->row[i].time;
    polled += b->row[i].polled;
    for (size_t j = 0; j < b->row[i].victims; j++)
      victims += b->row[i].victim[j].time;
  }
  ck_assert_uint_eq(b->time, queued);
  ck_assert_uint_eq(blamed, queued);
  ck_assert_uint_eq(b->polled, polled);
  ck_assert_uint_eq(victims, queued + polled);
  blame_free(b);
}
END_TEST

/* -- many slices ----------------------------------------------------------------------- */

struct naive {
  struct blame_row *row; /* by path of the function */
  struct blame_sum *sum;
  uint64_t *last;
  uint32_t *function;
  const struct story_segment *segment;
  uint64_t stretch;
};

static void add_naive(const struct blame_part *part, void *context) {
  struct naive *n = context;
  if (!part->slice)
    return;
  uint32_t function =
      part->slices > 1 ? part->function : n->function[s->futures[part->slice->future].path];
  n->sum[function].time += part->time;
  n->sum[function].count += part->count;
  if (part->slices > 1)
    return;
  struct blame_row *r = &n->row[function];
  uint32_t request = s->futures[n->segment->future].request;
  uint64_t length = part->slice->end - part->slice->begin;
  r->time += part->time;
  r->own += request != NONE && s->futures[part->slice->future].request == request ? part->time : 0;
  r->longest = length > r->longest ? length : r->longest;
  r->count += n->last[function] != n->stretch;
  n->last[function] = n->stretch;
  blame_add_held(s, part->slice->thread, part->begin, part->end, part->time, &r->held);
}

/* One after the other, on a loop and on two threads of a pool, which go on and off a processor. */
static void make_many(uint32_t functions) {
  enum { FUTURES = 80, SLICES = 500, QUEUED = 60 };
  struct story_kernel *k = &s->kernel;
  uint64_t end = 0;
  for (int i = 0; i < 2; i++)
    s->threads[story_add_thread(s, 50 + i, "pool")].is_pool = true;
  for (uint32_t i = 0; i < 4; i++)
    story_add_request(s, NULL, "get", 0, 100000);
  for (uint32_t i = 0; i < functions; i++)
    story_add_path(s, get, STORY_FUNCTION, "some", "some.c", 10 + any(functions));
  for (uint32_t i = 0; i < FUTURES; i++)
    story_add_future(s, any(3) ? s->paths_count - 1 - any(functions) : hog, any(3) ? any(4) : NONE,
                     NONE, 0);
  k->switches = reallocate(NULL, s->threads_count * SLICES, sizeof *k->switches);
  k->has_switches = true;
  for (uint32_t thread = 0; thread < s->threads_count; thread++) {
    uint64_t at = 0, switched = 0;
    for (int i = 0; i < SLICES; i++) {
      uint64_t begin = at + any(3) * any(10);
      at = begin + any(20);
      story_add_slice(s, thread, any(FUTURES), begin, at);
      switched += any(20);
      k->switches[k->switches_count++] =
          (struct story_switch){.at = switched, .thread = thread, .to = any(4)};
    }
    end = at > end ? at : end;
  }
  for (int i = 0; i < QUEUED; i++) {
    uint64_t begin = any((uint32_t)end);
    add_queued(s, any(FUTURES), get, begin, begin + 1 + any((uint32_t)end), any(s->threads_count));
  }
  story_finish(s);
}

START_TEST(whole_blocks_are_to_blame_as_their_slices_are) {
  srand((unsigned)_i);
  make_many(1 + any(_i % 2 ? 5 : 60));
  struct blame_sums *sums = blame_sums_new(s, false);
  struct naive n = {.function = sums->function}, blocks = {.function = sums->function};
  for (struct naive *x = &n; x; x = x == &n ? &blocks : NULL) {
    x->row = allocate(s->paths_count, sizeof *x->row);
    x->sum = allocate(s->paths_count, sizeof *x->sum);
    x->last = allocate(s->paths_count, sizeof *x->last);
    for (uint32_t i = 0; i < s->segments_count; i++) {
      x->segment = &s->segments[i];
      x->stretch++;
      if (x->segment->what == STORY_QUEUED)
        blame_stretch(s, x == &n ? NULL : sums, x->segment->thread, x->segment->begin,
                      x->segment->end, add_naive, x);
    }
  }
  for (uint32_t i = 0; i < s->paths_count; i++) {
    ck_assert_uint_eq(n.sum[i].time, blocks.sum[i].time);
    ck_assert_uint_eq(n.sum[i].count, blocks.sum[i].count);
  }
  struct blamed *b = blame_all(s, NULL, false);
  uint64_t rows = 0;
  for (size_t i = 0; i < b->rows; i++) {
    const struct blame_row *is = &b->row[i];
    if (is->function == NONE)
      continue;
    const struct blame_row *meant = &n.row[is->function];
    rows++;
    ck_assert_uint_eq(is->time, meant->time);
    ck_assert_uint_eq(is->own, meant->own);
    ck_assert_uint_eq(is->count, meant->count);
    ck_assert_uint_eq(is->longest, meant->longest);
    ck_assert_uint_eq(is->held.on, meant->held.on);
    ck_assert_uint_eq(is->held.preempted, meant->held.preempted);
    ck_assert_uint_eq(is->held.blocked, meant->held.blocked);
    ck_assert_uint_eq(is->held.unknown, meant->held.unknown);
  }
  for (uint32_t i = 0; i < s->paths_count; i++)
    rows -= n.row[i].count != 0;
  ck_assert_uint_eq(rows, 0);
  blame_free(b);
  blame_sums_free(sums);
  for (struct naive *x = &n; x; x = x == &n ? &blocks : NULL) {
    free(x->row);
    free(x->sum);
    free(x->last);
  }
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("critical");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_wait_is_what_the_member_did_that_ended_it);
  tcase_add_test(tests, one_put_aside_is_what_ran_on_its_stack);
  tcase_add_test(tests, before_its_birth_its_creator_acted);
  tcase_add_test(tests, it_goes_back_from_who_ran_last);
  tcase_add_test(tests, what_is_not_known_of_a_wait_is_its_own);
  tcase_add_test(tests, what_nobody_was_seen_to_do_is_said);
  tcase_add_test(tests, what_a_poller_made_ready_is_queued_since_it_returned);
  tcase_add_test(tests, queued_time_is_whose_who_held_the_loop);
  tcase_add_test(tests, of_a_pool_each_thread_has_its_part);
  tcase_add_test(tests, of_requests_only_until_their_end);
  tcase_add_loop_test(tests, each_moment_is_in_one_piece, 0, 200);
  tcase_add_loop_test(tests, whole_blocks_are_to_blame_as_their_slices_are, 0, 20);
  return suite_run("critical", tests);
}
