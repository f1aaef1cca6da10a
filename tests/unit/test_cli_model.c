/* SPDX-License-Identifier: MIT */
/* The model of cli/: the reader's half of the ledger, on profiles made to measure. */
#include "read/model.h"
#include "show/totals.h"
#include "suite.h"
#include "synthetic.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ONE ((uint64_t)1 << 32) /* a tick is a ns */

static struct synthetic *s;
static struct profile *profile;
static struct names *names;
static struct model *model;

/* A path: function > call of another, and its await. */
static uint32_t upload, quota, upload_node, quota_node, await_node;

static void setup(void) {
  s = synthetic_new();
  upload = synthetic_site(s, APROF_SITE_FUNCTION, "handle_upload", "server.c", 140, 6);
  quota = synthetic_site(s, APROF_SITE_FUNCTION, "fetch_quota", "quota.c", 44, 6);
  uint32_t await = synthetic_site(s, APROF_SITE_AWAIT, "uv_tcp_connect", "quota.c", 61, 3);
  upload_node = synthetic_node(s, 0, upload, 0);
  quota_node = synthetic_node(s, upload_node, quota, 0);
  await_node = synthetic_node(s, quota_node, await, 1);
}

static void build(uint64_t rate, uint64_t now) {
  int fd = synthetic_file(s, s->header->used);
  profile = profile_read(fd, "synthetic", false, true);
  ck_assert_ptr_nonnull(profile);
  names = names_new(profile, 0);
  model = model_new(profile, names, rate, now, true);
  close(fd);
}

static void teardown(void) {
  model_free(model);
  names_free(names);
  profile_free(profile);
  free(s);
  model = NULL;
  names = NULL;
  profile = NULL;
}

static const struct model_node *node(uint32_t number) {
  return &model->node[model_node_of(model, number)];
}

START_TEST(leaves_are_converted_one_by_one) {
  synthetic_block(s, 1);
  synthetic_block(s, 2);
  /* A third of a ns each: alone each is 0, added first they would be 1. */
  synthetic_counters(s, 1, upload_node)->function.exec = 2;
  synthetic_counters(s, 2, upload_node)->function.exec = 2;
  build(ONE / 3, 1000);
  ck_assert_uint_eq(node(upload_node)->exec, 0);
}
END_TEST

START_TEST(sums_over_blocks_and_beneath) {
  synthetic_block(s, 1);
  synthetic_block(s, 2);
  for (uint32_t b = 1; b <= 2; b++) {
    synthetic_counters(s, b, upload_node)->function.exec = 100 * b;
    synthetic_counters(s, b, upload_node)->function.done = b;
    synthetic_counters(s, b, quota_node)->function.exec = 10 * b;
    synthetic_counters(s, b, quota_node)->function.exec_max = 10 * b;
    synthetic_counters(s, b, await_node)->await.waiting = 1000 * b;
    synthetic_counters(s, b, await_node)->await.count = b;
  }
  build(ONE, 5000);
  ck_assert_uint_eq(node(upload_node)->exec, 300);
  ck_assert_uint_eq(node(upload_node)->done, 3);
  ck_assert_uint_eq(node(upload_node)->children_exec, 30);
  ck_assert_uint_eq(node(quota_node)->exec_max, 20);
  ck_assert_uint_eq(node(quota_node)->waiting, 3000);
  ck_assert_uint_eq(node(upload_node)->waiting, 0);
  ck_assert_uint_eq(model->thread[0].exec, 110);
  ck_assert_uint_eq(model->thread[1].exec, 220);
}
END_TEST

START_TEST(open_segments_go_where_the_state_says) {
  synthetic_block(s, 1)->state = APROF_THREAD_RUNNING;
  synthetic_future(s, 1, upload_node, APROF_FUTURE_RUNNING, 4000);
  synthetic_future(s, 1, quota_node, APROF_FUTURE_WAITING, 3000)->await = await_node;
  synthetic_future(s, 1, quota_node, APROF_FUTURE_QUEUED, 4500);
  synthetic_future(s, 1, quota_node, APROF_FUTURE_TENTATIVE, 100);
  build(ONE, 5000);
  ck_assert_uint_eq(node(upload_node)->exec, 1000);
  ck_assert_uint_eq(node(await_node)->waiting, 2000);
  ck_assert_uint_eq(node(quota_node)->waiting, 2000);
  ck_assert_uint_eq(node(quota_node)->queued, 500);
  ck_assert_uint_eq(node(quota_node)->live, 2);
  ck_assert_uint_eq(model->lives, 3);
  ck_assert_uint_eq(model->thread[0].exec, 1000);
  ck_assert_uint_eq(model->live[0].age, 2000);
}
END_TEST

