/* SPDX-License-Identifier: MIT */
/* What was shed, as reports show it: read/governed*.c and all that asks them. */
#include "read/json.h"
#include "shown.h"
#include "suite.h"
#include "synthetic.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A tick is a ns. One thread, at work for BUSY, of which a report may have to say that it
   was not looked at. One function waits at one await, and has woken itself. */
enum { START = 1000, BUSY = 100000000, NOW = START + BUSY, HELD = 50000000 };

static struct synthetic *s;
static struct aprof_block *block;
static struct aprof_counters *request, *waits;
static uint16_t *slices;

static void setup(void) {
  s = synthetic_new();
  uint32_t function = synthetic_site(s, APROF_SITE_FUNCTION, "request", "server.c", 10, 1);
  uint32_t await = synthetic_site(s, APROF_SITE_AWAIT, "read_all", "server.c", 12, 3);
  uint32_t disk = synthetic_site(s, APROF_SITE_BLOCKING, "fsync", "server.c", 13, 3);
  uint32_t wake = synthetic_site(s, APROF_SITE_WAKE, "kick", "server.c", 14, 3);
  uint32_t node = synthetic_node(s, 0, function, APROF_NODE_FUNCTION);
  uint32_t await_node = synthetic_node(s, node, await, APROF_NODE_AWAIT);
  uint32_t disk_node = synthetic_node(s, node, disk, APROF_NODE_BLOCKING);
  uint32_t wake_node = synthetic_node(s, node, wake, APROF_NODE_WAKER);
  block = synthetic_block(s, 1);
  block->state = APROF_THREAD_OTHER;
  block->last = NOW;
  block->other = BUSY / 2;
  block->sequence = 2000;
  request = synthetic_counters(s, 1, node);
  request->function.done = 100;
  request->function.exec = BUSY / 2;
  request->function.slices = 100;
  request->function.slice_max = HELD;
  request->function.slice_from = request->function.slice_to = function;
  request->function.slice_buckets = synthetic_buckets(s, &slices);
  slices[aprof_bucket_of(HELD)] = 2;
  waits = synthetic_counters(s, 1, await_node);
  waits->await.count = 100;
  waits->await.waiting = 3000000;
  waits->await.max = 90000;
  synthetic_counters(s, 1, disk_node)->await.count = 3;
  synthetic_counters(s, 1, disk_node)->await.waiting = 20000000;
  synthetic_counters(s, 1, disk_node)->await.max = 15000000;
  synthetic_counters(s, 1, wake_node)->await.count = 5;
  synthetic_counters(s, 1, wake_node)->await.waiting = 400;
  request->function.queued = 400;
  s->header->event_cost_mticks = 100000;
  for (int step = 0; step < APROF_STEPS; step++)
    s->header->step_cost_mticks[step] = step == APROF_STEP_COUNTS ? 10000 : 100000;
}

static void teardown(void) {
  free(s);
}

/* The thread was at `step` for so much of its time, and is no more. */
static void shed(enum aprof_step step, uint64_t ticks, uint64_t events) {
  s->header->overhead_ppm = 10000;
  block->at_step[step].ticks = ticks;
  block->at_step[step].events = events;
  block->at_step[APROF_STEP_NONE].ticks = BUSY - ticks;
  block->at_step[APROF_STEP_NONE].events = block->sequence / 2 - events;
  block->step_event = block->sequence / 2;
  block->step_tick = NOW;
}

static struct view *read_now(void) {
  return shown_view(s, "request", NOW);
}

static cJSON *as_json(const struct view *v) {
  char *text = NULL, *fault = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  report_json(v, &report_defaults, NULL, out);
  fclose(out);
  cJSON *json = json_parse(text, length, &fault);
  free(text);
  ck_assert_ptr_nonnull(json);
  return json;
}

static void has(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

static void lacks(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) == NULL, "\"%s\" in:\n%s", part, text);
}

