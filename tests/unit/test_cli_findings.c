/* SPDX-License-Identifier: MIT */
/* What a report says and finds: ask/findings*.c, show/report*.c, of profiles made to measure. */
#include "read/json.h"
#include "shown.h"
#include "suite.h"
#include "synthetic.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A tick is a ns. One thread with a loop; a function of one timer's callbacks. */
#define MS UINT64_C(1000000)
enum { START = 1000 };
#define NOW (START + 10000 * MS)

static struct synthetic *s;
static struct aprof_block *block;
static uint32_t function, create, node, wait_node;
static struct aprof_counters *timer, *waits;

static void setup(void) {
  s = synthetic_new();
  function = synthetic_site(s, APROF_SITE_FUNCTION, "on_time", "/src/app/server.c", 10, 1);
  create = synthetic_site(s, APROF_SITE_CREATE, "timer_start", "/src/app/server.c", 20, 3);
  node = synthetic_node(s, 0, function, APROF_NODE_FUNCTION);
  wait_node = synthetic_node(s, node, create, APROF_NODE_AWAIT);
  block = synthetic_block(s, 1);
  block->tid = s->header->pid;
  block->state = APROF_THREAD_OTHER;
  block->last = NOW;
  timer = synthetic_counters(s, 1, node);
  waits = synthetic_counters(s, 1, wait_node);
}

static void teardown(void) {
  free(s);
}

static struct view *read_at(const char *reason, uint64_t now) {
  return shown_view(s, reason, now);
}

static void has(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

static void lacks(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) == NULL, "\"%s\" in:\n%s", part, text);
}

static char *report_at(const char *reason, uint64_t now) {
  struct view *v = read_at(reason, now);
  char *text = shown_report(v);
  view_free(v);
  return text;
}

/* -- who waits ----------------------------------------------------------------------- */

/* A hundred timers were due after 5 ms; twelve more live. */
static void timers(uint64_t due) {
  timer->function.done = 100;
  timer->function.wall_max = 5 * MS;
  timer->function.ended_buckets = synthetic_all_of(s, true, 5 * MS, 100);
  waits->await.count = 100;
  waits->await.waiting = 500 * MS;
  waits->await.max = 5 * MS;
  waits->await.buckets = synthetic_all_of(s, false, 5 * MS, 100);
  for (int i = 0; i < 12; i++) {
    struct aprof_future *f = synthetic_future(s, 1, node, APROF_FUTURE_WAITING, START + 1000 * MS);
    f->await = wait_node;
    f->flags = 0;
    f->origin = create;
    f->wake_tick = due ? due + (uint64_t)i : 0;
  }
}

START_TEST(what_waits_for_its_time_is_neither_stuck_nor_left) {
  timers(NOW + 50000 * MS);
  char *text = report_at("exit", NOW);
  has(text, "no finding: ");
  free(text);
  size_t length;
  text = shown_totals(s, "exit", NOW, &length);
  has(text, "\"due_in_ns\":50000000000,");
  free(text);
}
END_TEST

START_TEST(what_has_no_time_is_stuck) {
  timers(0);
  char *text = report_at("exit", NOW), *json;
  size_t length;
  has(text, "12 `on_time` futures have waited over 9.00 s");
  free(text);
  json = shown_totals(s, "exit", NOW, &length);
  has(json, "\"due_in_ns\":null,");
  free(json);
}
END_TEST

/* A waker may be a little ahead of the moment that the totals are of. */
START_TEST(what_was_woken_just_now_is_not_due) {
  timers(NOW + 5);
  for (uint32_t i = 0; i < s->future_count; i++)
    s->futures[i].wake_site = create;
  size_t length;
  char *json = shown_totals(s, "exit", NOW, &length);
  has(json, "\"due_in_ns\":null,");
  lacks(json, "\"due_in_ns\":5");
  free(json);
}
END_TEST

/* The twelve that go on have waited for longer than all that ended. */
START_TEST(the_mean_of_waits_is_of_those_that_ended) {
  timers(0);
  struct view *earlier = read_at("request", NOW);
  char *text = report_at("request", NOW);
  has(text, "    100   108s  5.0ms  5.0ms\n");
  free(text);
  waits->await.count += 2;
  waits->await.waiting += 14 * MS;
  struct view *later = read_at("request", NOW + 1000 * MS);
  ck_assert(view_subtract(later, earlier));
  text = shown_report(later);
  has(text, "      2    12s  7.0ms      -\n");
  free(text);
  waits->await.count = waits->await.waiting = 0;
  text = report_at("request", NOW);
  has(text, "      0   108s      -  5.0ms\n");
  free(text);
  view_free(earlier);
  view_free(later);
}
END_TEST

/* -- the first line ------------------------------------------------------------------ */

