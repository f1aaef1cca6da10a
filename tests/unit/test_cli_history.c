/* SPDX-License-Identifier: MIT */
/* A profile followed, and windows over its readings: read/follow.c, kept.c, history.c, copy.c. */
#include "read/follow.h"
#include "read/history.h"
#include "show/top.h"
#include "shown.h"
#include "suite.h"
#include "synthetic.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND ((uint64_t)1000000000)
enum { PLENTY = 1 << 30 };

/* -- readings made by hand ---------------------------------------------------------- */

static struct bucket *buckets_of(struct view *v, uint64_t few, uint64_t many) {
  struct bucket *b = arena_get(&v->arena, 2, sizeof *b);
  b[0] = (struct bucket){.lower = 1024, .count = few};
  b[1] = (struct bucket){.lower = 1 << 20, .count = many};
  return b;
}

/* `serve' ends ten times a second, for 100 ms of exec; since `slow' s each run is long. */
static struct view *at_second(uint64_t second, uint64_t slow) {
  struct view *v = view_new("made");
  uint64_t done = 10 * second, late = second > slow ? 10 * (second - slow) : 0;
  v->process = (struct view_process){.pid = 7,
                                     .name = "made",
                                     .host = "here",
                                     .started_at = "2026-01-01T00:00:00Z",
                                     .reason = "request",
                                     .elapsed = second * SECOND,
                                     .reset = UNKNOWN};
  v->function = arena_get(&v->arena, v->functions = 1, sizeof *v->function);
  v->function[0] = (struct view_function){
      .process = UNKNOWN,
      .name = "serve",
      .created = done,
      .done = done,
      .slices = done,
      .exec = second * SECOND / 10,
      .exec_max = late ? 1100000 : 1100,
      .slice_max = late ? 1100000 : 1100,
      .exec_of = {.bucket = buckets_of(v, done - late, late), .count = 2, .p99 = 1100}};
  view_settle(v);
  return v;
}

static struct history *seconds(uint64_t from, uint64_t to, uint64_t longest, size_t memory) {
  struct history *h = history_new(longest, memory);
  for (uint64_t i = from; i <= to; i++)
    history_add(h, at_second(i, UINT64_MAX));
  return h;
}

static uint64_t window_of(const struct history *h, uint64_t s) {
  struct view *v = history_window(h, s * SECOND);
  uint64_t elapsed = v ? v->process.elapsed : 0;
  if (v)
    ck_assert_uint_eq(v->function[0].done, 10 * elapsed / SECOND);
  view_free(v);
  return elapsed / SECOND;
}

START_TEST(a_window_is_a_difference) {
  struct history *h = seconds(1, 100, 65 * SECOND, PLENTY);
  struct view *v = history_window(h, 10 * SECOND);
  ck_assert_ptr_nonnull(v);
  ck_assert(v->is_interval);
  ck_assert_uint_eq(v->process.elapsed, 10 * SECOND);
  ck_assert_uint_eq(v->function[0].done, 100);
  ck_assert_uint_eq(v->function[0].exec, SECOND);
  ck_assert_uint_eq(v->function[0].exec_max, UNKNOWN);
  view_free(v);
  ck_assert_uint_eq(history_now(h)->function[0].done, 1000);
  history_free(h);
}
END_TEST

START_TEST(percentiles_are_of_the_window) {
  struct history *h = history_new(65 * SECOND, PLENTY);
  for (uint64_t i = 1; i <= 40; i++)
    history_add(h, at_second(i, 35));
  struct view *v = history_window(h, 3 * SECOND);
  ck_assert_uint_eq(v->function[0].exec_of.count, 1);
  ck_assert_uint_ge(v->function[0].exec_of.p50, 1 << 20);
  ck_assert_uint_eq(v->function[0].exec_max, UNKNOWN);
  ck_assert_uint_ge(v->function[0].exec_of.max, 1 << 20); /* the edge of the highest that grew */
  view_free(v);
  history_free(h);
}
END_TEST

START_TEST(old_readings_are_further_apart) {
  struct history *h = seconds(1, 20000, 10800 * SECOND, PLENTY);
  ck_assert_uint_eq(window_of(h, 3), 3);
  ck_assert_uint_eq(window_of(h, 10), 10);
  uint64_t minute = window_of(h, 60), ten = window_of(h, 600), hours = window_of(h, 10800);
  ck_assert(minute >= 55 && minute <= 65);
  ck_assert(ten >= 570 && ten <= 630);
  ck_assert(hours >= 10500 && hours <= 11400);
  size_t first = arena_size(&history_now(h)->arena);
  history_free(h);
  /* Memory for twenty of them. */
  h = seconds(1, 20000, 10800 * SECOND, 20 * first);
  ck_assert(window_of(h, 10) >= 5 && window_of(h, 10) <= 40);
  ck_assert(window_of(h, 10800) >= 5400);
  history_free(h);
}
END_TEST

