/* SPDX-License-Identifier: MIT */
/* Findings that judge sums: each on a view that has its bug, and on twins that have not. */
#include "ask/ask.h"
#include "read/util.h"
#include "show/format.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)

static struct view *v;
static struct view_function function[3];
static struct view_await await[1];
static struct view_path path[4];
static struct view_live live[400];
static struct bucket bucket[12];
static struct view_thread thread;

/* A loop of four seconds; `main` does little, and `it` is what has the bug or not. */
static void setup(void) {
  thread = (struct view_thread){.exec = 2 * SECOND,
                                .idle = 2 * SECOND,
                                .elapsed = 4 * SECOND,
                                .cost = UNKNOWN,
                                .run_delay = UNKNOWN};
  v = view_new("a view");
  memset(function, 0, sizeof function);
  memset(await, 0, sizeof await);
  memset(path, 0, sizeof path);
  memset(live, 0, sizeof live);
  for (size_t i = 0; i < sizeof function / sizeof *function; i++)
    function[i] = (struct view_function){.name = i ? "main" : "it",
                                         .file = "it.c",
                                         .line = 7 + i,
                                         .queued = 0,
                                         .slice_max = UNKNOWN,
                                         .live_before = UNKNOWN,
                                         .created = 1000,
                                         .done = 1000,
                                         .slices = 1000};
  await[0] = (struct view_await){.file = "it.c", .callee = "get", .kind = "create", .line = 8};
  function[0].await = await;
  function[0].awaits = 1;
  v->process.elapsed = 4 * SECOND;
  v->process.reason = "request";
  v->thread = &thread;
  v->threads = 1;
  v->function = function;
  v->functions = 2;
}
static void teardown(void) {
  view_free(v);
}

/* The first finding's kind, or "": its text has `says`, its place is `at`. */
static const char *first(const char *at, const char *says) {
  static char kind[32];
  size_t count;
  struct finding *list = ask_findings(v, &ask_defaults, &count);
  snprintf(kind, sizeof kind, "%s", count ? finding_kinds[list[0].kind] : "");
  if (count && at)
    ck_assert_str_eq(list[0].at, at);
  if (count && says)
    ck_assert_msg(strstr(shown_sentence(list[0].text), says) != NULL, "%s",
                  shown_sentence(list[0].text));
  findings_free(list, count);
  return kind;
}

static void waits(size_t buckets) {
  await[0].waits = (struct distribution){.bucket = bucket, .count = buckets};
  distribution_settle(&await[0].waits, HISTOGRAM_NO_MAX);
  for (size_t i = 0; i < buckets; i++) {
    await[0].count += bucket[i].count;
    await[0].waiting += bucket[i].count * bucket[i].lower;
  }
}

/* -- two speeds ------------------------------------------------------------------------ */

START_TEST(one_of_200_is_slow) {
  bucket[0] = (struct bucket){MS, 1990};
  bucket[1] = (struct bucket){60 * MS, 10};
  waits(2);
  ck_assert_str_eq(first("it.c:8", "0.5 % (10 of 2000) near"), "two_speeds");
}
END_TEST

START_TEST(waits_that_spread_have_one_speed) {
  uint64_t lower = MS, count = 1000;
  for (size_t i = 0; i < 12; i++, lower += lower / 2, count -= count / 3)
    bucket[i] = (struct bucket){lower, count};
  waits(12);
  ck_assert_str_eq(first(NULL, NULL), "");
}
END_TEST

START_TEST(what_a_busy_machine_adds_is_no_speed) {
  bucket[0] = (struct bucket){MS / 2, 1990};
  bucket[1] = (struct bucket){12 * MS, 10};
  waits(2);
  ck_assert_str_eq(first(NULL, NULL), "");
}
END_TEST