static void next_epoch(uint64_t tick, bool on) {
  struct aprof_header *h = s->header;
  if (h->enabled)
    h->epochs[h->epoch % APROF_EPOCHS].end_tick = tick;
  h->enabled = on;
  h->epoch++;
  h->epochs[h->epoch % APROF_EPOCHS] = (struct aprof_epoch){tick, on ? 0 : tick};
}

static void first_line(uint64_t now, const char *part) {
  char *text = report_at("request", now);
  has(text, part);
  free(text);
}

START_TEST(the_first_line_has_the_time_that_was_measured) {
  first_line(START + 100 * MS, "(pid 4242)  100 ms  0 futures");
  next_epoch(START + 100 * MS, false);
  first_line(START + 150 * MS, "(pid 4242)  100 ms of profiling in 150 ms  0 futures");
  next_epoch(START + 200 * MS, true);
  struct view *earlier = read_at("request", START + 230 * MS);
  first_line(START + 230 * MS, "(pid 4242)  130 ms of profiling in 230 ms  0 futures");
  next_epoch(START + 240 * MS, false);
  next_epoch(START + 250 * MS, true);
  struct view *later = read_at("request", START + 300 * MS);
  ck_assert(view_subtract(later, earlier));
  char *text = shown_report(later);
  has(text, "(pid 4242)  60.0 ms of profiling between the two  0 futures");
  free(text);
  view_free(earlier);
  view_free(later);
  s->header->reset_epoch = s->header->epoch + 1;
  next_epoch(START + 300 * MS, true);
  first_line(START + 317 * MS, "(pid 4242)  17.0 ms since the reset  0 futures");
  next_epoch(START + 320 * MS, false);
  first_line(START + 330 * MS, "(pid 4242)  20.0 ms of profiling since the reset  0 futures");
  for (int i = 0; i < 260; i++)
    next_epoch(START + 330 * MS, i % 2);
  first_line(START + 340 * MS, "(pid 4242)  340 ms  0 futures");
}
END_TEST

/* As with enabled:no, until `aprof on'. */
START_TEST(a_profile_that_began_switched_off_has_measured_nothing) {
  s->header->enabled = 0;
  first_line(START + 100 * MS, "(pid 4242)  0 of profiling in 100 ms  0 futures");
  next_epoch(START + 100 * MS, true);
  first_line(START + 130 * MS, "(pid 4242)  30.0 ms of profiling in 130 ms  0 futures");
}
END_TEST

/* Of a hostile profile: behind the last epoch there is none to come to. */
START_TEST(the_last_epoch_is_the_last) {
  s->header->epoch = UINT32_MAX;
  s->header->reset_epoch = UINT32_MAX - 3;
  first_line(START + 100 * MS, "(pid 4242)");
}
END_TEST

/* -- who held the loop ---------------------------------------------------------------- */

/* One that suspends calls one that calls another; each in the slices of the outermost. */
static struct aprof_counters *stack(uint64_t slice, uint64_t inner, uint64_t innermost) {
  uint32_t conn = synthetic_site(s, APROF_SITE_FUNCTION, "conn", "/src/app/conn.c", 30, 1);
  uint32_t handler = synthetic_site(s, APROF_SITE_FUNCTION, "handler", "/src/app/conn.c", 40, 1);
  uint32_t work = synthetic_site(s, APROF_SITE_FUNCTION, "compress", "/src/app/conn.c", 50, 1);
  uint32_t read = synthetic_site(s, APROF_SITE_AWAIT, "net_read", "/src/app/conn.c", 32, 1);
  uint32_t conn_node = synthetic_node(s, 0, conn, APROF_NODE_FUNCTION);
  uint32_t handler_node = synthetic_node(s, conn_node, handler, APROF_NODE_FUNCTION);
  uint32_t work_node = synthetic_node(s, handler_node, work, APROF_NODE_FUNCTION);
  struct aprof_counters *c = synthetic_counters(s, 1, conn_node);
  c->function.done = 1;
  c->function.exec = c->function.exec_max = 5 * MS;
  c->function.slices = 100;
  c->function.slice_max = slice;
  c->function.slice_from = c->function.slice_to = read;
  c->function.slice_buckets = synthetic_all_of(s, false, slice, 100);
  struct aprof_counters *h = synthetic_counters(s, 1, handler_node);
  h->function.done = 100;
  h->function.exec = h->function.exec_max = inner;
  struct aprof_counters *w = synthetic_counters(s, 1, work_node);
  w->function.done = 100;
  w->function.exec = w->function.exec_max = innermost;
  return w;
}

static void held(const char *part) {
  char *text = report_at("exit", NOW);
  has(text, part);
  free(text);
}

START_TEST(the_one_that_ran_longest_in_a_hold_is_named) {
  stack(50 * MS, 1 * MS, 49 * MS);
  held("`conn` held the loop for 50.0 ms between conn.c:32 net_read and conn.c:32 net_read (100 "
       "times over 10.0 ms), mostly in `compress` (conn.c:50): 49.0 ms at worst; ");
  size_t length;
  char *json = shown_totals(s, "exit", NOW, &length);
  has(json, "\"mostly\":\"compress\",\"mostly_ns\":49000000,");
  free(json);
}
END_TEST