static int shed_size(const cJSON *object) {
  ck_assert(cJSON_IsArray(json_member(object, "shed")));
  return cJSON_GetArraySize(json_member(object, "shed"));
}

START_TEST(nothing_shed_is_not_marked) {
  s->header->overhead_ppm = 10000;
  struct view *v = read_now();
  char *text = shown_report(v);
  lacks(text, "~");
  has(text, "longest hold 50.0 ms");
  cJSON *json = as_json(v);
  const cJSON *process = json_member(json, "process");
  ck_assert_int_eq(shed_size(process), 0);
  ck_assert(json_member(process, "holds_seen")->valuedouble == 1);
  ck_assert_int_eq(shed_size(cJSON_GetArrayItem(json_member(json, "findings"), 0)), 0);
  json_free(json);
  free(text);
  view_free(v);
}
END_TEST

START_TEST(each_number_that_lacks_something_is_marked) {
  shed(APROF_STEP_COUNTS, BUSY / 4, 600);
  synthetic_future(s, 1, 3, APROF_FUTURE_WAITING, NOW - 1000);
  struct view *v = read_now();
  char *text = shown_report(v);
  has(text, "futures ran ~50.0 % of the time  longest hold ~50.0 ms");
  has(text, "`request` held the loop for ~50.0 ms between");
  has(text, "(~2 times over 10.0 ms)");
  has(text,
      "fsync, which blocks, at server.c:13: ~20.0 ms of loop time (3 times, ~15.0 ms at worst)");
  has(text, "holds of the loop could be seen for 75.0 % of its time only (~)");
  has(text, "shed detail (~): counts only 25.0 % of its time");
  lacks(text, "no finding");
  cJSON *json = as_json(v);
  static const char *const rows[] = {"findings", "functions", "waits", "wakers", "blocking"};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const cJSON *row = cJSON_GetArrayItem(json_member(json, rows[i]), 0);
    ck_assert_msg(row != NULL, "%s", rows[i]);
    ck_assert_int_eq(shed_size(row), 4);
  }
  const cJSON *process = json_member(json, "process");
  ck_assert_int_eq(shed_size(process), 4);
  ck_assert(json_member(process, "holds_seen")->valuedouble == 0.75);
  json_free(json);
  free(text);
  view_free(v);
}
END_TEST

/* Without histograms the longest is still seen, but not how often. */
START_TEST(only_what_lacks_something_is_marked) {
  shed(APROF_STEP_HISTOGRAMS, BUSY / 4, 600);
  struct view *v = read_now();
  char *text = shown_report(v);
  has(text, "futures ran 50.0 % of the time  longest hold 50.0 ms");
  has(text, "`request` held the loop for 50.0 ms between");
  has(text, "(~2 times over 10.0 ms)");
  lacks(text, "holds of the loop");
  free(text);
  view_free(v);
}
END_TEST

START_TEST(what_was_not_seen_is_not_denied) {
  request->function.slice_max = 1000;
  slices[aprof_bucket_of(HELD)] = 0;
  synthetic_counters(s, 1, 5)->await.waiting = synthetic_counters(s, 1, 5)->await.max = 10;
  shed(APROF_STEP_COARSE, BUSY / 4, 600);
  struct view *v = read_now();
  char *text = shown_report(v);
  has(text, "no finding, but holds of the loop could be seen for 75.0 % of its time only (~): none "
            "over 10.0 ms\n");
  lacks(text, "nothing held");
  free(text);
  view_free(v);
}
END_TEST

START_TEST(nothing_was_seen_at_all) {
  request->function.slice_max = 0;
  request->function.slice_buckets = 0;
  synthetic_counters(s, 1, 5)->await.waiting = synthetic_counters(s, 1, 5)->await.max = 10;
  shed(APROF_STEP_COUNTS, BUSY, 1000);
  struct view *v = read_now();
  ck_assert(!v->thread[0].is_pool);
  char *text = shown_report(v);
  has(text, "futures ran ~50.0 % of the time  no hold of it was seen (~)");
  has(text, "no finding, but holds of the loop could be seen for 0.0 % of its time only (~)\n");
  lacks(text, "pool thread");
  free(text);
  view_free(v);
}
END_TEST

