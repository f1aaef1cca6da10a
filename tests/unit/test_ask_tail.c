/* SPDX-License-Identifier: MIT */
/* Slow requests, what differs in them, and what if: ask/slowest.c, tail.c, what-if.c, by hand. */
#include "ask/blame.h"
#include "ask/tail.h"
#include "ask/what-if.h"
#include "read/view.h"
#include "story.h"
#include "suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct story *s;
static uint32_t loop, get, pool, query, retry, fill, block, hog;
static uint64_t now;

static void setup(void) {
  s = story_new();
  now = 0;
  loop = story_add_thread(s, 42, "loop");
  get = story_add_path(s, NONE, STORY_FUNCTION, "get", "item.c", 5);
  pool = story_add_path(s, get, STORY_AWAIT, "pool_get", "/src/db.c", 77);
  query = story_add_path(s, get, STORY_AWAIT, "db_query", "/src/db.c", 91);
  fill = story_add_path(s, get, STORY_FUNCTION, "fill", "cache.c", 8);
  block = story_add_path(s, fill, STORY_AWAIT, "read_block", "cache.c", 12);
  retry = story_add_path(s, fill, STORY_AWAIT, "sleep_ms", "cache.c", 15);
  hog = story_add_path(s, NONE, STORY_FUNCTION, "hog", "hog.c", 3);
}

static void teardown(void) {
  story_free(s);
}

/* The next request: queued so long behind a hog, then so long in each of these waits, 10 ns of
   running before each and at the end; 100 ns after the one before. */
struct wait {
  uint32_t path;
  uint64_t time;
};
static uint32_t add_get(uint64_t queued, const struct wait *wait, size_t waits) {
  uint32_t r = story_add_request(s, "GET", "get", now, 0);
  uint32_t f = story_add_future(s, get, r, NONE, now);
  if (queued) {
    uint32_t h = story_add_future(s, hog, NONE, NONE, now);
    add_held(s, h, hog, now, now + queued, loop);
    add_queued(s, f, get, now, now + queued, loop);
    now += queued;
  }
  for (size_t i = 0; i <= waits; i++) {
    add_held(s, f, get, now, now + 10, loop);
    now += 10;
    if (i < waits)
      add_waited(s, f, wait[i].path, now, now + wait[i].time, NONE);
    now += i < waits ? wait[i].time : 0;
  }
  story_end_future(s, f, now, STORY_DONE);
  s->requests[r].end = now;
  now += 100;
  return r;
}
#define ADD(queued, ...)                                                                           \
  add_get(queued, (const struct wait[]){__VA_ARGS__},                                              \
          sizeof(struct wait[]){__VA_ARGS__} / sizeof(struct wait))

static struct slowest *all;
static struct critical *critical;

static struct tail *tail_of_all(const struct slowest_filter *f) {
  story_finish(s);
  all = slowest_find(s, f);
  ck_assert_ptr_nonnull(all);
  ck_assert_uint_eq(all->kinds, 1);
  critical = critical_new(s);
  struct tail *t = tail_of(s, critical, &all->kind[0]);
  /* Whatever it is of, the rows are all of it. */
  for (int side = 0; side < TAIL_SIDES; side++) {
    uint64_t sum = 0;
    for (size_t i = 0; i < t->rows; i++)
      sum += t->row[i].time[side];
    ck_assert_uint_eq(sum, t->wall[side]);
  }
  return t;
}

static void release(struct tail *t) {
  tail_free(t);
  critical_free(critical);
  slowest_free(all);
}

/* -- which are slow -------------------------------------------------------------------- */

