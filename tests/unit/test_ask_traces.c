/* SPDX-License-Identifier: MIT */
/* Requests of several processes by their traces, and clocks that are not one: ask/traces.c,
   trace-clocks.c. */
#include "ask/traces.h"
#include "read/util.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MS ((uint64_t)1000000)

static struct view *v;
static struct view_slow slow[2][8];
static struct view_kind kind[2];

/* A front and a backend, which are on the hosts that are given; both started at the same time, as
   each of them tells it. */
static void setup(void) {
  v = view_new("test");
  v->processes = 2;
  v->merged = arena_get(&v->arena, 2, sizeof *v->merged);
  v->merged[0] = (struct view_process){
      .pid = 1, .name = "front", .host = "node1", .started_at = "2026-01-02T03:04:05.500Z"};
  v->merged[1] = (struct view_process){
      .pid = 2, .name = "back", .host = "node2", .started_at = "2026-01-02T03:04:05.500Z"};
  memset(slow, 0, sizeof slow);
  for (size_t i = 0; i < 2; i++)
    kind[i] = (struct view_kind){.kind = i ? "query" : "GET", .slow = slow[i]};
  v->kind = kind;
  v->kinds = 2;
}

static void teardown(void) {
  view_free(v);
}

static void add(size_t process, const char *trace, uint64_t begin, uint64_t wall) {
  slow[process][kind[process].slows++] =
      (struct view_slow){.process = process, .trace = trace, .begin = begin, .wall = wall};
}

static const struct trace *named(const struct traces *all, const char *id) {
  for (size_t i = 0; i < all->count; i++)
    if (!strcmp(all->of[i].id, id))
      return &all->of[i];
  ck_abort_msg("no trace %s", id);
}

/* The backend's clock is 700 ms before: of what takes all but 2 ms of its request the error is 1.
 */
START_TEST(nesting_tells_how_far_a_clock_is_off) {
  add(0, "a", 100 * MS, 50 * MS);
  add(1, "a", 821 * MS, 20 * MS);
  add(0, "b", 300 * MS, 42 * MS);
  add(1, "b", 1001 * MS, 40 * MS);
  add(0, "alone", 300 * MS, 40 * MS);
  struct traces all = ask_traces(v);
  ck_assert_uint_eq(all.count, 2);
  ck_assert_uint_eq(all.clocks, 1);
  const struct trace_clock *c = all.clock;
  ck_assert_uint_eq(c->of, 1);
  ck_assert_uint_eq(c->to, 0);
  ck_assert_int_eq(c->behind, -700 * (int64_t)MS + (int64_t)MS / 20);
  ck_assert_uint_eq(c->error, MS + MS / 20); /* and what may be left to do behind an answer */
  ck_assert_uint_eq(c->requests, 2);
  ck_assert(c->fits && !c->one_host);
  const struct trace *t = named(&all, "a");
  ck_assert_uint_eq(t->part[0].process, 0);
  ck_assert_int_eq(t->part[0].at, 0);
  ck_assert(t->part[1].placed);
  ck_assert_int_eq(t->part[1].at, 21 * (int64_t)MS + (int64_t)MS / 20);
  ck_assert_uint_eq(t->part[1].error, MS + MS / 20);
  traces_release(&all);
}
END_TEST

START_TEST(calls_stand_as_they_began) {
  add(0, "a", 100 * MS, 90 * MS);
  add(1, "a", 150 * MS, 10 * MS);
  add(1, "a", 101 * MS, 5 * MS);
  struct traces all = ask_traces(v);
  const struct trace *t = named(&all, "a");
  ck_assert_uint_eq(t->parts, 3);
  ck_assert_uint_eq(t->part[1].wall, 5 * MS);
  ck_assert_uint_eq(t->part[2].wall, 10 * MS);
  ck_assert_int_eq(t->part[2].at - t->part[1].at, 49 * (int64_t)MS);
  traces_release(&all);
}
END_TEST

/* One clock: what is off is how exactly starts are told. */
START_TEST(on_one_host_there_is_one_clock) {
  v->merged[1].host = "node1";
  add(0, "a", 100 * MS, 50 * MS);
  add(1, "a", 110 * MS, 20 * MS);
  struct traces all = ask_traces(v);
  ck_assert(all.clock->one_host && all.clock->fits);
  ck_assert_int_eq(all.clock->behind, 0);
  ck_assert_uint_eq(all.clock->error, MS);
  ck_assert_int_eq(named(&all, "a")->part[1].at, 10 * (int64_t)MS);
  traces_release(&all);
}
END_TEST

START_TEST(what_does_not_fit_is_said) {
  add(0, "a", 100 * MS, 12 * MS);
  add(1, "a", 100 * MS, 10 * MS);
  add(0, "b", 200 * MS, 12 * MS);
  add(1, "b", 230 * MS, 10 * MS);
  struct traces all = ask_traces(v);
  ck_assert(!all.clock->fits);
  ck_assert_uint_eq(all.clock->error, 14 * MS - MS / 20);
  for (size_t i = 0; i < all.count; i++)
    ck_assert(all.of[i].part[1].at >= 0 && all.of[i].part[1].at <= 2 * (int64_t)MS);
  traces_release(&all);
}
END_TEST