/* The dearer half of all events came before the interval. */
/* Against what its thread worked, not its sleep; by those that were timed, where there are enough.
 */
START_TEST(events_cost_what_was_timed) {
  struct view *v;
  block->cpu_ns = BUSY / 2;
  block->cpu_tick = NOW;
  block->timed_events = 255;
  block->general_events = 7;
  block->timed_ticks = 255 * 400;
  v = read_now();
  ck_assert(!v->health.event_cost_timed);
  ck_assert_uint_eq(v->health.general_events, 7);
  ck_assert_double_eq_tol(v->health.overhead, 100.0 * 1000 * 100 / (BUSY / 2), 1e-3);
  view_free(v);
  block->timed_events = 256;
  block->timed_ticks = 256 * 400;
  v = read_now();
  ck_assert(v->health.event_cost_timed);
  ck_assert_double_eq_tol(v->health.overhead, 100.0 * 1000 * 400 / (BUSY / 2), 1e-3);
  ck_assert_uint_eq(v->health.event_cost_least, 100);
  view_free(v);
  block->timed_ticks = 256 * 40; /* what is the least was measured while much else went on */
  v = read_now();
  ck_assert_uint_eq(v->health.event_cost, 100);
  ck_assert_double_eq_tol(v->health.overhead, 100.0 * 1000 * 100 / (BUSY / 2), 1e-3);
  view_free(v);
}
END_TEST

/* A tenth of next to nothing is a large part of nothing that anybody pays. */
START_TEST(an_idle_loop_costs_a_part_of_a_processor) {
  struct view *v = read_now();
  for (size_t i = 0; i < v->threads; i++)
    v->thread[i].overhead = -1;
  v->thread[0].overhead = v->health.overhead = 10;
  v->health.event_cost_timed = true;
  v->process.elapsed = 1000000000;
  v->thread[0].worked = 10000000;
  char *text = shown_report(v);
  ck_assert_ptr_nonnull(strstr(text, "cost 0.10 % of a CPU"));
  free(text);
  v->thread[0].worked = 500000000;
  text = shown_report(v);
  ck_assert_ptr_nonnull(strstr(text, "cost 10.0 %"));
  free(text);
  view_free(v);
}
END_TEST

/* Between two totals at that step it may seem to have run nothing. */
START_TEST(a_loop_of_which_nothing_is_known_is_one) {
  struct view *v = read_now();
  v->thread[0].exec = v->thread[0].idle = 0;
  v->thread[0].at_step[APROF_STEP_COUNTS].elapsed = v->thread[0].elapsed;
  v->thread[0].shed = 1u << APROF_STEP_COUNTS;
  struct loop loop = ask_loop(v);
  ck_assert_uint_eq(loop.unseen, v->thread[0].elapsed);
  ck_assert_uint_eq(loop.shed, v->thread[0].shed);
  view_free(v);
}
END_TEST

START_TEST(an_interval_costs_what_its_events_did) {
  block->cpu_ns = BUSY;
  block->cpu_tick = NOW;
  shed(APROF_STEP_COUNTS, 0, 0);
  struct view *earlier = read_now();
  ck_assert_double_eq_tol(earlier->health.overhead, 100.0 * 1000 * 100 / BUSY, 1e-3);
  block->sequence += 2000;
  block->other += BUSY;
  block->cpu_ns += BUSY;
  shed(APROF_STEP_COUNTS, BUSY, 1000);
  struct view *later = read_now();
  ck_assert(view_subtract(later, earlier));
  ck_assert_double_eq_tol(later->health.overhead, 100.0 * 1000 * 10 / BUSY, 1e-3);
  view_free(later);
  view_free(earlier);
}
END_TEST

/* The first totals have the longer hold, and the histogram that would show a new one is not
   kept. */