START_TEST(the_slowest_are_a_share_or_over) {
  for (int i = 1; i <= 40; i++)
    ADD(0, {pool, (uint64_t)i * 100});
  uint32_t cut = story_add_request(s, "GET", "get", now, now + 99999);
  s->requests[cut].whole = 0;
  story_add_request(s, "POST", "post", now + 1, now + 2);
  story_finish(s);
  all = slowest_find(s, &(struct slowest_filter){.kind = "G*"});
  ck_assert_uint_eq(all->kinds, 1);
  ck_assert_uint_eq(all->kind[0].count, 40);
  ck_assert_uint_eq(all->kind[0].slow, 2);
  ck_assert_uint_eq(all->kind[0].partial, 1);
  ck_assert_uint_eq(all->kind[0].threshold, 3920);
  ck_assert_uint_eq(slowest_wall(all->kind[0].request[0]), 4020);
  ck_assert_uint_eq(slowest_percentile(&all->kind[0], 50), 2020);
  ck_assert_uint_eq(slowest_percentile(&all->kind[0], 95), 3820);
  ck_assert_uint_eq(all->kind[0].slow_wall, 4020 + 3920);
  slowest_free(all);
  all = slowest_find(s, &(struct slowest_filter){.over = 3620});
  ck_assert_uint_eq(all->kinds, 2);
  ck_assert_uint_eq(all->kind[0].slow, 5);
  ck_assert_uint_eq(all->kind[1].slow, 0);
  slowest_free(all);
  all = slowest_find(s, &(struct slowest_filter){.percent = 50});
  ck_assert_uint_eq(all->kind[0].slow, 20);
  slowest_free(all);
  ck_assert_ptr_null(slowest_find(s, &(struct slowest_filter){.kind = "PUT"}));
}
END_TEST

/* -- who came by ----------------------------------------------------------------------- */

START_TEST(who_came_by_a_place_against_who_did_not) {
  static const char texts[] = "\0db.c:77\0/src/db.c:77";
  uint32_t cold = story_add_probe(s, texts, sizeof texts);
  uint64_t between = 0;
  for (int i = 0; i < 12; i++) {
    bool came = i % 3 == 1;
    /* In one thread's order, at the first and at the last ns that it runs; not when it waits. */
    if (came)
      story_add_hit(s, cold, 42, now + (i % 2 ? 0 : 10 + 500 + 9));
    else
      story_add_hit(s, cold, 42, now + 10);
    between = now + 10 + (came ? 500 : 50) + 10;
    ADD(0, {pool, came ? 500 : 50});
    story_add_hit(s, cold, 42, between);
  }
  story_add_hit(s, cold, 43, 5); /* a thread that has had no event */
  struct tail *t = tail_of_all(&(struct slowest_filter){.by = "db.c:77"});
  ck_assert_uint_eq(t->count[TAIL_SLOW], 4);
  ck_assert_uint_eq(t->count[TAIL_REST], 8);
  ck_assert_uint_eq(t->wall[TAIL_SLOW], 4 * 520);
  ck_assert_uint_eq(t->cause.row->path, pool);
  release(t);
  for (uint32_t i = 0; i < s->hits_count; i++) {
    bool came = i % 2 == 0 && i < 24 && i / 2 % 3 == 1;
    ck_assert_int_eq(s->hits[i].segment != NONE, came);
    ck_assert(s->hits[i].seen);
  }
  ck_assert_ptr_null(slowest_find(s, &(struct slowest_filter){.by = "b.c:77"}));
  ck_assert_ptr_null(slowest_find(s, &(struct slowest_filter){.by = "db.c:7"}));
}
END_TEST

START_TEST(who_came_by_is_marked) {
  static const char cold[] = "cold\0db.c:77", late[] = "late\0db.c:91", none[] = "\0get";
  uint32_t one = story_add_probe(s, cold, sizeof cold), two = story_add_probe(s, late, sizeof late),
           three = story_add_probe(s, none, sizeof none);
  for (int i = 0; i < 4; i++) {
    if (i & 1)
      story_add_hit(s, one, 42, now);
    if (i & 2)
      story_add_hit(s, two, 42, now);
    story_add_hit(s, three, 42, now);
    ADD(0, {pool, 50});
  }
  ck_assert_uint_eq(story_add_probe(s, "no end", 3), NONE);
  story_finish(s);
  ck_assert_str_eq(s->requests[0].kind, "GET");
  ck_assert_str_eq(s->requests[1].kind, "GET +cold");
  ck_assert_str_eq(s->requests[2].kind, "GET +late");
  ck_assert_str_eq(s->requests[3].kind, "GET +cold +late");
}
END_TEST

/* -- what differs ---------------------------------------------------------------------- */