START_TEST(without_a_start_nothing_is_placed) {
  v->merged[1].started_at = NULL;
  add(0, "a", 100 * MS, 50 * MS);
  add(1, "a", 110 * MS, 20 * MS);
  struct traces all = ask_traces(v);
  ck_assert_uint_eq(all.clocks, 0);
  ck_assert(!named(&all, "a")->part[1].placed);
  traces_release(&all);
}
END_TEST

/* One of eight has no processor behind its answer, and is over 34 ms later. */
START_TEST(one_may_go_on_behind_its_answer) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
  for (size_t i = 0; i < 7; i++) {
    add(0, names[i], (100 + 100 * i) * MS, 12 * MS);
    add(1, names[i], (801 + 100 * i) * MS, 10 * MS);
  }
  add(0, "late", 900 * MS, 45 * MS);
  add(1, "late", 1640 * MS, 40 * MS);
  struct traces all = ask_traces(v);
  ck_assert(all.clock->fits);
  ck_assert_uint_eq(all.clock->requests, 8);
  ck_assert_int_eq(all.clock->behind, -700 * (int64_t)MS + (int64_t)MS / 20);
  traces_release(&all);
}
END_TEST

/* Where most say that front asks back, it did where back took longer, too. */
START_TEST(who_asked_may_be_done_first) {
  add(0, "a", 100 * MS, 12 * MS);
  add(1, "a", 801 * MS, 10 * MS);
  add(0, "b", 200 * MS, 12 * MS);
  add(1, "b", 901 * MS, 10 * MS);
  add(0, "late", 300 * MS, 12 * MS);
  add(1, "late", 1001 * MS, 30 * MS);
  struct traces all = ask_traces(v);
  ck_assert_uint_eq(all.clocks, 1);
  ck_assert_uint_eq(all.clock->to, 0);
  const struct trace *t = named(&all, "late");
  ck_assert_uint_eq(t->part[0].process, 0);
  ck_assert_uint_eq(t->part[1].process, 1);
  ck_assert_int_eq(t->part[1].at, 0);
  traces_release(&all);
}
END_TEST

static void spans(size_t process, size_t i, const char *own, const char *parent) {
  slow[process][i].span_id = own;
  slow[process][i].parent_span_id = parent;
}

/* front asks back, which asks front, twice; another one came from somebody who is not here. */
START_TEST(spans_make_a_tree) {
  add(0, "a", 100 * MS, 90 * MS);
  spans(0, 0, "1", "f");
  add(0, "a", 130 * MS, 5 * MS);
  spans(0, 1, "3", "2");
  add(0, "a", 140 * MS, 6 * MS);
  spans(0, 2, "4", "2");
  add(1, "a", 120 * MS, 40 * MS);
  spans(1, 0, "2", "1");
  add(1, "a", 110 * MS, 4 * MS);
  spans(1, 1, "5", "e");
  struct traces all = ask_traces(v);
  const struct trace *t = named(&all, "a");
  ck_assert_uint_eq(t->parts, 5);
  static const struct {
    const char *span;
    size_t parent;
    unsigned depth;
    bool by_span;
  } wanted[] = {{"1", SIZE_MAX, 0, false},
                {"5", 0, 1, false},
                {"2", 0, 1, true},
                {"3", 2, 2, true},
                {"4", 2, 2, true}};
  for (size_t i = 0; i < t->parts; i++) {
    ck_assert_str_eq(t->part[i].slow->span_id, wanted[i].span);
    ck_assert_uint_eq(t->part[i].parent, wanted[i].parent);
    ck_assert_uint_eq(t->part[i].depth, wanted[i].depth);
    ck_assert_int_eq(t->part[i].by_span, wanted[i].by_span);
  }
  traces_release(&all);
}
END_TEST

/* Two that came from each other, and one from itself, are the first one's. */
START_TEST(spans_in_circles_are_cut) {
  add(0, "a", 100 * MS, 90 * MS);
  spans(0, 0, "1", "f");
  add(1, "a", 110 * MS, 40 * MS);
  spans(1, 0, "2", "3");
  add(1, "a", 120 * MS, 30 * MS);
  spans(1, 1, "3", "2");
  add(1, "a", 130 * MS, 20 * MS);
  spans(1, 2, "4", "4");
  struct traces all = ask_traces(v);
  const struct trace *t = named(&all, "a");
  ck_assert_uint_eq(t->parts, 4);
  for (size_t i = 1; i < t->parts; i++) {
    ck_assert_uint_eq(t->part[i].parent, 0);
    ck_assert_uint_eq(t->part[i].depth, 1);
    ck_assert(!t->part[i].by_span);
  }
  traces_release(&all);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("traces");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, nesting_tells_how_far_a_clock_is_off);
  tcase_add_test(tests, calls_stand_as_they_began);
  tcase_add_test(tests, on_one_host_there_is_one_clock);
  tcase_add_test(tests, what_does_not_fit_is_said);
  tcase_add_test(tests, without_a_start_nothing_is_placed);
  tcase_add_test(tests, one_may_go_on_behind_its_answer);
  tcase_add_test(tests, who_asked_may_be_done_first);
  tcase_add_test(tests, spans_make_a_tree);
  tcase_add_test(tests, spans_in_circles_are_cut);
  return suite_run("traces", tests);
}