START_TEST(too_few_tell_nothing) {
  bucket[0] = (struct bucket){MS, 60};
  bucket[1] = (struct bucket){60 * MS, 10};
  waits(2);
  ck_assert_str_eq(first(NULL, NULL), "");
}
END_TEST

START_TEST(what_waits_for_work_or_for_a_time_is_as_slow_as_that) {
  bucket[0] = (struct bucket){MS, 1990};
  bucket[1] = (struct bucket){60 * MS, 10};
  waits(2);
  await[0].background = true;
  ck_assert_str_eq(first(NULL, NULL), "");
  await[0].background = false;
  bucket[1].count = 100;
  function[0].lateness = (struct view_lateness){.is = true, .count = 2000};
  waits(2);
  ck_assert_str_eq(first(NULL, NULL), "");
  bucket[1].count = 10;
  waits(2);
  ck_assert_str_eq(first("it.c:8", "for a time"), "two_speeds");
}
END_TEST

START_TEST(a_held_loop_makes_all_slow) {
  bucket[0] = (struct bucket){MS, 1990};
  bucket[1] = (struct bucket){60 * MS, 10};
  waits(2);
  function[1].slice_max = 60 * MS;
  ck_assert_str_eq(first(NULL, NULL), "held");
  function[1].slice_max = 5 * MS;
  ck_assert_str_eq(first(NULL, NULL), "two_speeds");
}
END_TEST

/* The 16 slowest requests, each over `apart` after the one before. */
static void slowest(uint64_t apart) {
  static struct view_slow slow[16];
  static struct view_kind kind;
  for (size_t i = 0; i < 16; i++)
    slow[i] = (struct view_slow){.begin = SECOND + i * apart, .wall = 61 * MS};
  kind = (struct view_kind){
      .kind = "it", .function = "it", .file = "it.c", .line = 7, .slow = slow, .slows = 16};
  v->kind = &kind;
  v->kinds = 1;
}

START_TEST(who_goes_on_together_has_waited_for_a_stall) {
  bucket[0] = (struct bucket){MS, 3980};
  bucket[1] = (struct bucket){60 * MS, 20};
  waits(2);
  slowest(MS / 10);
  ck_assert_str_eq(first(NULL, NULL), "");
  slowest(100 * MS);
  ck_assert_str_eq(first("it.c:8", NULL), "two_speeds");
  slowest(MS / 10);
  bucket[1].count = 60; /* these are a few of them */
  await[0].count = await[0].waiting = 0;
  waits(2);
  ck_assert_str_eq(first("it.c:8", NULL), "two_speeds");
}
END_TEST

/* -- pool ------------------------------------------------------------------------------- */

static void request(uint64_t each, uint64_t shortest) {
  path[0] = (struct view_path){
      .function = 0, .name = "it", .created = 1000, .wall = 1000 * each, .parent = SIZE_MAX};
  path[1] = (struct view_path){.function = 0,
                               .is_await = true,
                               .name = "get",
                               .kind = "create",
                               .waiting = 1000 * each,
                               .parent = 0};
  v->path = path;
  v->paths = 2;
  bucket[0] = (struct bucket){shortest, 10};
  bucket[1] = (struct bucket){each, 990};
  waits(2);
}

START_TEST(who_waits_for_what_nobody_sees) {
  request(18 * MS, 2 * MS);
  ck_assert_str_eq(first("it.c:8", "18.0 ms of the 18.0 ms"), "pool");
}
END_TEST

START_TEST(work_that_takes_that_long_is_no_pool) {
  request(18 * MS, 16 * MS);
  ck_assert_str_eq(first(NULL, NULL), "");
}
END_TEST

START_TEST(what_a_child_covers_is_seen) {
  request(18 * MS, 2 * MS);
  path[2] = (struct view_path){
      .function = 1, .name = "main", .created = 1000, .wall = 17 * SECOND, .parent = 0};
  v->paths = 3;
  ck_assert_str_eq(first(NULL, NULL), "");
}
END_TEST