/* A caller and what it called are two futures: each is alive, and in one state. */
START_TEST(a_caller_waits_at_its_call) {
  uint32_t call = synthetic_site(s, APROF_SITE_CALL, "fetch_quota", "server.c", 151, 9);
  uint32_t call_node = synthetic_node(s, upload_node, call, APROF_NODE_AWAIT);
  struct aprof_future *caller = synthetic_future(s, 1, upload_node, APROF_FUTURE_ASIDE, 2000);
  struct aprof_future *called = synthetic_future(s, 1, quota_node, APROF_FUTURE_WAITING, 3000);
  caller->await = call_node;
  caller->callee = synthetic_index(s, called);
  called->caller = synthetic_index(s, caller);
  called->await = await_node;
  synthetic_block(s, 1)->state = APROF_THREAD_OTHER;
  synthetic_counters(s, 1, upload_node)->function.done = 7;
  build(ONE, 5000);
  ck_assert_uint_eq(node(upload_node)->live, 1);
  ck_assert_uint_eq(node(call_node)->waiting, 3000);
  ck_assert_uint_eq(node(upload_node)->waiting, 3000);
  ck_assert_uint_eq(node(upload_node)->queued + node(upload_node)->exec, 0);
  ck_assert_uint_eq(node(quota_node)->live, 1);
  ck_assert_uint_eq(node(quota_node)->waiting, 2000);
  ck_assert_uint_eq(model->lives, 2);
  ck_assert(model->live[0].aside && !model->live[1].aside);
  ck_assert_uint_eq(model->live[0].since, 3000);
  ck_assert_uint_eq(model->live[0].await, names_of(names, call));
  ck_assert_uint_eq(model->live[0].state, APROF_FUTURE_ASIDE);
}
END_TEST

START_TEST(a_caller_is_woken_by_nobody) {
  struct aprof_future *f = synthetic_future(s, 1, quota_node, APROF_FUTURE_ASIDE, 3000);
  f->await = await_node;
  f->wake_tick = 3400;
  build(ONE, 5000);
  ck_assert_uint_eq(node(await_node)->waiting, 2000);
  ck_assert_uint_eq(node(quota_node)->queued, 0);
  ck_assert_uint_eq(model->live[0].since, 2000);
}
END_TEST

START_TEST(a_caller_of_an_old_epoch_is_detached) {
  s->header->epoch = 3;
  s->header->reset_epoch = 2;
  s->header->epochs[1].end_tick = s->header->epochs[2].begin_tick = 3600;
  s->header->epochs[2].end_tick = s->header->epochs[3].begin_tick = 4000;
  synthetic_future(s, 1, quota_node, APROF_FUTURE_ASIDE, 3000)->await = await_node; /* reset */
  synthetic_future(s, 2, quota_node, APROF_FUTURE_ASIDE, 3700)->await = await_node;
  build(ONE, 5000);
  ck_assert_uint_eq(node(quota_node)->detached, 1);
  ck_assert_uint_eq(node(quota_node)->live, 0);
  ck_assert_uint_eq(node(quota_node)->waiting, 300);
  ck_assert_uint_eq(model->lives, 0);
}
END_TEST

/* Beyond the cap of paths, at something that is no await, and at none. */
START_TEST(a_caller_at_an_unreadable_await_is_not_lost) {
  synthetic_future(s, 1, upload_node, APROF_FUTURE_ASIDE, 3000)->await = 2;
  synthetic_future(s, 1, upload_node, APROF_FUTURE_ASIDE, 4000)->await = quota_node;
  synthetic_future(s, 1, upload_node, APROF_FUTURE_ASIDE, 4500);
  synthetic_future(s, 1, upload_node, (enum aprof_future_state)6, 100);
  build(ONE, 5000);
  ck_assert_uint_eq(node(upload_node)->live, 3);
  ck_assert_uint_eq(node(upload_node)->waiting, 1500);
  ck_assert_uint_eq(model->node[MODEL_OTHER].waiting, 2000);
  ck_assert_uint_eq(model->lives, 3);
}
END_TEST