START_TEST(a_pool_that_is_too_small) {
  for (int i = 0; i < 19; i++)
    ADD(0, {pool, 10}, {query, 100});
  ADD(50, {pool, 1010}, {query, 200});
  struct tail *t = tail_of_all(&(struct slowest_filter){0});
  ck_assert_uint_eq(t->count[TAIL_SLOW], 1);
  ck_assert_uint_eq(t->count[TAIL_REST], 19);
  ck_assert_uint_eq(t->wall[TAIL_SLOW], 1290);
  ck_assert_double_eq_tol(tail_more(t, t->wall), 1290 - 140, 1e-6);
  ck_assert_uint_eq(t->rows, 4);
  ck_assert_uint_eq(t->row[0].path, pool);
  ck_assert_int_eq(t->row[0].what, CRITICAL_WAITING);
  ck_assert_double_eq_tol(tail_more(t, t->row[0].time), 1000, 1e-6);
  ck_assert_uint_eq(t->row[1].path, query);
  ck_assert_double_eq_tol(tail_more(t, t->row[1].time), 100, 1e-6);
  ck_assert_int_eq(t->row[2].what, CRITICAL_QUEUED);
  ck_assert_uint_eq(t->row[2].path, hog);
  ck_assert_double_eq_tol(tail_more(t, t->row[2].time), 50, 1e-6);
  ck_assert_int_eq(t->row[3].what, CRITICAL_EXEC);
  ck_assert_double_eq_tol(tail_more(t, t->row[3].time), 0, 1e-6);
  ck_assert_ptr_eq(t->cause.row, &t->row[0]);
  ck_assert_int_eq(t->cause.how, TAIL_LONGER);
  release(t);
}
END_TEST

START_TEST(a_hog_among_neighbours) {
  for (int i = 0; i < 19; i++)
    ADD(10, {query, 100});
  ADD(2000, {query, 100});
  struct tail *t = tail_of_all(&(struct slowest_filter){0});
  ck_assert_int_eq(t->cause.row->what, CRITICAL_QUEUED);
  ck_assert_uint_eq(t->cause.row->path, hog);
  ck_assert_double_eq_tol(t->cause.more, 1990, 1e-6);
  release(t);
}
END_TEST

START_TEST(a_cold_cache) {
  for (int i = 0; i < 18; i++)
    ADD(0, {query, 100});
  ADD(0, {query, 100}, {block, 400});
  ADD(0, {query, 100}, {block, 500});
  struct tail *t = tail_of_all(&(struct slowest_filter){.percent = 10});
  ck_assert_uint_eq(t->cause.row->path, block);
  ck_assert_int_eq(t->cause.how, TAIL_ONLY);
  ck_assert_uint_eq(t->cause.row->requests[TAIL_SLOW], 2);
  ck_assert_uint_eq(t->cause.row->requests[TAIL_REST], 0);
  release(t);
}
END_TEST

START_TEST(a_storm_of_retries) {
  for (int i = 0; i < 19; i++)
    ADD(0, {query, 100});
  ADD(0, {query, 100}, {query, 110}, {query, 90}, {query, 100}, {query, 100});
  struct tail *t = tail_of_all(&(struct slowest_filter){0});
  ck_assert_uint_eq(t->cause.row->path, query);
  ck_assert_int_eq(t->cause.how, TAIL_OFTENER);
  ck_assert_uint_eq(t->cause.row->times[TAIL_SLOW], 5);
  ck_assert_uint_eq(t->cause.row->times[TAIL_REST], 19);
  release(t);
}
END_TEST

/* One function, called at two places, neither of which makes most of it. */
START_TEST(what_is_called_at_two_places_is_one_cause) {
  uint32_t again = story_add_path(s, get, STORY_AWAIT, "db_query", "/src/db.c", 99);
  for (int i = 0; i < 19; i++)
    ADD(0, {query, 100});
  ADD(0, {query, 195}, {again, 50}, {again, 55}, {block, 100});
  struct tail *t = tail_of_all(&(struct slowest_filter){0});
  ck_assert_uint_eq(t->cause.row->path, again);
  ck_assert_uint_eq(t->cause.places, 2);
  ck_assert_uint_eq(t->cause.apart, 0);
  ck_assert_double_eq_tol(t->cause.more, 200, 1e-6);
  ck_assert_int_eq(t->cause.how, TAIL_OFTENER);
  ck_assert_uint_eq(t->cause.all.times[TAIL_SLOW], 3);
  release(t);
}
END_TEST

/* A library's function means another thing at each place: one that makes most of it stands alone.
 */
START_TEST(one_place_that_makes_most_is_the_cause) {
  uint32_t again = story_add_path(s, get, STORY_AWAIT, "db_query", "/src/db.c", 99);
  for (int i = 0; i < 19; i++)
    ADD(0, {query, 100});
  ADD(0, {query, 110}, {again, 100}, {again, 100}, {block, 100});
  struct tail *t = tail_of_all(&(struct slowest_filter){0});
  ck_assert_uint_eq(t->cause.row->path, again);
  ck_assert_uint_eq(t->cause.places, 1);
  ck_assert_uint_eq(t->cause.apart, 1);
  ck_assert_double_eq_tol(t->cause.more, 200, 1e-6);
  ck_assert_int_eq(t->cause.how, TAIL_ONLY);
  release(t);
}
END_TEST