START_TEST(what_another_future_made_is_no_request) {
  request(18 * MS, 2 * MS);
  path[2] = path[1];
  path[1] = path[0];
  path[2].parent = 1;
  path[1].parent = 0;
  path[0] = (struct view_path){.function = 1, .name = "main", .created = 1, .parent = SIZE_MAX};
  v->paths = 3;
  ck_assert_str_eq(first(NULL, NULL), "");
}
END_TEST

/* What it set going, and what that set going, waits for most of it. */
static void beneath(uint64_t waiting) {
  static struct view_await other[1];
  other[0] = (struct view_await){.file = "it.c", .callee = "poll", .kind = "create", .line = 9};
  other[0].waits = await[0].waits;
  function[1].await = other;
  function[1].awaits = 1;
  path[2] = (struct view_path){.function = 1, .name = "main", .created = 1000, .parent = 0};
  path[3] = (struct view_path){.function = 1,
                               .is_await = true,
                               .name = "poll",
                               .kind = "create",
                               .place = "it.c:9",
                               .waiting = waiting,
                               .await = other,
                               .parent = 2};
  v->path = path;
  v->paths = 4;
}

START_TEST(the_wait_that_takes_it_is_where_it_hurts) {
  request(18 * MS, 2 * MS);
  beneath(17 * SECOND);
  ck_assert_str_eq(first("it.c:9", "most of all those of `main` at it.c:9 poll, where"), "pool");
  beneath(8 * SECOND);
  ck_assert_str_eq(first("it.c:8", "most of all at it.c:8, where"), "pool");
}
END_TEST

START_TEST(two_speeds_are_those_of_the_wait_beneath) {
  bucket[0] = (struct bucket){MS, 1990};
  bucket[1] = (struct bucket){60 * MS, 10};
  waits(2);
  path[0] = (struct view_path){.function = 0, .name = "it", .parent = SIZE_MAX};
  beneath(2 * SECOND);
  path[1] = (struct view_path){.function = 2, .name = "main", .parent = SIZE_MAX};
  size_t count;
  struct finding *list = ask_findings(v, &ask_defaults, &count);
  ck_assert_uint_eq(count, 1);
  ck_assert_str_eq(list[0].at, "it.c:9");
  findings_free(list, count);
  path[2].parent = SIZE_MAX; /* it is another's */
  list = ask_findings(v, &ask_defaults, &count);
  ck_assert_uint_eq(count, 2);
  findings_free(list, count);
}
END_TEST

/* -- storm ------------------------------------------------------------------------------ */

START_TEST(who_runs_so_often_holds_the_loop) {
  function[0].slices = 100000;
  function[0].exec = function[0].loop_exec = 2 * SECOND;
  ck_assert_str_eq(first("it.c:7", "ran 100k times, 25.0k a second and 100 times as often"),
                   "storm");
  function[1].slices = 20000; /* there is that much to do */
  ck_assert_str_eq(first(NULL, NULL), "");
  function[1].slices = 1000;
  function[0].loop_exec = SECOND / 2;
  ck_assert_str_eq(first(NULL, NULL), "");
  thread.exec = SECOND / 2;
  thread.cost = SECOND; /* of what is left it is much */
  thread.run_delay = 3 * SECOND / 2;
  ck_assert_str_eq(first("it.c:7", "ran 100k times"), "storm");
}
END_TEST

/* An idle function, on a loop that comes to it late now and then. */
START_TEST(who_goes_on_at_once_polls) {
  bucket[0] = (struct bucket){4000, 95000};
  bucket[1] = (struct bucket){MS / 4, 5000};
  waits(2);
  function[0].created = function[0].done = 1;
  function[0].slices = 100000;
  function[0].exec = function[0].loop_exec = 20 * MS;
  ck_assert_str_eq(first("it.c:8", "ran 100k times"), "spinning");
  bucket[0].lower = 40000; /* something comes that often */
  await[0].count = await[0].waiting = 0;
  waits(2);
  ck_assert_str_eq(first(NULL, NULL), "");
  bucket[0].lower = 4000; /* and in bursts */
  bucket[1].lower = 2 * MS;
  await[0].count = await[0].waiting = 0;
  waits(2);
  ck_assert_str_eq(first(NULL, NULL), "");
}
END_TEST