START_TEST(a_young_process_has_no_window) {
  struct history *h = seconds(1, 8, 65 * SECOND, PLENTY);
  ck_assert_uint_eq(window_of(h, 10), 0);
  ck_assert_uint_eq(window_of(h, 5), 5);
  history_free(h);
  h = seconds(500, 504, 65 * SECOND, PLENTY); /* looked at for four seconds only */
  ck_assert_uint_eq(window_of(h, 10), 4);
  history_free(h);
  h = seconds(500, 500, 65 * SECOND, PLENTY);
  ck_assert_uint_eq(window_of(h, 10), 0);
  history_add(h, at_second(500, UINT64_MAX)); /* no time has passed */
  ck_assert_uint_eq(window_of(h, 10), 0);
  size_t count;
  struct view *none = view_between(history_now(h), history_now(h));
  struct finding *findings = ask_findings(none, &ask_defaults, &count);
  ck_assert_uint_eq(count, 0); /* nor is there anything */
  findings_free(findings, count);
  view_free(none);
  history_free(h);
}
END_TEST

/* Number 60 is of another life than those before. */
static void begins_anew(void (*change)(struct view *)) {
  struct history *h = seconds(40, 59, 65 * SECOND, PLENTY);
  ck_assert_uint_eq(window_of(h, 10), 10);
  for (uint64_t i = 60; i <= 62; i++) {
    struct view *v = at_second(i, UINT64_MAX);
    change(v);
    history_add(h, v);
  }
  ck_assert_uint_eq(window_of(h, 10), 2);
  history_free(h);
}

static void of_another(struct view *v) {
  v->process.pid = 8;
}
static void of_another_start(struct view *v) {
  v->process.started_at = "2026-01-01T00:00:40Z";
}
static void after_reset(struct view *v) {
  v->process.reset_epoch = 3;
}
static void in_coarse_time(struct view *v) {
  v->shed = 1u << APROF_STEP_COARSE;
}

START_TEST(another_life_begins_anew) {
  begins_anew(of_another);
  begins_anew(of_another_start);
  begins_anew(after_reset);
  begins_anew(in_coarse_time);
}
END_TEST

/* -- moments ------------------------------------------------------------------------- */

/* Five GETs and a POST end each second, the loop is busy for a quarter of it, and held for long in
   the 95th alone. */
static struct view *with_requests(uint64_t second) {
  struct view *v = at_second(second, UINT64_MAX);
  v->kind = arena_get(&v->arena, v->kinds = 2, sizeof *v->kind);
  v->kind[0] = (struct view_kind){.kind = "GET", .function = "serve", .count = 5 * second};
  v->kind[1] = (struct view_kind){.kind = "POST", .function = "serve", .count = second};
  v->loop = arena_get(&v->arena, v->loops = 1, sizeof *v->loop);
  v->loop[0] = (struct view_loop){.tid = 7,
                                  .name = "loop",
                                  .elapsed = second * SECOND,
                                  .busy = second * SECOND / 4,
                                  .open = UNKNOWN,
                                  .preempted_max = UNKNOWN,
                                  .slice_max = 5000000};
  v->function[0].slice_of = (struct distribution){.bucket = buckets_of(v, second, second >= 95),
                                                  .count = second >= 95 ? 2 : 1};
  v->function[0].slice_max = 5000000; /* of long ago */
  view_settle(v);
  return v;
}

static struct moments moments_of(const struct history *h, uint64_t s, const char *kind) {
  struct moments m = {.range = s * SECOND, .step = s * SECOND / MOMENTS};
  history_moments(h, &m, kind);
  return m;
}