START_TEST(a_woken_future_is_queued_since_then) {
  struct aprof_future *f = synthetic_future(s, 1, quota_node, APROF_FUTURE_WAITING, 3000);
  f->await = await_node;
  f->wake_tick = 3400;
  build(ONE, 5000);
  ck_assert_uint_eq(node(await_node)->waiting, 400);
  ck_assert_uint_eq(node(quota_node)->queued, 1600);
  ck_assert_uint_eq(model->live[0].state, APROF_FUTURE_QUEUED);
  ck_assert_uint_eq(model->live[0].since, 1600);
}
END_TEST

START_TEST(a_wake_before_the_wait_counts_from_its_beginning) {
  struct aprof_future *f = synthetic_future(s, 1, quota_node, APROF_FUTURE_WAITING, 3000);
  f->await = await_node;
  f->wake_tick = 2000;
  build(ONE, 5000);
  ck_assert_uint_eq(node(await_node)->waiting, 0);
  ck_assert_uint_eq(node(quota_node)->queued, 2000);
}
END_TEST

START_TEST(an_old_epoch_is_clipped_and_detached) {
  s->header->epoch = 2;
  s->header->epochs[1].end_tick = 4000;
  s->header->epochs[2].begin_tick = 4200;
  synthetic_future(s, 1, quota_node, APROF_FUTURE_WAITING, 3000)->await = await_node;
  synthetic_future(s, 1, upload_node, APROF_FUTURE_RUNNING, 3500);
  struct aprof_block *block = synthetic_block(s, 1);
  block->epoch = 1;
  block->state = APROF_THREAD_RUNNING;
  block->last = 3500;
  build(ONE, 5000);
  ck_assert_uint_eq(node(await_node)->waiting, 1000);
  ck_assert_uint_eq(node(quota_node)->detached, 1);
  ck_assert_uint_eq(node(quota_node)->live, 0);
  ck_assert_uint_eq(node(upload_node)->exec, 500);
  ck_assert_uint_eq(model->thread[0].exec, 500);
  ck_assert_uint_eq(model->thread[0].other, 800);
  ck_assert_uint_eq(model->lives, 0);
}
END_TEST

START_TEST(a_reset_leaves_nothing_from_before) {
  s->header->epoch = s->header->reset_epoch = 2;
  s->header->epochs[1].end_tick = s->header->epochs[2].begin_tick = 4000;
  struct aprof_block *block = synthetic_block(s, 1);
  block->epoch = block->counters_epoch = 1;
  block->state = APROF_THREAD_IDLE;
  block->idle = 777;
  synthetic_counters(s, 1, upload_node)->function.done = 9;
  synthetic_counters(s, 1, upload_node)->function.exec = 9;
  synthetic_future(s, 1, upload_node, APROF_FUTURE_QUEUED, 3500);
  build(ONE, 5000);
  ck_assert_uint_eq(node(upload_node)->done, 0);
  ck_assert_uint_eq(node(upload_node)->exec, 0);
  ck_assert_uint_eq(node(upload_node)->detached, 0);
  ck_assert_uint_eq(model->thread[0].idle, 1000); /* no event since has said otherwise */
  ck_assert_uint_eq(model->thread[0].other, 0);
}
END_TEST

START_TEST(threads_add_up) {
  struct aprof_block *idle = synthetic_block(s, 1), *over = synthetic_block(s, 2);
  idle->state = APROF_THREAD_IDLE;
  idle->last = 4000;
  idle->idle = 100;
  idle->other = 7;
  over->state = APROF_THREAD_FREE;
  over->last = 4000;
  over->other = 50;
  build(ONE, 5000);
  ck_assert_uint_eq(model->thread[0].idle, 1100);
  ck_assert_uint_eq(model->thread[0].other, 7);
  ck_assert_uint_eq(model->thread[1].other, 50);
}
END_TEST

START_TEST(equal_sites_are_one) {
  uint32_t twin = synthetic_site(s, APROF_SITE_FUNCTION, "handle_upload", "server.c", 140, 6);
  uint32_t other_column =
      synthetic_site(s, APROF_SITE_FUNCTION, "handle_upload", "server.c", 140, 9);
  uint32_t twin_node = synthetic_node(s, 0, twin, 0);
  uint32_t other_node = synthetic_node(s, 0, other_column, 0);
  synthetic_block(s, 1);
  synthetic_counters(s, 1, upload_node)->function.done = 1;
  synthetic_counters(s, 1, twin_node)->function.done = 2;
  build(ONE, 5000);
  ck_assert_uint_eq(model_node_of(model, twin_node), model_node_of(model, upload_node));
  ck_assert_uint_ne(model_node_of(model, other_node), model_node_of(model, upload_node));
  ck_assert_uint_eq(node(upload_node)->done, 3);
}
END_TEST

