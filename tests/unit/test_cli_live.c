/* SPDX-License-Identifier: MIT */
/* What lives, as groups in a tree: ask/live.c, of views made by hand. */
#include "ask/live.h"
#include "read/settle.h"
#include "read/view.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { HANDLE, FETCH, ACCEPT, FUNCTIONS, ROOM = 60000 };
static const char *const names[] = {"handle", "fetch", "accept"};

static struct view *v;
static struct live_tree tree;

static void setup(void) {
  v = view_new("by hand");
  v->process.reason = "request";
  v->live = arena_get(&v->arena, ROOM, sizeof *v->live);
  tree = (struct live_tree){0};
}

static void teardown(void) {
  ask_live_free(&tree);
  view_free(v);
}

/* One that waits at fetch.c:7; `since` is half its age. */
static struct view_live *lives(uint64_t id, uint64_t parent, uint64_t function, uint64_t age) {
  struct view_live *live = &v->live[v->lives++];
  *live = (struct view_live){.id = id,
                             .parent = parent,
                             .function = function,
                             .name = names[function],
                             .state = "waiting",
                             .place = "fetch.c:7",
                             .callee = "connect",
                             .age = age,
                             .since = age / 2,
                             .since_min = age / 2,
                             .started = 1,
                             .count = 1};
  return live;
}

static void runs(struct view_live *live, int64_t tid, uint64_t holds) {
  live->state = "running";
  live->place = live->callee = NULL;
  live->tid = tid;
  live->holds = holds;
}

/* Group `i`: name, how many, how deep, under which. */
static void is(size_t i, uint64_t function, uint64_t count, size_t depth, size_t parent) {
  ck_assert_uint_lt(i, tree.groups);
  ck_assert_str_eq(tree.group[i].like->name, names[function]);
  ck_assert_uint_eq(tree.group[i].count, count);
  ck_assert_uint_eq(tree.group[i].depth, depth);
  ck_assert_uint_eq(tree.group[i].parent, parent);
}

/* -- groups ------------------------------------------------------------------ */

START_TEST(equal_ones_are_one_and_so_is_what_they_created) {
  lives(1, 0, HANDLE, 100);
  lives(2, 0, HANDLE, 60);
  lives(3, 1, FETCH, 50);
  lives(4, 2, FETCH, 30);
  lives(5, 2, FETCH, 20);
  tree = ask_live(v);
  ck_assert_uint_eq(tree.groups, 2);
  is(0, HANDLE, 2, 0, SIZE_MAX);
  is(1, FETCH, 3, 1, 0);
  ck_assert_uint_eq(tree.group[1].age, 50);
  ck_assert_uint_eq(tree.group[1].since, 25);
  ck_assert_uint_eq(tree.group[1].since_min, 10);
  ck_assert_uint_eq(tree.waiting, 5);
}
END_TEST

START_TEST(another_state_or_place_is_another_group) {
  lives(1, 0, HANDLE, 100);
  lives(2, 0, HANDLE, 90)->state = "queued";
  lives(3, 0, HANDLE, 80)->place = "fetch.c:9";
  lives(4, 0, HANDLE, 70)->due = 5;
  tree = ask_live(v);
  ck_assert_uint_eq(tree.groups, 4);
  ck_assert_uint_eq(tree.queued, 1);
  ck_assert_uint_eq(tree.waiting, 3);
  ck_assert_uint_eq(tree.group[3].due, 5);
}
END_TEST

START_TEST(of_what_has_no_place_the_creating_line_counts) {
  for (uint64_t i = 1; i <= 3; i++) {
    struct view_live *live = lives(i, 0, HANDLE, 100);
    live->place = live->callee = NULL;
    live->created_at = i == 3 ? "main.c:2" : "main.c:1";
  }
  tree = ask_live(v);
  ck_assert_uint_eq(tree.groups, 2);
}
END_TEST

START_TEST(a_listener_stands_apart_and_what_it_created_is_a_root) {
  lives(1, 0, ACCEPT, 1000)->background = 1;
  struct view_live *other = lives(2, 0, ACCEPT, 900);
  other->background = 1;
  other->started = 0;
  lives(3, 1, HANDLE, 10);
  tree = ask_live(v);
  ck_assert_uint_eq(tree.groups, 1);
  is(0, HANDLE, 1, 0, SIZE_MAX);
  ck_assert_uint_eq(tree.listeners, 1);
  ck_assert_uint_eq(tree.listener[0].count, 2);
  ck_assert_uint_eq(tree.listening, 2);
  ck_assert_uint_eq(tree.waiting, 1);
}
END_TEST

START_TEST(a_listener_that_is_ready_is_none) {
  struct view_live *live = lives(1, 0, ACCEPT, 1000);
  live->background = 1;
  live->state = "queued";
  tree = ask_live(v);
  ck_assert_uint_eq(tree.listeners, 0);
  ck_assert_uint_eq(tree.queued, 1);
}
END_TEST