/* No wait has half of it: the function that these are beneath does. */
START_TEST(what_is_spread_is_where_it_comes_together) {
  for (int i = 0; i < 19; i++)
    ADD(0, {query, 100}, {block, 10}, {retry, 10});
  ADD(0, {query, 300}, {block, 310}, {retry, 310});
  struct tail *t = tail_of_all(&(struct slowest_filter){0});
  ck_assert_ptr_null(t->cause.row);
  ck_assert_uint_eq(t->cause.path, fill);
  ck_assert_double_eq_tol(t->cause.more, 600, 1e-6);
  release(t);
}
END_TEST

START_TEST(without_a_rest_there_is_no_cause) {
  ADD(0, {query, 100});
  struct tail *t = tail_of_all(&(struct slowest_filter){.over = 1});
  ck_assert_uint_eq(t->count[TAIL_REST], 0);
  ck_assert_double_eq_tol(tail_more(t, t->wall), 120, 1e-6);
  release(t);
  t = tail_of_all(&(struct slowest_filter){.over = 1000});
  ck_assert_uint_eq(t->count[TAIL_SLOW], 0);
  ck_assert_ptr_null(t->cause.row);
  release(t);
}
END_TEST

/* -- what if --------------------------------------------------------------------------- */

static struct what_if_kind *replay(const char *text) {
  struct what_if w = {0};
  ck_assert_ptr_null(what_if_take(&w, text));
  story_finish(s);
  all = slowest_find(s, &(struct slowest_filter){0});
  return what_if_replay(s, all, &w);
}

START_TEST(half_a_wait_is_half_a_wait) {
  for (int i = 0; i < 20; i++)
    ADD(i % 2 ? 30 : 0, {pool, 1000}, {query, 100});
  const char *names[] = {"pool_get=0.5", "pool_get=50%", "db.c:77=0.5", "get > pool_get=0.5"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct what_if_kind *k = replay(names[i]);
    ck_assert_ptr_nonnull(k);
    for (int run = 0; run < WHAT_IF_RUNS; run++) {
      double less = run == WHAT_IF_CHANGED ? 500 : 0;
      ck_assert_double_eq_tol((double)k->run[run].p50, 1130 - less, 1e-6);
      ck_assert_double_eq_tol((double)k->run[run].p95, 1160 - less, 1e-6);
      ck_assert_double_eq_tol(k->run[run].mean, 1145 - less, 1e-6);
      ck_assert_double_eq_tol(k->run[run].busy, 30, 1e-6);
      ck_assert_double_eq_tol(k->run[run].queued, 15, 1e-6);
    }
    free(k);
    slowest_free(all);
  }
}
END_TEST

/* Two at once: the second one is queued behind the first, less if that runs half as long, and what
   both call is theirs. */
START_TEST(who_runs_less_delays_less) {
  uint32_t render = story_add_path(s, get, STORY_SPAN, "render", "item.c", 30);
  uint32_t a = story_add_request(s, "GET", "get", 0, 100),
           b = story_add_request(s, "GET", "get", 10, 200);
  uint32_t f = story_add_future(s, get, a, NONE, 0), g = story_add_future(s, get, b, NONE, 10);
  add_ran(s, f, get, 0, 20, loop);
  add_ran(s, f, render, 20, 100, loop);
  add_queued(s, g, get, 10, 100, loop);
  add_ran(s, g, render, 100, 200, loop);
  story_add_slice(s, loop, f, 0, 100);
  story_add_slice(s, loop, g, 100, 200);
  struct what_if_kind *k = replay("render=0.5");
  ck_assert_double_eq_tol(k->run[WHAT_IF_REPLAYED].mean, (100 + 190) / 2., 1e-6);
  /* 20 + 40, and 60 - 10 queued + 50. */
  ck_assert_double_eq_tol(k->run[WHAT_IF_CHANGED].mean, (60 + 100) / 2., 1e-6);
  ck_assert_double_eq_tol(k->run[WHAT_IF_CHANGED].queued, 50 / 2., 1e-6);
  ck_assert_double_eq_tol(k->run[WHAT_IF_CHANGED].busy, (60 + 50) / 2., 1e-6);
  free(k);
  slowest_free(all);
}
END_TEST