START_TEST(nobody_is_named_who_did_not_run_for_most_of_a_hold) {
  stack(50 * MS, 24 * MS, 20 * MS);
  held("(100 times over 10.0 ms); ");
}
END_TEST

/* All that it ran was more than one hold; or it has its own. */
START_TEST(nobody_is_named_for_what_he_ran_elsewhere) {
  struct aprof_counters *work = stack(50 * MS, 1 * MS, 60 * MS);
  held("(100 times over 10.0 ms); ");
  work->function.exec_max = 49 * MS;
  work->function.slices = 1;
  held("(100 times over 10.0 ms); ");
}
END_TEST

START_TEST(who_waits_at_times_is_named_with_care) {
  stack(50 * MS, 1 * MS, 49 * MS);
  uint32_t rest = synthetic_site(s, APROF_SITE_AWAIT, "yield", "/src/app/conn.c", 52, 1);
  uint32_t rest_node = synthetic_node(s, s->node_count, rest, APROF_NODE_AWAIT);
  synthetic_counters(s, 1, rest_node)->await.count = 3;
  synthetic_counters(s, 1, rest_node)->await.waiting = 3000;
  held(", most likely in `compress` (conn.c:50): its futures ran for up to 49.0 ms; ");
}
END_TEST

/* On one line. */
static void said(const char *part) {
  size_t length;
  char *json = shown_totals(s, "exit", NOW, &length);
  has(json, part);
  free(json);
}

/* What the kernel said of the longest. */
START_TEST(a_hold_was_on_the_cpu_or_not) {
  stack(50 * MS, 1 * MS, 1 * MS);
  struct aprof_counters *c = synthetic_counters(s, 1, 5);
  said("; whether on the CPU is not known");
  c->function.on_cpu_least_us = 49000;
  c->function.on_cpu_most_us = 50000;
  said("; on the CPU for at least 49.0 ms");
  c->function.on_cpu_least_us = 0;
  said("; whether on the CPU is not known");
  c->function.on_cpu_most_us = 2000;
  said("; at least 48.0 ms of that off the CPU (blocked in the kernel, or preempted)");
}
END_TEST

/* -- without histograms --------------------------------------------------------------- */

START_TEST(nothing_is_counted_without_histograms) {
  stack(50 * MS, 1 * MS, 1 * MS);
  synthetic_counters(s, 1, 5)->function.slice_buckets = 0;
  held("net_read (at least once over 10.0 ms); ");
  held("no histograms: how often is not known; ");
  size_t length;
  char *json = shown_totals(s, "exit", NOW, &length);
  has(json, "\"at\":\"/src/app/conn.c:32\",\"count\":null,");
  free(json);
}
END_TEST

/* Some threads had room for them. */
START_TEST(a_part_of_the_histograms_is_a_least_count) {
  stack(50 * MS, 1 * MS, 1 * MS);
  synthetic_counters(s, 1, 5)->function.slices = 200;
  held("net_read (at least 100 times over 10.0 ms); ");
}
END_TEST

START_TEST(the_late_are_found_without_histograms) {
  timer->function.slices = 1000;
  timer->function.queued = 100 * MS;
  uint32_t wake = synthetic_site(s, APROF_SITE_WAKE, "kick", "/src/app/server.c", 30, 1);
  uint32_t waker = synthetic_node(s, node, wake, APROF_NODE_WAKER);
  struct aprof_counters *c = synthetic_counters(s, 1, waker);
  c->await.count = 1000;
  c->await.waiting = 90 * MS;
  c->await.max = 9 * MS;
  held("no finding: ");
  c->await.max = 61 * MS;
  held("`on_time` (server.c:10) was ready but did not run for 61.0 ms at worst (100 ms in all)");
  c->await.max = 9 * MS;
  timer->function.queued = 20000 * MS;
  held("`on_time` (server.c:10) was ready but did not run for 20.0 ms on average (20.0 s in all)");
  timer->function.slice_buckets = synthetic_all_of(s, false, 1000, 1000);
  held("no finding: ");
}
END_TEST

START_TEST(the_stuck_are_found_without_histograms) {
  timers(0);
  waits->await.buckets = timer->function.ended_buckets = 0;
  held("12 `on_time` futures have waited over 9.00 s (the others 5.00 ms at most) at ");
  waits->await.count = 5;
  held("12 `on_time` futures have waited over 9.00 s (such a life took 5.00 ms at most) at ");
  waits->await.count = 100;
  waits->await.max = timer->function.wall_max = 950 * MS;
  held("no finding: ");
}
END_TEST

/* -- who spins ------------------------------------------------------------------------- */