START_TEST(an_interval_has_no_maxima_without_histograms) {
  shed(APROF_STEP_HISTOGRAMS, 0, 0);
  struct view *earlier = read_now();
  block->sequence += 2000;
  request->function.exec += BUSY;
  shed(APROF_STEP_HISTOGRAMS, BUSY / 4, 600);
  struct view *later = read_now();
  ck_assert_uint_eq(ask_loop(later).unseen, 0);
  ck_assert(view_subtract(later, earlier));
  struct loop loop = ask_loop(later);
  ck_assert_uint_eq(loop.elapsed, BUSY);
  ck_assert_uint_eq(loop.unseen, BUSY / 4);
  char *text = shown_report(later);
  lacks(text, "no finding: nothing held");
  has(text, "holds of the loop could be seen for 75.0 % of its time only (~)");
  free(text);
  view_free(later);
  view_free(earlier);
}
END_TEST

/* What was shed before the interval is no matter of it. */
START_TEST(an_interval_is_marked_for_itself) {
  shed(APROF_STEP_COUNTS, BUSY / 4, 600);
  struct view *earlier = read_now();
  block->sequence += 2000;
  block->other += BUSY;
  shed(APROF_STEP_COUNTS, BUSY / 4, 600);
  request->function.done += 10;
  struct view *later = read_now();
  ck_assert(view_subtract(later, earlier));
  char *text = shown_report(later);
  lacks(text, "~");
  has(text, "no finding: nothing held the loop for over 10.0 ms");
  free(text);
  view_free(later);
  view_free(earlier);
}
END_TEST

/* Of its hundred futures five ended while they were measured; or fifty did. */
START_TEST(sums_that_say_nothing_are_not_shown) {
  uint16_t(*ended)[2];
  request->function.ended_buckets = synthetic_ended(s, &ended);
  ended[aprof_bucket_of(1000)][0] = 5;
  shed(APROF_STEP_COUNTS, BUSY / 2, 600);
  struct view *v = read_now();
  char *text = shown_report(v);
  has(text, "request                -   ");
  cJSON *json = as_json(v);
  const cJSON *row = cJSON_GetArrayItem(json_member(json, "functions"), 0);
  ck_assert(cJSON_IsNull(json_member(row, "exec_ns")));
  ck_assert(cJSON_IsNull(json_member(row, "loop_share")));
  ck_assert(cJSON_IsNumber(json_member(row, "created")));
  json_free(json);
  free(text);
  view_free(v);
  ended[aprof_bucket_of(1000)][0] = 50;
  v = read_now();
  text = shown_report(v);
  has(text, "request             ~50% ");
  free(text);
  view_free(v);
  /* Without histograms only, sums are right. */
  ended[aprof_bucket_of(1000)][0] = 5;
  shed(APROF_STEP_COUNTS, 1, 1);
  block->at_step[APROF_STEP_HISTOGRAMS].events = 599;
  v = read_now();
  text = shown_report(v);
  has(text, "request             ~50% ");
  free(text);
  view_free(v);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("governed");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, nothing_shed_is_not_marked);
  tcase_add_test(tests, each_number_that_lacks_something_is_marked);
  tcase_add_test(tests, only_what_lacks_something_is_marked);
  tcase_add_test(tests, what_was_not_seen_is_not_denied);
  tcase_add_test(tests, nothing_was_seen_at_all);
  tcase_add_test(tests, a_loop_of_which_nothing_is_known_is_one);
  tcase_add_test(tests, an_interval_costs_what_its_events_did);
  tcase_add_test(tests, events_cost_what_was_timed);
  tcase_add_test(tests, an_idle_loop_costs_a_part_of_a_processor);
  tcase_add_test(tests, an_interval_has_no_maxima_without_histograms);
  tcase_add_test(tests, an_interval_is_marked_for_itself);
  tcase_add_test(tests, sums_that_say_nothing_are_not_shown);
  return suite_run("cli governed", tests);
}