/* What of a queue is the loop's own is so when it was; what others ran is in the queue, in its
   order. */
START_TEST(others_stay_in_the_queue) {
  uint32_t r = story_add_request(s, "GET", "get", 0, 100);
  uint32_t f = story_add_future(s, get, r, NONE, 0);
  uint32_t h = story_add_future(s, hog, NONE, NONE, 0), i = story_add_future(s, hog, NONE, NONE, 0);
  add_held(s, f, get, 0, 10, loop);
  add_waited(s, f, query, 10, 30, NONE);
  add_queued(s, f, query, 30, 75, loop);
  add_held(s, h, hog, 12, 50, loop);
  add_queued(s, i, hog, 25, 52, loop);
  add_held(s, i, hog, 52, 70, loop);
  add_held(s, f, get, 75, 100, loop);
  struct what_if_kind *k = replay("db_query=0.5");
  ck_assert_double_eq_tol(k->run[WHAT_IF_REPLAYED].mean, 98,
                          1e-6); /* 2 ns between the hogs are none's */
  /* Ready at 20, before the second hog: it runs at 50, before the loop's own 5 ns. */
  ck_assert_double_eq_tol(k->run[WHAT_IF_CHANGED].mean, 75, 1e-6);
  free(k);
  slowest_free(all);
}
END_TEST

/* The loop stood still from 100 to 400, when three were ready. It does so then, and not whenever
   one of these comes now: that would hold who came before. */
START_TEST(a_loop_stands_still_when_it_did) {
  for (unsigned i = 0; i < 3; i++) {
    uint32_t r = story_add_request(s, "GET", "get", 0, 420 + 20 * i);
    uint32_t f = story_add_future(s, get, r, NONE, 0);
    add_waited(s, f, query, 0, 100 + 50 * i, NONE);
    add_queued(s, f, query, 100 + 50 * i, 400 + 20 * i, loop);
    add_held(s, f, get, 400 + 20 * i, 420 + 20 * i, loop);
  }
  uint32_t r = story_add_request(s, "GET", "get", 0, 80);
  uint32_t f = story_add_future(s, get, r, NONE, 0);
  add_waited(s, f, pool, 0, 60, NONE);
  add_held(s, f, get, 60, 80, loop);
  struct what_if_kind *k = replay("db_query=0.4");
  ck_assert_double_eq_tol(k->run[WHAT_IF_REPLAYED].mean, (420 + 440 + 460 + 80) / 4., 1e-6);
  /* Now one of the three runs at 40, and the last one still at 60. */
  ck_assert(k->run[WHAT_IF_CHANGED].mean < (420 + 440 + 460 + 80) / 4.);
  free(k);
  slowest_free(all);
}
END_TEST

START_TEST(what_it_is_given_has_to_be_there) {
  struct what_if w = {0};
  const char *bad[] = {
      "pool_get", "=0.5", "pool_get=", "pool_get=-1", "pool_get=fast", "pool_get=50ms"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char *fault = what_if_take(&w, bad[i]);
    ck_assert_ptr_nonnull(fault);
    free(fault);
  }
  ck_assert_uint_eq(w.count, 0);
  ADD(0, {query, 100});
  ck_assert_ptr_null(replay("nothing=0.5"));
  slowest_free(all);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("tail");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, the_slowest_are_a_share_or_over);
  tcase_add_test(tests, who_came_by_a_place_against_who_did_not);
  tcase_add_test(tests, who_came_by_is_marked);
  tcase_add_test(tests, a_pool_that_is_too_small);
  tcase_add_test(tests, a_hog_among_neighbours);
  tcase_add_test(tests, a_cold_cache);
  tcase_add_test(tests, a_storm_of_retries);
  tcase_add_test(tests, what_is_called_at_two_places_is_one_cause);
  tcase_add_test(tests, one_place_that_makes_most_is_the_cause);
  tcase_add_test(tests, what_is_spread_is_where_it_comes_together);
  tcase_add_test(tests, without_a_rest_there_is_no_cause);
  tcase_add_test(tests, half_a_wait_is_half_a_wait);
  tcase_add_test(tests, who_runs_less_delays_less);
  tcase_add_test(tests, others_stay_in_the_queue);
  tcase_add_test(tests, a_loop_stands_still_when_it_did);
  tcase_add_test(tests, what_it_is_given_has_to_be_there);
  return suite_run("tail", tests);
}