static void wakes_itself(void) {
  uint32_t wake = synthetic_site(s, APROF_SITE_WAKE, "kick", "/src/app/server.c", 30, 1);
  uint32_t waker = synthetic_node(s, node, wake, APROF_NODE_WAKER);
  s->sites[wake].function = synthetic_string(s, "on_time");
  timer->function.exec = 200 * MS;
  timer->function.slices = 200000;
  timer->function.done = 1;
  synthetic_counters(s, 1, waker)->await.count = 200000;
}

START_TEST(only_one_that_is_alone_wakes_itself) {
  wakes_itself();
  held("`on_time` woke itself 200k times at server.c:30 kick, for 1.00 us each time: it polls");
  timer->function.done = 2;
  held(
      "`on_time` futures woke each other or themselves 200k times at server.c:30 kick, for 1.00 us "
      "each time: they poll where they could wait, or hand on very little cost: 200 ms, ");
}
END_TEST

/* A callback of a descriptor, run in each turn of the loop for `took`. */
static void goes_on(enum aprof_site_kind kind, const char *callee, uint64_t took, uint64_t turn) {
  uint32_t watch = synthetic_site(s, kind, callee, "/src/app/watch.c", 60, 3);
  s->sites[watch].flags |= kind == APROF_SITE_CREATE ? APROF_BACKGROUND : 0;
  uint32_t reader = synthetic_site(s, APROF_SITE_FUNCTION, "on_ready", "/src/app/watch.c", 70, 1);
  uint32_t reader_node = synthetic_node(s, 0, reader, APROF_NODE_FUNCTION);
  uint32_t watch_node = synthetic_node(s, reader_node, watch, APROF_NODE_AWAIT);
  struct aprof_counters *c = synthetic_counters(s, 1, reader_node);
  c->function.done = 1;
  c->function.slices = 1000000;
  c->function.exec = took * 1000000;
  c->function.slice_max = 1 * MS;
  c->function.slice_buckets = synthetic_all_of(s, false, took, 1000000);
  struct aprof_counters *w = synthetic_counters(s, 1, watch_node);
  w->await.count = 1000000;
  w->await.waiting = turn * 1000000;
  w->await.max = 1 * MS;
  s->header->event_cost_mticks = 18000;
  block->timed_events = 256;
  block->timed_ticks = 256 * 48;
}

static void watches(const char *callee, uint64_t took, uint64_t turn) {
  goes_on(APROF_SITE_CREATE, callee, took, turn);
}

START_TEST(who_does_not_read_what_is_ready_spins) {
  watches("event_add", 81, 1700);
  held("`on_ready` of watch.c:60 event_add ran 1.00M times for 82 ns, every 1.78 us: what it ");
  block->timed_events = 0; /* what an event takes as it happens is not known */
  held("no finding: ");
  block->timed_events = 256;
  s->header->event_cost_mticks = 0;
  held("no finding: ");
}
END_TEST

/* One whose peer is always faster, one that is fast itself but has rested, and one whose library
   has read for it. */
START_TEST(who_reads_what_is_ready_does_not_spin) {
  watches("event_add", 450, 600);
  held("no finding: ");
  teardown();
  setup();
  watches("event_add", 81, 12000);
  held("no finding: ");
  teardown();
  setup();
  watches("uv_read_start", 41, 400);
  held("no finding: ");
}
END_TEST

/* It gives way and is ready again at once, which no wake tells. */
START_TEST(who_gives_way_for_nothing_spins) {
  goes_on(APROF_SITE_AWAIT, "co_yield", 20, 900);
  held("`on_ready` gave way 1.00M times at watch.c:60 co_yield and was ready again at once");
  teardown();
  setup();
  goes_on(APROF_SITE_AWAIT, "recv_message", 450, 900); /* it reads something */
  held("no finding: ");
}
END_TEST

/* -- what waits and is covered by nothing ------------------------------------------------ */

/* Requests, and 1000 waits of theirs: so many of 2 ms, so many of 20, all others of 40. */
static void waits_uncovered(uint64_t futures, uint64_t lucky, uint64_t middling) {
  uint32_t site = synthetic_site(s, APROF_SITE_FUNCTION, "request", "/src/app/request.c", 5, 1);
  uint32_t made = synthetic_site(s, APROF_SITE_CREATE, "request_new", "/src/app/request.c", 9, 3);
  uint32_t root = synthetic_node(s, 0, site, APROF_NODE_FUNCTION);
  uint32_t wait = synthetic_node(s, root, made, APROF_NODE_AWAIT);
  uint64_t all = lucky * 2 * MS + middling * 20 * MS + (1000 - lucky - middling) * 40 * MS;
  uint16_t *counts;
  struct aprof_counters *c = synthetic_counters(s, 1, root), *w = synthetic_counters(s, 1, wait);
  c->function.done = futures;
  c->function.slices = 1000;
  c->function.exec = 1000;
  w->await.count = 1000;
  w->await.waiting = all;
  w->await.max = 40 * MS;
  w->await.buckets = synthetic_buckets(s, &counts);
  counts[aprof_bucket_of(2 * MS)] = (uint16_t)lucky;
  counts[aprof_bucket_of(20 * MS)] = (uint16_t)middling;
  counts[aprof_bucket_of(40 * MS)] = (uint16_t)(1000 - lucky - middling);
}