START_TEST(moments_tell_what_went_on) {
  struct history *h = history_new(10800 * SECOND, PLENTY);
  for (uint64_t i = 1; i <= 100; i++)
    history_add(h, with_requests(i));
  struct moments m = moments_of(h, 30, NULL);
  double requests = 0;
  for (size_t i = 0; i < MOMENTS; i++) {
    requests += m.of[i].requests;
    ck_assert_double_eq_tol(m.of[i].busy / m.of[i].elapsed, 0.25, 1e-6);
  }
  ck_assert_double_eq_tol(requests, 180, 1e-6);
  ck_assert_double_eq_tol(moments_of(h, 30, "POST").of[3].requests, 1, 1e-6);
  /* The 95th second is the sixth from the end; others have the edge of their buckets. */
  ck_assert_uint_gt(m.of[MOMENTS - 6].hold, 1 << 20);
  ck_assert_uint_lt(m.of[MOMENTS - 6].hold, 1200000);
  ck_assert_uint_lt(m.of[MOMENTS - 1].hold, 1200);
  /* Nothing is known of before; what is known in part goes on so. */
  m = moments_of(h, 150, NULL);
  ck_assert(m.of[9].covered <= 0 && m.of[10].covered > 0);
  ck_assert_double_eq_tol(m.of[10].requests, 30, 1e-6);
  history_free(h);
}
END_TEST

/* Of a day of readings a second apart as many stay as of three hours. */
START_TEST(memory_is_flat) {
  struct history *h = history_new(10800 * SECOND, PLENTY);
  size_t most[2] = {0, 0};
  for (uint64_t i = 1; i <= 86400; i++) {
    history_add(h, with_requests(i));
    size_t now = history_memory(h);
    size_t *to = &most[i > 4 * 3600];
    *to = now > *to ? now : *to;
  }
  ck_assert_uint_eq(most[0], most[1]);
  ck_assert_uint_lt(most[1], 80 * arena_size(&history_now(h)->arena));
  /* The long hold is not forgotten with the reading that told it. */
  history_free(h);
  h = history_new(10800 * SECOND, PLENTY);
  for (uint64_t i = 1; i <= 900; i++)
    history_add(h, with_requests(i));
  struct moments m = moments_of(h, 900, NULL);
  size_t held = 0;
  for (size_t i = 0; i < MOMENTS; i++)
    held += m.of[i].hold > 1 << 20;
  ck_assert_uint_ge(held, 1);
  ck_assert_uint_le(held, 6); /* readings of then are two minutes apart */
  history_free(h);
}
END_TEST

/* -- holds of a window, as aprof top shows them --------------------------------------- */

/* Loops of 5 ms and 70 us ever, of which none is new. */
static struct view *two_loops(uint64_t second) {
  struct view *v = at_second(second, 0);
  v->loop = arena_get(&v->arena, v->loops = 2, sizeof *v->loop);
  for (size_t i = 0; i < 2; i++)
    v->loop[i] = (struct view_loop){.block = i,
                                    .tid = 7 + (int64_t)i,
                                    .name = "loop",
                                    .busy = UNKNOWN,
                                    .open = UNKNOWN,
                                    .preempted_max = UNKNOWN,
                                    .slice_max = i ? 70000 : 5000000};
  v->function[0].slice_of = v->function[0].exec_of;
  view_settle(v);
  return v;
}

START_TEST(a_hold_that_is_not_new_has_bounds) {
  struct view *begin = two_loops(20), *end = two_loops(30), *between = view_between(end, begin);
  struct top_process p = {.view = between, .whole = end};
  const char *function;
  bool edge;
  uint64_t hold = top_hold(&p, &between->loop[0], &function, &edge);
  ck_assert(edge && hold == between->function[0].slice_of.max && hold < 1200000);
  ck_assert_ptr_null(function); /* it may have been on the other */
  ck_assert_uint_eq(top_hold(&p, &between->loop[1], &function, &edge), 70000);
  ck_assert(edge);
  p.whole = NULL;
  ck_assert_uint_eq(top_hold(&p, &between->loop[1], &function, &edge), UNKNOWN);
  between->loops = 1;
  hold = top_hold(&p, &between->loop[0], &function, &edge);
  ck_assert(edge && hold == between->function[0].slice_of.max);
  ck_assert_str_eq(function, "serve");
  p.view = end;
  ck_assert_uint_eq(top_hold(&p, &end->loop[1], &function, &edge), 70000);
  ck_assert(!edge);
  view_free(between);
  view_free(begin);
  view_free(end);
}
END_TEST

/* -- a profile that goes on ------------------------------------------------------------ */

static struct synthetic *s;
static struct aprof_counters *request, *waits;
static uint16_t *slices, *waited;
static struct aprof_block *block;
static uint32_t function;
enum { START = 1000, NOW = 900000000 };