START_TEST(an_alias_is_its_function) {
  uint32_t by_address = synthetic_site(s, APROF_SITE_FUNCTION, NULL, NULL, 0, 0);
  s->sites[by_address].address = 0x1234;
  s->sites[by_address].alias = upload;
  uint32_t alias_node = synthetic_node(s, 0, by_address, 0);
  uint32_t loop = synthetic_site(s, APROF_SITE_FUNCTION, "loop", "a.c", 1, 1);
  s->sites[loop].alias = loop;
  build(ONE, 5000);
  ck_assert_uint_eq(model_node_of(model, alias_node), model_node_of(model, upload_node));
  ck_assert_uint_eq(names_of(names, loop), NAME_UNKNOWN);
}
END_TEST

START_TEST(an_address_without_symbols_keeps_its_module) {
  uint32_t by_address = synthetic_site(s, APROF_SITE_FUNCTION, NULL, NULL, 0, 0);
  s->sites[by_address].address = 0x401234;
  s->sites[by_address].module = 1;
  s->modules[1].bias = 0x400000;
  s->modules[1].path = synthetic_string(s, "/nowhere/server");
  build(ONE, 5000);
  ck_assert_str_eq(names->name[names_of(names, by_address)].name, "server+0x1234");
}
END_TEST

START_TEST(calls_of_one_name_on_a_line_are_one_place) {
  uint32_t again = synthetic_site(s, APROF_SITE_AWAIT, "uv_tcp_connect", "quota.c", 61, 40);
  uint32_t listens = synthetic_site(s, APROF_SITE_AWAIT, "uv_tcp_connect", "quota.c", 61, 3);
  s->sites[listens].flags |= APROF_BACKGROUND;
  uint32_t again_node = synthetic_node(s, quota_node, again, 1);
  uint32_t listens_node = synthetic_node(s, quota_node, listens, 1);
  synthetic_block(s, 1);
  synthetic_counters(s, 1, await_node)->await.count = 5;
  synthetic_counters(s, 1, again_node)->await.count = 10;
  synthetic_counters(s, 1, listens_node)->await.count = 100;
  build(ONE, 5000);
  ck_assert_uint_eq(model_node_of(model, again_node), model_node_of(model, await_node));
  ck_assert_uint_eq(node(await_node)->count, 15);
  ck_assert_uint_eq(node(listens_node)->count, 100);
  ck_assert(names->name[names_of(names, listens)].flags & APROF_BACKGROUND);
  ck_assert(!(names->name[names_of(names, again)].flags & APROF_BACKGROUND));
}
END_TEST

START_TEST(a_recursion_folds) {
  uint32_t twin = synthetic_site(s, APROF_SITE_FUNCTION, "handle_upload", "server.c", 140, 6);
  uint32_t deep = synthetic_node(s, quota_node, twin, 0);
  synthetic_block(s, 1);
  synthetic_counters(s, 1, deep)->function.exec = 70;
  synthetic_counters(s, 1, quota_node)->function.exec = 5;
  build(ONE, 5000);
  ck_assert_uint_eq(node(upload_node)->exec, 70);
  ck_assert_uint_eq(node(upload_node)->children_exec, 5);
}
END_TEST

START_TEST(what_has_no_path_is_other) {
  uint32_t beyond = 200;
  synthetic_block(s, 1);
  synthetic_counters(s, 1, beyond)->function.done = 3;
  synthetic_counters(s, 1, 1)->function.done = 4;
  synthetic_counters(s, 1, 2)->await.waiting = 500;
  synthetic_future(s, 1, 1, APROF_FUTURE_WAITING, 4000)->await = 2;
  build(ONE, 5000);
  ck_assert_uint_eq(model->node[MODEL_OTHER].done, 7);
  ck_assert_uint_eq(model->node[MODEL_OTHER].waiting, 1500);
}
END_TEST