START_TEST(who_waits_for_a_free_one_is_told_from_work_that_varies) {
  waits_uncovered(1000, 20, 100);
  held(" ms: a pool or queue that is too small, ");
  teardown();
  setup();
  waits_uncovered(1000, 100, 400);
  held("no finding: ");
  teardown();
  setup();
  waits_uncovered(500, 450, 50); /* each of them has two */
  held(" ms: a slow answer, a pool or queue that is too small, ");
  teardown();
  setup();
  waits_uncovered(1000, 0, 100);
  held("no finding: ");
}
END_TEST

/* -- pools ------------------------------------------------------------------------------ */

/* The main thread makes the jobs, and has no loop: its time is in no share. */
START_TEST(a_pool_alone_has_one_share) {
  block->other = 1000 * MS;
  uint32_t job = synthetic_site(s, APROF_SITE_FUNCTION, "job_run", "/src/app/pool.c", 5, 1);
  uint32_t job_node = synthetic_node(s, 0, job, APROF_NODE_FUNCTION);
  for (uint32_t number = 2; number <= 3; number++) {
    synthetic_block(s, number)->other = 100 * MS;
    synthetic_counters(s, number, job_node)->function.done = 10;
    synthetic_counters(s, number, job_node)->function.exec = 900 * MS;
  }
  char *text = report_at("exit", NOW);
  has(text, "futures ran 90.0 % of the time");
  has(text, "  2 pool threads  workers ran 90.0 % of the time\n");
  free(text);
}
END_TEST

/* They wait for jobs in a call that a binding calls idle; the loop's own first slice goes on. */
START_TEST(workers_that_wait_for_jobs_hold_no_loop) {
  timer->function.slices = 10;
  timer->function.slice_max = 4 * MS;
  timer->function.exec = 400 * MS;
  block->other = 600 * MS;
  block->last = NOW;
  uint32_t job = synthetic_site(s, APROF_SITE_FUNCTION, "job_run", "/src/app/pool.c", 5, 1);
  uint32_t job_node = synthetic_node(s, 0, job, APROF_NODE_FUNCTION);
  for (uint32_t number = 2; number <= 4; number++) {
    struct aprof_block *pool = synthetic_block(s, number);
    pool->idle = 700 * MS;
    synthetic_counters(s, number, job_node)->function.done = 10;
    synthetic_counters(s, number, job_node)->function.exec = 300 * MS;
  }
  char *text = report_at("exit", NOW);
  has(text, "futures ran 40.0 % of the time");
  has(text, "  3 pool threads  workers ran 30.0 % of the time\n");
  has(text, "job_run                -     -     -     -     -     30      0  30ms ");
  lacks(text, "  loop 4");
  free(text);
  struct aprof_block *loop = synthetic_block(s, 5);
  loop->state = APROF_THREAD_RUNNING;
  loop->idle = 700 * MS;
  loop->slice_tick = loop->last = NOW - 2 * MS;
  loop->slice_node = job_node;
  synthetic_counters(s, 5, job_node)->function.exec = 1 * MS;
  text = report_at("request", NOW);
  has(text, "  3 pool threads  workers ran 30.0 % of the time\n");
  has(text, "  and 1 loop more: --all\n");
  free(text);
}
END_TEST

/* -- the first screen -------------------------------------------------------------------- */

/* What has all kinds of faults is folded, not scrolled away. */
START_TEST(many_findings_leave_room_for_functions) {
  timers(0);
  timer->function.slices = 100;
  timer->function.slice_max = 50 * MS;
  timer->function.exec = 200 * MS;
  block->missed_events = 7;
  block->reused_keys = 3;
  s->header->lost_futures = 5;
  for (uint32_t i = 0; i < 8; i++) {
    char name[16];
    snprintf(name, sizeof name, "on_job%u", i);
    uint32_t site = synthetic_site(s, APROF_SITE_FUNCTION, name, "/src/app/server.c", 30 + i, 1);
    struct aprof_counters *c =
        synthetic_counters(s, 1, synthetic_node(s, 0, site, APROF_NODE_FUNCTION));
    c->function.done = c->function.slices = 3;
    c->function.slice_max = (20 + i) * MS;
    c->function.exec = 60 * MS;
  }
  struct view *v = read_at("exit", NOW);
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  struct report_options options = report_defaults;
  report_print(v, &options, out);
  fclose(out);
  ck_assert_msg(report_lines(text) <= 24, "%s", text);
  has(text, "\n 1 ");
  has(text, " findings more: --all\n");
  has(text, "\non_time ");
  has(text, "\nand 6 functions, 1 wait more: --all\n");
  free(text);
  text = shown_report_of(v, true);
  has(text, "\n 8 ");
  lacks(text, "findings more");
  free(text);
  view_free(v);
}
END_TEST