static void setup(void) {
  s = synthetic_new();
  function = synthetic_site(s, APROF_SITE_FUNCTION, "request", "server.c", 10, 1);
  uint32_t await = synthetic_site(s, APROF_SITE_AWAIT, "read_all", "server.c", 12, 3);
  uint32_t node = synthetic_node(s, 0, function, APROF_NODE_FUNCTION);
  uint32_t await_node = synthetic_node(s, node, await, APROF_NODE_AWAIT);
  block = synthetic_block(s, 1);
  block->state = APROF_THREAD_OTHER;
  block->last = START;
  block->sequence = 2000;
  request = synthetic_counters(s, 1, node);
  request->function.done = request->function.slices = 100;
  request->function.exec = 50000;
  request->function.slice_buckets = synthetic_buckets(s, &slices);
  slices[aprof_bucket_of(500)] = 100;
  waits = synthetic_counters(s, 1, await_node);
  waits->await.count = 100;
  waits->await.waiting = 3000000;
  waits->await.buckets = synthetic_buckets(s, &waited);
  waited[aprof_bucket_of(30000)] = 100;
}

static void teardown(void) {
  free(s);
}

static char *totals_of(struct view *v) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  v->process.dumped_at = NULL;
  totals_write(v, out);
  fclose(out);
  return text;
}

/* Further readings say what a first one would. */
static void same_as_new(struct follow *f, int fd) {
  struct view_request how = {.reason = "request", .at = NOW};
  struct view *mine = follow_view(f, &how, false);
  struct view *other = view_of_profile(fd, "synthetic", PROFILE_LIVE, &how);
  char *a = totals_of(mine), *b = totals_of(other);
  ck_assert_str_eq(a, b);
  struct view *copy = view_copy(mine);
  char *c = totals_of(copy);
  ck_assert_str_eq(c, a);
  view_free(copy);
  view_free(mine);
  view_free(other);
  free(a);
  free(b);
  free(c);
}

static void write_again(int fd) {
  block->sequence += 2;
  ck_assert_int_eq(pwrite(fd, s->bytes, s->header->used, 0), (ssize_t)s->header->used);
}

START_TEST(a_profile_is_followed) {
  int fd = synthetic_file(s, s->header->used);
  struct follow *f = follow_new(fd, "synthetic");
  ck_assert_ptr_nonnull(f);
  same_as_new(f, fd);
  same_as_new(f, fd);
  slices[aprof_bucket_of(7000)] = 3; /* a histogram of two moves */
  request->function.done = request->function.slices = 103;
  request->function.exec += 21000;
  write_again(fd);
  same_as_new(f, fd);
  waited[aprof_bucket_of(90000)] = 9;
  waits->await.count = 109;
  write_again(fd);
  same_as_new(f, fd);
  uint32_t site = synthetic_site(s, APROF_SITE_FUNCTION, "other", "other.c", 3, 1);
  uint32_t node = synthetic_node(s, 0, site, APROF_NODE_FUNCTION);
  struct aprof_counters *other = synthetic_counters(s, 1, node);
  other->function.done = other->function.slices = 5;
  other->function.slice_buckets = synthetic_buckets(s, &waited);
  waited[aprof_bucket_of(77)] = 5;
  write_again(fd);
  same_as_new(f, fd);
  follow_free(f);
  close(fd);
}
END_TEST

START_TEST(an_ended_process_is_read_to_its_end) {
  int fd = synthetic_file(s, s->header->used);
  struct follow *f = follow_new(fd, "synthetic");
  struct view_request how = {.reason = "request"};
  struct view *live = follow_view(f, &how, false);
  uint64_t lived = live->process.elapsed;
  ck_assert_uint_gt(lived, 0);
  view_free(live);
  request->function.done = 111;
  ck_assert_int_eq(pwrite(fd, s->bytes, s->header->used, 0), (ssize_t)s->header->used);
  struct view *v = follow_view(f, &how, true); /* though no sequence has moved */
  ck_assert_uint_eq(v->function[0].done, 111);
  /* Its last tick is its first, but it was seen to live after that: windows go on to then. */
  ck_assert_uint_eq(v->process.elapsed, lived);
  view_free(v);
  follow_free(f);
  close(fd);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("history");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_window_is_a_difference);
  tcase_add_test(tests, percentiles_are_of_the_window);
  tcase_add_test(tests, old_readings_are_further_apart);
  tcase_add_test(tests, a_young_process_has_no_window);
  tcase_add_test(tests, another_life_begins_anew);
  tcase_add_test(tests, moments_tell_what_went_on);
  tcase_add_test(tests, memory_is_flat);
  tcase_add_test(tests, a_hold_that_is_not_new_has_bounds);
  tcase_add_test(tests, a_profile_is_followed);
  tcase_add_test(tests, an_ended_process_is_read_to_its_end);
  return suite_run("history", tests);
}
