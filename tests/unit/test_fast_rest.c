/* SPDX-License-Identifier: MIT */
/*
 * Fast events of what does not run: woken, due, armed again, ended from outside.
 */
#include "rounds.h"

enum { FRAME_NS = 9 };
CALLBACK_SITE(on_done);
CALLBACK_SITE(on_step);
RETURN_SITE(not_yet);
CREATE_SITE(once, APROF_ONCE, NS);
CREATE_SITE(spawn, 0, NS);
RUN_SITE(call, 0, NS);
RUN_SITE(orphan, APROF_ORPHAN, FRAME_NS);
CREATE_SITE(timer, APROF_MULTI, NS);
WAKE_SITE(ring, NS);
END_SITE(stop, NS);

/* Woken while it waits, while it is queued by that, and while it runs: for the next wait. */
static void woken(void) {
  token r;
  new_future(&once, &on_done, KEY);
  pass(5);
  wake(&ring, KEY);
  pass(1);
  wake(&ring, KEY);
  pass(2);
  run(&call, &r, KEY, &on_done);
  pass(4);
  wake(&ring, KEY);
  pass(1);
  ran_at(&r, APROF_PENDING, &not_yet);
  pass(7);
  run_whole(&call, KEY, &on_done, 0);
}

START_TEST(woken_ones) {
  in_rounds(woken);
  expect("on_done", "done", ROUNDS);
  expect("on_done", "exec", 5 * ROUNDS);
  expect("on_done", "queued", (3 + 7) * ROUNDS);
  expect("on_done", "queued histogram from 3", ROUNDS);
  expect("on_done @ once", "waiting", 5 * ROUNDS);
  expect("on_done @ not_yet", "waiting", 0);
  expect("on_done @ not_yet", "count", ROUNDS);
  expect_wakers(2 * ROUNDS, (3 + 7) * ROUNDS);
}
END_TEST

/* One of the same key from before the reset is in the place that is looked at first. */
START_TEST(woken_after_a_reset) {
  attach();
  woken();
  new_future(&once, &on_done, KEY);
  ck_assert_int_eq(gate.api_reset(), 0);
  new_future(&once, &on_done, KEY);
  pass(5);
  wake(&ring, KEY);
  pass(3);
  run_whole(&call, KEY, &on_done, 0);
  expect("on_done", "queued", 3);
  expect("on_done @ once", "waiting", 5);
}
END_TEST

/* Stopped while it waits, when it was woken, and while it is queued. */
static void stopped(void) {
  new_future(&once, &on_done, KEY);
  pass(5);
  end(&stop, KEY, APROF_CANCELLED);
  new_future(&once, &on_done, KEY);
  pass(2);
  wake(&ring, KEY);
  pass(3);
  end(&stop, KEY, APROF_DONE);
  new_future(&spawn, &on_step, KEY);
  wake(&ring, KEY);
  pass(4);
  end(&stop, KEY, APROF_FAILED);
}

WAKE_SITE(ring_any, APROF_NS_ANY);
END_SITE(stop_any, APROF_NS_ANY);

static void rested_by_none(void) {
  new_future(&once, &on_done, OTHER);
  wake(&ring, KEY);
  end(&stop, KEY, APROF_DONE);
  wake(&ring_any, KEY);
  end(&stop_any, KEY, APROF_DONE);
  pass(2);
  end(&stop, OTHER, APROF_CANCELLED);
  end(&stop, OTHER, APROF_CANCELLED);
}

START_TEST(wakes_and_ends_of_none) {
  in_rounds(rested_by_none);
  expect("on_done", "cancelled", ROUNDS);
  expect("on_done @ once", "waiting", 2 * ROUNDS);
  ck_assert_uint_eq(reader_missed(profile(), APROF_MISS_WAKE, NULL), ROUNDS);
  ck_assert_uint_eq(reader_missed(profile(), APROF_MISS_END, NULL), 2 * ROUNDS);
}
END_TEST

START_TEST(stopped_ones) {
  in_rounds(stopped);
  expect("on_done", "cancelled", ROUNDS);
  expect("on_done", "done", ROUNDS);
  expect("on_done @ once", "waiting", (5 + 2) * ROUNDS);
  expect("on_done", "queued", 3 * ROUNDS);
  expect_times("on_done", 0, 0, 10 * ROUNDS);
  expect("on_step", "failed", ROUNDS);
  expect("on_step", "queued", 4 * ROUNDS);
  expect("on_step", "live", 0);
  expect_wakers(0, 0);
}
END_TEST

/* Those that ask to be called again: queued from the moment they stop, for which their waker
   answers. */
static void woken_early(void) {
  token r, m;
  new_future(&timer, &on_done, KEY);
  for (int i = 0; i < 2; i++) {
    pass(3);
    run(&call, &r, KEY, &on_done);
    wake(&ring, KEY);
    run(&orphan, &m, OTHER, &on_step); /* put aside meanwhile */
    pass(1);
    ran(&m, APROF_PENDING);
    wake(&ring, KEY);
    ran(&r, APROF_PENDING);
  }
  pass(4);
  run_whole(&call, KEY, &on_done, 0);
}

START_TEST(ones_woken_early) {
  in_rounds(woken_early);
  expect("on_done @ timer", "waiting", 3 * ROUNDS);
  expect("on_done", "queued", (3 + 4) * ROUNDS);
  expect("on_step", "queued", 0);
  expect_wakers(2 * ROUNDS, (3 + 4) * ROUNDS);
}
END_TEST

static void due(uint64_t ns) {
  token c;
  create(&timer, &c, &on_done, NULL);
  gate.due(&c, ns);
  created(&c, KEY, 1);
}

/* Late, early, and stopped before its time. */
static void timed(void) {
  due(10);
  pass(12);
  run_whole(&call, KEY, &on_done, 0);
  due(10);
  pass(7);
  run_whole(&call, KEY, &on_done, 0);
  due(10);
  pass(1);
  end(&stop, KEY, APROF_CANCELLED);
}

START_TEST(timed_ones) {
  in_rounds(timed);
  expect("on_done", "done", 2 * ROUNDS);
  expect("on_done", "cancelled", ROUNDS);
  expect("on_done @ timer", "waiting", (10 + 7 + 1) * ROUNDS);
  expect("on_done", "queued", 2 * ROUNDS);
  expect_wakers(ROUNDS, 2 * ROUNDS); /* the line of the create, where nobody else is */
}
END_TEST

/* Armed again while it waits; its key is told before the call, once. */
CREATE_SITE(alarm_site, APROF_ONCE | APROF_REARM, NS);
static void armed_again(void) {
  token c;
  for (int i = 0; i < 3; i++) {
    create(&alarm_site, &c, &on_done, NULL);
    gate.due(&c, 10);
    if (i == 1)
      gate.create_key(&c, KEY, 0);
    created(&c, KEY, 1);
    pass(4);
  }
  pass(8);
  run_whole(&call, KEY, &on_done, 1);
}

START_TEST(ones_armed_again) {
  in_rounds(armed_again);
  expect("on_done", "done", ROUNDS);
  expect("on_done @ alarm_site", "waiting", 18 * ROUNDS);
  expect("on_done", "queued", 2 * ROUNDS);
}
END_TEST

UNIT_TRACED_MAIN("fast, rest", woken_ones, woken_after_a_reset, wakes_and_ends_of_none,
                 stopped_ones, ones_woken_early, timed_ones, ones_armed_again)