/* -- several loops ------------------------------------------------------------------------ */

/* A loop that ran the function so often, for a hundredth of a millisecond less than 2 each, and
   slept for the rest of ten seconds. */
static void add_loop(uint32_t number, uint32_t of, uint64_t runs) {
  struct aprof_block *loop = synthetic_block(s, number);
  struct aprof_counters *c = synthetic_counters(s, number, of);
  loop->tid = s->header->pid + (int32_t)number;
  loop->last = NOW;
  loop->state = APROF_THREAD_IDLE;
  loop->idle = 10000 * MS - runs * 2 * MS;
  c->function.done = c->function.slices = runs;
  c->function.slice_max = 2 * MS;
  c->function.exec = runs * 2 * MS;
}

START_TEST(one_loop_has_the_work_of_three) {
  block->state = APROF_THREAD_IDLE;
  block->idle = 10000 * MS;
  add_loop(2, node, 4000);
  add_loop(3, node, 40);
  add_loop(4, node, 100);
  char *text = report_at("request", NOW), *json;
  size_t length;
  has(text, "was busy for 80.0 % of its time and 2 others");
  has(text, "UNEVEN");
  has(text, "`on_time` (server.c:10) ran 4000 times there, and 100 at most on those");
  free(text);
  json = shown_totals(s, "request", NOW, &length);
  has(json,
      "\"ran\":[{\"name\":\"on_time\",\"file\":\"/src/app/server.c\",\"line\":10,\"slices\":100,"
      "\"exec_ns\":200000000}]");
  free(json);
}
END_TEST

/* One that accepts and one that serves; so it is no matter which has more to do. */
START_TEST(loops_with_other_work_are_not_uneven) {
  block->state = APROF_THREAD_IDLE;
  block->idle = 10000 * MS;
  uint32_t other = synthetic_site(s, APROF_SITE_FUNCTION, "on_accept", "/src/app/server.c", 50, 1);
  uint32_t other_node = synthetic_node(s, 0, other, APROF_NODE_FUNCTION);
  add_loop(2, node, 4000);
  add_loop(3, other_node, 40);
  char *text = report_at("request", NOW);
  lacks(text, "UNEVEN");
  free(text);
}
END_TEST

/* -- names ------------------------------------------------------------------------------ */

/* A function of the system's library, as its symbols tell: its file has no directory. */
START_TEST(a_library_does_not_take_the_names_of_functions_away) {
  struct view *v;
  timers(0);
  uint32_t other = synthetic_site(s, APROF_SITE_FUNCTION, "free", "malloc.c", 3300, 0);
  uint32_t other_node = synthetic_node(s, node, other, APROF_NODE_FUNCTION);
  synthetic_counters(s, 1, other_node)->function.done = 7;
  v = read_at("exit", NOW);
  for (size_t i = 0; i < v->functions; i++)
    v->function[i].instrumented = strcmp(v->function[i].name, "free") != 0;
  char *text = shown_report_of(v, true);
  has(text, "files are in /src/app/\n");
  has(text, "\n  malloc.c:3300\n");
  free(text);
  view_free(v);
}
END_TEST

START_TEST(directories_go_before_functions_do) {
  static const char file[] = "/src/app/a/very/long/directory/of/a/project-1.2.3/session.c";
  uint32_t far = synthetic_site(s, APROF_SITE_FUNCTION, "on_request", file, 5, 1);
  uint32_t far_await = synthetic_site(s, APROF_SITE_CREATE, "uv_timer_start", file, 7, 1);
  uint32_t far_wake = synthetic_site(s, APROF_SITE_WAKE, "uv_async_send", file, 8, 1);
  uint32_t far_call = synthetic_site(s, APROF_SITE_BLOCKING, "fsync", file, 9, 1);
  uint32_t far_end = synthetic_site(s, APROF_SITE_END, "request_end", file, 10, 1);
  uint32_t far_node = synthetic_node(s, node, far, APROF_NODE_FUNCTION);
  uint32_t await_node = synthetic_node(s, far_node, far_await, APROF_NODE_AWAIT);
  uint32_t waker = synthetic_node(s, far_node, far_wake, APROF_NODE_WAKER);
  uint32_t call = synthetic_node(s, far_node, far_call, APROF_NODE_BLOCKING);
  struct aprof_missed *missed = synthetic_chunk(s, APROF_CHUNK_MISSES, 1, 0, 8, sizeof *missed);
  missed[0] = (struct aprof_missed){.site = far_end, .kind = APROF_MISS_END, .count = 1};
  timer->function.done = synthetic_counters(s, 1, far_node)->function.done = 7;
  synthetic_counters(s, 1, far_node)->function.queued = 500;
  synthetic_counters(s, 1, await_node)->await.count = 7;
  synthetic_counters(s, 1, await_node)->await.waiting = 7000;
  synthetic_counters(s, 1, waker)->await.count = 7;
  synthetic_counters(s, 1, call)->await.count = 7;
  struct view *v = read_at("exit", NOW);
  char *text = shown_report_of(v, true);
  view_free(v);
  has(text, "files are in /src/app/\n");
  has(text, "\non_time > on_request > uv_timer_start  session.c:7 ");
  has(text, "\nuv_async_send > on_request  session.c:8 ");
  has(text, "\non_request > fsync  session.c:9 ");
  has(text, "\nend: request_end  session.c:10 ");
  free(text);
}
END_TEST