START_TEST(of_what_no_event_shows_running_the_state_is_told_by_none) {
  for (uint64_t i = 1; i <= 3; i++) {
    struct view_live *live = lives(i, 0, HANDLE, 100);
    live->place = live->callee = NULL;
    live->state = i == 3 ? "queued" : NULL;
  }
  tree = ask_live(v);
  ck_assert_uint_eq(tree.groups, 2);
  is(0, HANDLE, 2, 0, SIZE_MAX);
  ck_assert_ptr_null(tree.group[0].like->state);
  ck_assert(!tree.group[0].holds);
  ck_assert_uint_eq(tree.unknown, 2);
  ck_assert_uint_eq(tree.queued, 1);
  ck_assert_uint_eq(tree.running + tree.waiting, 0);
}
END_TEST

START_TEST(shared_entries_count_as_many_and_are_told) {
  lives(1, 0, HANDLE, 100);
  struct view_live *rest = lives(0, 0, FETCH, 9);
  rest->count = 1000;
  rest->since_min = 1;
  tree = ask_live(v);
  is(1, FETCH, 1000, 0, SIZE_MAX);
  ck_assert_uint_eq(tree.apart, 1000);
  ck_assert_uint_eq(tree.group[1].since_min, 1);
}
END_TEST

START_TEST(processes_are_not_mixed_up) {
  lives(1, 0, HANDLE, 100);
  lives(2, 1, FETCH, 90);
  lives(1, 0, HANDLE, 80)->process = 1;
  lives(2, 1, FETCH, 70)->process = 1;
  tree = ask_live(v);
  ck_assert_uint_eq(tree.groups, 4);
  is(1, FETCH, 1, 1, 0);
  is(3, FETCH, 1, 1, 2);
  ck_assert_uint_eq(tree.group[3].like->process, 1);
}
END_TEST

/* -- the order --------------------------------------------------------------- */

START_TEST(who_holds_a_loop_comes_first) {
  lives(1, 0, FETCH, 1000);
  lives(2, 0, HANDLE, 10);
  runs(lives(3, 2, FETCH, 8), 42, 7);
  runs(lives(4, 2, FETCH, 8), 43, 5);
  tree = ask_live(v);
  ck_assert_uint_eq(tree.groups, 4);
  is(0, HANDLE, 1, 0, SIZE_MAX);
  is(1, FETCH, 1, 1, 0);
  ck_assert_int_eq(tree.group[1].like->tid, 42);
  ck_assert(tree.group[1].holds && tree.group[2].holds && !tree.group[0].holds);
  ck_assert_uint_eq(tree.group[0].held_beneath, 7);
  is(3, FETCH, 1, 0, SIZE_MAX);
}
END_TEST

START_TEST(a_pool_is_no_loop) {
  struct view_thread pool = {.tid = 42, .is_pool = true};
  struct view_loop loop = {.tid = 42, .thread = &pool};
  v->loop = &loop;
  v->loops = 1;
  struct view_live *live = lives(1, 0, HANDLE, 10);
  runs(live, 42, 0);
  live->since = 0;
  tree = ask_live(v);
  ck_assert(!tree.group[0].holds);
  ck_assert_uint_eq(tree.running, 1);
}
END_TEST

START_TEST(who_began_with_the_last_event_holds_too) {
  struct view_live *live = lives(1, 0, HANDLE, 10);
  v->process.reason = "recovered";
  runs(live, 42, 0);
  live->since = 0;
  tree = ask_live(v);
  ck_assert(tree.group[0].holds);
  ck_assert(ask_ended(v));
}
END_TEST

/* -- whatever comes ------------------------------------------------------------ */

START_TEST(a_ring_is_cut_open) {
  lives(1, 2, HANDLE, 10);
  lives(2, 1, FETCH, 10);
  lives(3, 3, ACCEPT, 10);
  tree = ask_live(v);
  ck_assert_uint_eq(tree.groups, 3);
  ck_assert_uint_eq(tree.waiting, 3);
}
END_TEST

START_TEST(a_chain_may_be_deep_and_come_in_any_order) {
  for (uint64_t id = ROOM; id; id--)
    lives(id, id - 1, FETCH, 10);
  tree = ask_live(v);
  ck_assert_uint_eq(tree.groups, ROOM);
  is(ROOM - 1, FETCH, 1, ROOM - 1, ROOM - 2);
}
END_TEST

START_TEST(nothing_is_nothing) {
  tree = ask_live(v);
  ck_assert_uint_eq(tree.groups + tree.listeners, 0);
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("cli_live");
  const TTest *const tests[] = {equal_ones_are_one_and_so_is_what_they_created,
                                another_state_or_place_is_another_group,
                                of_what_has_no_place_the_creating_line_counts,
                                a_listener_stands_apart_and_what_it_created_is_a_root,
                                a_listener_that_is_ready_is_none,
                                of_what_no_event_shows_running_the_state_is_told_by_none,
                                shared_entries_count_as_many_and_are_told,
                                processes_are_not_mixed_up,
                                who_holds_a_loop_comes_first,
                                a_pool_is_no_loop,
                                who_began_with_the_last_event_holds_too,
                                a_ring_is_cut_open,
                                a_chain_may_be_deep_and_come_in_any_order,
                                nothing_is_nothing};
  tcase_add_checked_fixture(tcase, setup, teardown);
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    tcase_add_test(tcase, tests[i]);
  return suite_run("cli_live", tcase);
}