/* Its loop comes to nothing else: no other runs to compare with, but one that is ready. */
START_TEST(who_lets_no_other_run_is_a_storm) {
  function[0].slices = 100000;
  function[0].exec = function[0].loop_exec = 2 * SECOND;
  function[1].slices = 0;
  live[0] = (struct view_live){.state = "queued",
                               .name = "main",
                               .started = true,
                               .function = 1,
                               .count = 1,
                               .age = 2 * SECOND,
                               .since = SECOND / 2};
  v->live = live;
  v->lives = 1;
  ck_assert_str_eq(first(NULL, NULL), ""); /* its turn may come yet */
  live[0].since = live[0].since_min = 3 * SECOND;
  ck_assert_str_eq(first("it.c:7", "ran 100k times, 25.0k a second and no other ran"), "storm");
  live[0].state = NULL; /* it never ran, or nobody saw it */
  live[0].started = false;
  ck_assert_str_eq(first("it.c:7", NULL), "storm");
}
END_TEST

/* -- growing ------------------------------------------------------------------------------ */

static void alive(size_t count, uint64_t youngest, uint64_t oldest) {
  for (size_t i = 0; i < count; i++)
    live[i] = (struct view_live){.state = "waiting",
                                 .created_at = "it.c:9",
                                 .age = youngest + (oldest - youngest) * i / (count - 1),
                                 .age_min = youngest + (oldest - youngest) * i / (count - 1),
                                 .count = 1};
  v->live = live;
  v->lives = count;
}

START_TEST(what_is_made_all_along_and_never_over) {
  alive(400, 10 * MS, 39 * SECOND / 10);
  ck_assert_str_eq(first("it.c:9", "400 live that were made at it.c:9 all along"), "growing");
  for (size_t i = 0; i < 400; i++)
    live[i].background = live[i].started = true;
  ck_assert_str_eq(first(NULL, NULL), ""); /* they wait for more work, as connections do */
  for (size_t i = 0; i < 400; i++)
    live[i].started = false;
  ck_assert_str_eq(first("it.c:9", "400 live that were made at it.c:9 all along"), "growing");
}
END_TEST

/* The last entry is of many, of which the youngest has just come. */
START_TEST(whether_callbacks_without_events_ran_or_ended_is_not_known) {
  alive(400, 10 * MS, 39 * SECOND / 10);
  for (size_t i = 0; i < 400; i++) {
    live[i].state = NULL;
    live[i].background = true;
    live[i].since = live[i].since_min = 3 * SECOND;
  }
  live[399].count = 200;
  live[399].since_min = MS;
  function[0].live = 599;
  function[0].done = function[0].slices = 0;
  function[0].exec = function[0].queued = UNKNOWN;
  ck_assert_str_eq(first("it.c:9", "whether 599 `it` futures ever ran is not known"), "never_ran");
}
END_TEST

START_TEST(those_that_are_young_or_of_the_start_do_not_grow) {
  alive(400, 10 * MS, 900 * MS);
  ck_assert_str_eq(first(NULL, NULL), "");
  alive(400, 38 * SECOND / 10, 39 * SECOND / 10);
  ck_assert_str_eq(first(NULL, NULL), "");
  alive(20, 10 * MS, 39 * SECOND / 10);
  ck_assert_str_eq(first(NULL, NULL), "");
}
END_TEST