/* -- what was lost ---------------------------------------------------------------------- */

static void unplaced_runs(void) {
  uint32_t run = synthetic_site(s, APROF_SITE_RUN, "on_time", "/src/app/server.c", 10, 1);
  struct aprof_missed *missed = synthetic_chunk(s, APROF_CHUNK_MISSES, 1, 0, 8, sizeof *missed);
  missed[0] = (struct aprof_missed){.site = run, .kind = APROF_MISS_RUN, .count = 5};
  block->missed_events = 5;
}

START_TEST(runs_of_lost_futures_are_no_fault_of_the_program) {
  unplaced_runs();
  held("5 events could not be placed at /src/app/server.c:10 on_time: a run of a key that nobody ");
  held("or the run began before the call that creates it had returned, and that line has no `| "
       "run`");
  s->header->lost_futures = 7;
  held(" 1 LOST  7 futures are in no number here: they were lost: the profile was full; raise "
       "memory:");
  held(" 2 UNPLACED  5 events could not be placed at /src/app/server.c:10 on_time: a run of a key "
       "that no "
       "future has: it was lost, or a `create` line is missing\n");
}
END_TEST

START_TEST(what_has_never_run_may_have_where_it_was_not_seen) {
  synthetic_future(s, 1, node, APROF_FUTURE_QUEUED, START)->flags = 0;
  held("1 `on_time` future has never run, ready since 10.0 s next: aprof ps TARGET\n");
  unplaced_runs();
  held("ready since 10.0 s; or ran where an event could not be placed next: ");
}
END_TEST

START_TEST(a_confined_program_is_told_so) {
  timers(0);
  synthetic_future(s, 1, node, APROF_FUTURE_QUEUED, START)->flags = 0;
  held("have waited over 9.00 s");
  s->header->lost_events = 40;
  s->header->confined = 1;
  char *text = report_at("exit", NOW);
  has(text, " 1 LOST  40 events were lost: the program had given up system calls (seccomp), so "
            "nothing new "
            "had room; ");
  has(text, "who is stuck, never ran or was left was not looked for\n");
  lacks(text, "memory:");
  lacks(text, " 2 ");
  free(text);
}
END_TEST

/* -- between two totals ------------------------------------------------------------------ */

START_TEST(an_unknown_cost_is_not_below_nothing) {
  struct view *earlier = read_at("request", NOW), *later = read_at("request", NOW + MS);
  ck_assert(view_subtract(later, earlier));
  char *text = shown_report(later);
  lacks(text, "cost");
  free(text);
  view_free(earlier);
  view_free(later);
}
END_TEST

/* Its longest was before; its bucket tells this one's to 3 %. */
START_TEST(the_longest_of_an_interval_is_the_middle_of_its_bucket) {
  stack(50 * MS, 1 * MS, 1 * MS);
  uint16_t *counts;
  synthetic_counters(s, 1, 5)->function.slice_buckets = synthetic_buckets(s, &counts);
  counts[aprof_bucket_of(50 * MS)] = 100;
  struct view *earlier = read_at("request", NOW);
  counts[aprof_bucket_of(12 * MS)]++;
  synthetic_counters(s, 1, 5)->function.slices++;
  struct view *later = read_at("request", NOW + 100 * MS);
  ck_assert(view_subtract(later, earlier));
  char *text = shown_report(later);
  has(text, "longest hold 11.8 ms");
  has(text, "`conn` held the loop for about 11.8 ms (1 time over 10.0 ms) cost: ");
  free(text);
  view_free(earlier);
  view_free(later);
}
END_TEST

/* Whom it delayed before it only is told neither by name nor as one of the others. */
START_TEST(who_was_not_delayed_in_an_interval_is_not_told) {
  struct view_delayed delayed[] = {{.name = "before", .line = 1},
                                   {.name = "now", .line = 2, .count = 3, .delayed = 20 * MS}};
  stack(50 * MS, 1 * MS, 1 * MS);
  struct view *v = read_at("request", NOW);
  for (size_t i = 0; i < v->functions; i++) {
    v->function[i].delayed = delayed;
    v->function[i].delays = 2;
  }
  char *text = shown_report(v);
  has(text, "delayed `now` 3 times");
  lacks(text, "before");
  lacks(text, "others");
  free(text);
  view_free(v);
}
END_TEST