START_TEST(a_wait_at_an_unreadable_await_is_not_lost) {
  synthetic_future(s, 1, upload_node, APROF_FUTURE_WAITING, 4000)->await = quota_node;
  synthetic_future(s, 1, upload_node, APROF_FUTURE_WAITING, 4500);
  build(ONE, 5000);
  ck_assert_uint_eq(node(upload_node)->waiting, 1500);
}
END_TEST

START_TEST(wakers_and_blocking_calls_are_in_no_sum) {
  uint32_t wake = synthetic_site(s, APROF_SITE_WAKE, "uv_async_send", "a.c", 5, 1);
  uint32_t call = synthetic_site(s, APROF_SITE_BLOCKING, "fsync", "a.c", 7, 1);
  uint32_t waker = synthetic_node(s, quota_node, wake, APROF_NODE_WAKER);
  uint32_t blocking = synthetic_node(s, quota_node, call, APROF_NODE_BLOCKING);
  synthetic_block(s, 1);
  synthetic_counters(s, 1, waker)->await.count = 3;
  synthetic_counters(s, 1, waker)->await.waiting = 50;
  synthetic_counters(s, 1, blocking)->await.count = 1;
  synthetic_counters(s, 1, blocking)->await.waiting = 70;
  synthetic_counters(s, 1, quota_node)->function.queued = 60;
  build(ONE, 5000);
  ck_assert_uint_eq(node(quota_node)->waiting, 0);
  ck_assert_uint_eq(node(quota_node)->queued, 60);
  ck_assert_uint_eq(node(waker)->waiting, 50);
  ck_assert_uint_eq(node(blocking)->waiting, 70);
  ck_assert_uint_eq(node(blocking)->kind, APROF_NODE_BLOCKING);
}
END_TEST

START_TEST(an_epoch_in_16_bits) {
  struct aprof_header h = {.epoch = 0x10002};
  ck_assert_uint_eq(model_epoch_of(&h, (uint64_t)2 << 48), 0x10002);
  ck_assert_uint_eq(model_epoch_of(&h, (uint64_t)0xffff << 48), 0xffff);
}
END_TEST

START_TEST(a_torn_thread_is_counted) {
  synthetic_block(s, 1)->sequence = 7;
  synthetic_block(s, 2)->sequence = 8;
  build(ONE, 5000);
  ck_assert_uint_eq(model->health.torn_threads, 1);
  ck_assert_uint_eq(model->health.events, 7);
}
END_TEST

START_TEST(text_is_made_fit_to_print) {
  char text[] = "ok \xc3\xa9 \x1b[31m \xff \xc3 \xe2\x82\xac \xed\xa0\x80 \xc2\x9b";
  clean_text(text);
  ck_assert_str_eq(text, "ok \xc3\xa9 ?[31m ? ? \xe2\x82\xac ??? ??");
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("model");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, leaves_are_converted_one_by_one);
  tcase_add_test(tests, sums_over_blocks_and_beneath);
  tcase_add_test(tests, open_segments_go_where_the_state_says);
  tcase_add_test(tests, a_caller_waits_at_its_call);
  tcase_add_test(tests, a_caller_is_woken_by_nobody);
  tcase_add_test(tests, a_caller_of_an_old_epoch_is_detached);
  tcase_add_test(tests, a_caller_at_an_unreadable_await_is_not_lost);
  tcase_add_test(tests, a_woken_future_is_queued_since_then);
  tcase_add_test(tests, a_wake_before_the_wait_counts_from_its_beginning);
  tcase_add_test(tests, an_old_epoch_is_clipped_and_detached);
  tcase_add_test(tests, a_reset_leaves_nothing_from_before);
  tcase_add_test(tests, threads_add_up);
  tcase_add_test(tests, equal_sites_are_one);
  tcase_add_test(tests, an_alias_is_its_function);
  tcase_add_test(tests, an_address_without_symbols_keeps_its_module);
  tcase_add_test(tests, calls_of_one_name_on_a_line_are_one_place);
  tcase_add_test(tests, a_recursion_folds);
  tcase_add_test(tests, what_has_no_path_is_other);
  tcase_add_test(tests, a_wait_at_an_unreadable_await_is_not_lost);
  tcase_add_test(tests, wakers_and_blocking_calls_are_in_no_sum);
  tcase_add_test(tests, an_epoch_in_16_bits);
  tcase_add_test(tests, a_torn_thread_is_counted);
  tcase_add_test(tests, text_is_made_fit_to_print);
  return suite_run("cli model", tests);
}