START_TEST(who_holds_a_request_and_in_which_state) {
  struct view_kind kind = {.kind = "GET", .function = "it", .count = 1000};
  struct view_pending pending = {.kind = "GET", .function = "it", .id = 7, .age = 30 * SECOND};
  kind.wall.max = MS;
  live[0] = (struct view_live){.name = "it", .request = 7, .since = 3 * SECOND, .count = 1};
  v->live = live;
  v->kind = &kind;
  v->pending = &pending;
  v->lives = v->kinds = v->pendings = 1;
  static const char *const states[] = {"running", "queued", "waiting", NULL};
  static const char *const said[] = {
      "`it`, which runs, for", "`it`, which is ready, and does not run,", "`it`, which waits, for",
      "`it`, of which nobody knows whether it ran, for 3.00 s"};
  for (size_t i = 0; i < 4; i++) {
    live[0].state = states[i];
    live[0].started = states[i] != NULL;
    ck_assert_str_eq(first(NULL, said[i]), "endless");
  }
}
END_TEST

/* -- order, and what is told with what ------------------------------------------------------- */

START_TEST(a_call_that_blocks_is_where_a_hold_went) {
  static struct view_blocking call = {
      .file = "it.c", .callee = "fsync", .line = 20, .count = 3, .held = 90 * MS, .max = 30 * MS};
  size_t count;
  function[0].blocking = &call;
  function[0].blockings = 1;
  function[0].exec = 100 * MS;
  function[0].slice_max = function[0].on_cpu_least = function[0].on_cpu_most = 31 * MS;
  struct finding *list = ask_findings(v, &ask_defaults, &count);
  ck_assert_uint_eq(count, 2);
  ck_assert_int_eq(list[0].kind, FINDING_HELD);
  ck_assert_msg(
      strstr(shown_sentence(list[0].effect[0]), "calls fsync, which blocks, at it.c:20") != NULL,
      "%s", shown_sentence(list[0].effect[0]));
  ck_assert_ptr_eq(list[1].cause, &function[0]);
  findings_free(list, count);
}
END_TEST

START_TEST(what_others_may_have_made_is_no_hold) {
  function[0].slice_max = 20 * MS;
  function[0].on_cpu_least = MS;
  function[0].on_cpu_most = 2 * MS;
  bucket[0] = (struct bucket){20 * MS, 1};
  function[0].slice_of = (struct distribution){.bucket = bucket, .count = 1};
  ck_assert_str_eq(first(NULL, NULL), "");
  bucket[0].count = 3;
  ck_assert_str_eq(first(NULL, NULL), "held");
  bucket[0].count = 1;
  function[0].slice_max = 51 * MS;
  ck_assert_str_eq(first(NULL, NULL), "held");
  function[0].slice_max = 20 * MS;
  function[0].on_cpu_least = function[0].on_cpu_most = 11 * MS;
  ck_assert_str_eq(first(NULL, NULL), "held");
}
END_TEST

/* Beside other processes. */
START_TEST(what_a_busy_machine_made_is_no_finding) {
  struct view_thread *t = v->thread;
  function[0].slices = 1000;
  function[0].slice_max = 120 * MS;
  function[0].on_cpu_least = MS;
  function[0].on_cpu_most = 2 * MS;
  bucket[0] = (struct bucket){100 * MS, 1};
  function[0].slice_of = (struct distribution){.bucket = bucket, .count = 1};
  t->run_delay = SECOND;
  ck_assert_str_eq(first(NULL, NULL), ""); /* rare, and a small part of it */
  t->run_delay = SECOND / 4;
  ck_assert_str_eq(first(NULL, NULL), "held");
  t->run_delay = SECOND;
  bucket[0].count = 20; /* a call that blocks each 50th time */
  ck_assert_str_eq(first(NULL, NULL), "held");
  bucket[0].count = 1;
  function[0].on_cpu_least = 20 * MS; /* it computes */
  ck_assert_str_eq(first(NULL, NULL), "held");
  function[0].slice_max = UNKNOWN;
  function[0].slice_of.count = 0;
  function[0].queued = 20 * SECOND;
  bucket[1] = (struct bucket){50 * MS, 200};
  function[0].queued_of = (struct distribution){.bucket = bucket + 1, .count = 1};
  ck_assert_str_eq(first(NULL, NULL), ""); /* a fifth was late, for a quarter of the time */
  bucket[1].count = 400;
  ck_assert_str_eq(first(NULL, NULL), "queued");
  bucket[1].count = 200;
  t->run_delay = SECOND / 8;
  ck_assert_str_eq(first(NULL, NULL), "queued");
  t->run_delay = UNKNOWN;
}
END_TEST