/* As long as the machine can have made it, and no proof that it was on the CPU. */
START_TEST(what_the_machine_did_is_no_hold) {
  stack(12 * MS, 1 * MS, 1 * MS);
  struct view *v = read_at("request", NOW);
  static const struct {
    uint64_t delay;
    bool told;
    uint64_t runs;
  } cases[] = {
      {UNKNOWN, true, 100}, {1 * MS, true, 100}, {3000 * MS, true, 5}, {3000 * MS, false, 100000}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (size_t j = 0; j < v->functions; j++)
      v->function[j].slices = cases[i].runs;
    v->thread[0].run_delay = cases[i].delay;
    char *text = shown_report(v);
    (cases[i].told ? has : lacks)(text, "`conn` held the loop for 12.0 ms");
    free(text);
  }
  for (size_t i = 0; i < v->functions; i++) {
    v->function[i].on_cpu_least = v->function[i].slice_max;
    v->function[i].on_cpu_most = v->function[i].slice_max;
  }
  char *text = shown_report(v);
  has(text, "`conn` held the loop for 12.0 ms");
  free(text);
  view_free(v);
}
END_TEST

/* Late for so long in all: no more than four times what others had the processors for. */
START_TEST(what_the_machine_did_is_no_queue) {
  static const struct {
    uint64_t delay;
    bool told;
  } cases[] = {{UNKNOWN, true}, {100 * MS, true}, {1000 * MS, false}};
  uint16_t *counts;
  stack(1 * MS, 1 * MS, 1 * MS);
  synthetic_counters(s, 1, 5)->function.queued = 2000 * MS;
  synthetic_counters(s, 1, 5)->function.slices = 100;
  synthetic_counters(s, 1, 5)->function.queued_buckets = synthetic_buckets(s, &counts);
  counts[aprof_bucket_of(20 * MS)] = 100;
  struct view *v = read_at("request", NOW);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    v->thread[0].run_delay = cases[i].delay;
    char *text = shown_report(v);
    (cases[i].told ? has : lacks)(text, "was ready but did not run for over 10.0 ms, 100 of");
    free(text);
  }
  view_free(v);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("findings");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, what_waits_for_its_time_is_neither_stuck_nor_left);
  tcase_add_test(tests, what_has_no_time_is_stuck);
  tcase_add_test(tests, what_was_woken_just_now_is_not_due);
  tcase_add_test(tests, what_the_machine_did_is_no_hold);
  tcase_add_test(tests, what_the_machine_did_is_no_queue);
  tcase_add_test(tests, the_mean_of_waits_is_of_those_that_ended);
  tcase_add_test(tests, the_first_line_has_the_time_that_was_measured);
  tcase_add_test(tests, a_profile_that_began_switched_off_has_measured_nothing);
  tcase_add_test(tests, the_last_epoch_is_the_last);
  tcase_add_test(tests, the_one_that_ran_longest_in_a_hold_is_named);
  tcase_add_test(tests, nobody_is_named_who_did_not_run_for_most_of_a_hold);
  tcase_add_test(tests, nobody_is_named_for_what_he_ran_elsewhere);
  tcase_add_test(tests, who_waits_at_times_is_named_with_care);
  tcase_add_test(tests, a_hold_was_on_the_cpu_or_not);
  tcase_add_test(tests, nothing_is_counted_without_histograms);
  tcase_add_test(tests, a_part_of_the_histograms_is_a_least_count);
  tcase_add_test(tests, the_late_are_found_without_histograms);
  tcase_add_test(tests, the_stuck_are_found_without_histograms);
  tcase_add_test(tests, only_one_that_is_alone_wakes_itself);
  tcase_add_test(tests, who_does_not_read_what_is_ready_spins);
  tcase_add_test(tests, who_reads_what_is_ready_does_not_spin);
  tcase_add_test(tests, who_gives_way_for_nothing_spins);
  tcase_add_test(tests, who_waits_for_a_free_one_is_told_from_work_that_varies);
  tcase_add_test(tests, a_pool_alone_has_one_share);
  tcase_add_test(tests, workers_that_wait_for_jobs_hold_no_loop);
  tcase_add_test(tests, many_findings_leave_room_for_functions);
  tcase_add_test(tests, one_loop_has_the_work_of_three);
  tcase_add_test(tests, loops_with_other_work_are_not_uneven);
  tcase_add_test(tests, a_library_does_not_take_the_names_of_functions_away);
  tcase_add_test(tests, directories_go_before_functions_do);
  tcase_add_test(tests, runs_of_lost_futures_are_no_fault_of_the_program);
  tcase_add_test(tests, what_has_never_run_may_have_where_it_was_not_seen);
  tcase_add_test(tests, a_confined_program_is_told_so);
  tcase_add_test(tests, an_unknown_cost_is_not_below_nothing);
  tcase_add_test(tests, the_longest_of_an_interval_is_the_middle_of_its_bucket);
  tcase_add_test(tests, who_was_not_delayed_in_an_interval_is_not_told);
  return suite_run("cli findings", tests);
}