START_TEST(whom_a_hold_delayed_stands_beneath_it) {
  static struct view_delayed late[] = {
      {.name = "main", .file = "it.c", .line = 8, .count = 5, .delayed = 90 * MS, .max = 30 * MS}};
  size_t count;
  function[0].slice_max = function[0].on_cpu_least = function[0].on_cpu_most = 31 * MS;
  function[0].delayed = late;
  function[0].delays = 1;
  function[1].queued = 100 * MS;
  bucket[0] = (struct bucket){20 * MS, 1000};
  function[1].queued_of = (struct distribution){.bucket = bucket, .count = 1};
  struct finding *list = ask_findings(v, &ask_defaults, &count);
  ck_assert_uint_eq(count, 2);
  ck_assert_str_eq(shown_sentence(list[0].effect[0]),
                   "delayed `main` 5 times, 90.0 ms = 90.0 % of all queueing");
  ck_assert_int_eq(list[1].kind, FINDING_QUEUED);
  ck_assert_ptr_eq(list[1].cause, &function[0]);
  findings_free(list, count);
}
END_TEST

/* -- loops ------------------------------------------------------------------------------- */

static struct view_loop loops[4];
static struct view_thread threads[4];
static struct view_ran ran[4][2];

/* Of ten seconds they were busy for so many per cent; `it` ran so often on each. */
static void loops_of(size_t count, const unsigned *percent, const uint64_t *runs) {
  for (size_t i = 0; i < count; i++) {
    uint64_t busy = 100 * MS * percent[i];
    threads[i] = (struct view_thread){.tid = 70 + (int64_t)i,
                                      .exec = busy,
                                      .idle = 10 * SECOND - busy,
                                      .elapsed = 10 * SECOND,
                                      .worked = busy,
                                      .run_delay = 0};
    ran[i][0] = (struct view_ran){"it", "it.c", 7, runs[i], busy - busy / 10};
    ran[i][1] = (struct view_ran){"main", "it.c", 8, 1, busy / 10};
    loops[i] = (struct view_loop){.tid = 70 + (int64_t)i,
                                  .elapsed = 10 * SECOND,
                                  .busy = busy,
                                  .thread = &threads[i],
                                  .hold_max = UNKNOWN,
                                  .open = UNKNOWN,
                                  .ran = ran[i],
                                  .rans = 1 + (i == 0)};
  }
  v->thread = threads;
  v->threads = count;
  v->loop = loops;
  v->loops = count;
}

static const unsigned one_of_three[] = {5, 90, 5};
static const uint64_t runs_of_three[] = {30, 9000, 40};

START_TEST(one_loop_has_all_the_work) {
  loops_of(3, one_of_three, runs_of_three);
  ck_assert_str_eq(first("it.c:7",
                         "loop 71 was busy for 90.0 % of its time and 2 others like it for "
                         "5.0 % at most: `it` (it.c:7) ran 9000 times there, and 40 at most"),
                   "uneven");
}
END_TEST

START_TEST(loops_that_share_the_work_are_even) {
  loops_of(3, (unsigned[]){70, 90, 80}, (uint64_t[]){3000, 9000, 4000});
  ck_assert_str_eq(first(NULL, NULL), "");
  loops_of(3, (unsigned[]){5, 50, 5}, runs_of_three); /* nobody is busy */
  ck_assert_str_eq(first(NULL, NULL), "");
  loops_of(4, (unsigned[]){90, 90, 90, 5}, (uint64_t[]){3000, 9000, 4000, 10}); /* one is new */
  ck_assert_str_eq(first(NULL, NULL), "");
  loops_of(1, one_of_three + 1, runs_of_three + 1);
  ck_assert_str_eq(first(NULL, NULL), "");
}
END_TEST

START_TEST(loops_that_do_other_work_are_not_compared) {
  loops_of(3, one_of_three, runs_of_three);
  ran[0][0].name = ran[2][0].name = "accept";
  ck_assert_str_eq(first(NULL, NULL), "");
  loops_of(3, one_of_three, runs_of_three);
  ran[1][1] = (struct view_ran){"render", "it.c", 90, 90, 8 * SECOND}; /* what only one does */
  ran[1][0].exec = SECOND;
  loops[1].rans = 2;
  ck_assert_str_eq(first(NULL, NULL), "");
}
END_TEST

START_TEST(a_loop_is_not_loaded_by_others) {
  loops_of(3, one_of_three, (uint64_t[]){3000, 9000, 4000}); /* its runs are longer, not more */
  ck_assert_str_eq(first(NULL, NULL), "");
  loops_of(3, one_of_three, runs_of_three);
  threads[1].run_delay = 5 * SECOND; /* others had the processors */
  ck_assert_str_eq(first(NULL, NULL), "");
  loops_of(3, one_of_three, runs_of_three);
  loops[0].elapsed = loops[2].elapsed = 4 * SECOND; /* they have only begun */
  ck_assert_str_eq(first(NULL, NULL), "");
  loops_of(3, one_of_three, runs_of_three);
  for (size_t i = 0; i < 3; i++) { /* no poller is described */
    loops[i].busy = UNKNOWN;
    threads[i].worked = threads[i].exec;
  }
  ck_assert_str_eq(first(NULL, "loop 71 ran futures for 90.0 %"), "uneven");
  threads[0].worked = threads[2].worked = 5 * SECOND; /* beside their futures */
  ck_assert_str_eq(first(NULL, NULL), "");
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("cli_bugs");
  const TTest *const tests[] = {one_of_200_is_slow,
                                waits_that_spread_have_one_speed,
                                what_a_busy_machine_adds_is_no_speed,
                                too_few_tell_nothing,
                                what_waits_for_work_or_for_a_time_is_as_slow_as_that,
                                a_held_loop_makes_all_slow,
                                who_waits_for_what_nobody_sees,
                                work_that_takes_that_long_is_no_pool,
                                what_a_child_covers_is_seen,
                                what_another_future_made_is_no_request,
                                the_wait_that_takes_it_is_where_it_hurts,
                                two_speeds_are_those_of_the_wait_beneath,
                                who_runs_so_often_holds_the_loop,
                                who_lets_no_other_run_is_a_storm,
                                who_goes_on_at_once_polls,
                                who_goes_on_together_has_waited_for_a_stall,
                                what_is_made_all_along_and_never_over,
                                whether_callbacks_without_events_ran_or_ended_is_not_known,
                                those_that_are_young_or_of_the_start_do_not_grow,
                                who_holds_a_request_and_in_which_state,
                                a_call_that_blocks_is_where_a_hold_went,
                                what_others_may_have_made_is_no_hold,
                                what_a_busy_machine_made_is_no_finding,
                                whom_a_hold_delayed_stands_beneath_it,
                                one_loop_has_all_the_work,
                                loops_that_share_the_work_are_even,
                                loops_that_do_other_work_are_not_compared,
                                a_loop_is_not_loaded_by_others};
  tcase_add_checked_fixture(tcase, setup, teardown);
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    tcase_add_test(tcase, tests[i]);
  return suite_run("cli_bugs", tcase);
}
