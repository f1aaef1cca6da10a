/* SPDX-License-Identifier: MIT */
/*
 * Fast events of what does not run: woken, due, armed again, ended from outside.
 */
#include "rounds.h"
#include "rt/count/site.h"

enum { FRAME_NS = 9 };
FUNCTION_SITE(child);
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

/* -- what the general event must know ---------------------------------------------------------- */

CREATE_SITE(post, APROF_ONCE | APROF_TUPLE, NS);
RUN_SITE(peek, APROF_POLLING, NS);
SITE_(ring_equal, APROF_SITE_WAKE, 0, APROF_TUPLE, NS);
SITE_(stop_equal, APROF_SITE_END, 0, APROF_TUPLE, NS);

/* Several may be meant: by a key that they share, or by an address, in whatever namespace. */
static void meaning_several(void) {
  for (int i = 0; i < 2; i++)
    new_equal(&post, &on_done);
  pass(1);
  gate.wake(&ring_equal, KEY, OTHER);
  alike_here();
  for (int i = 0; i < 2; i++)
    gate.end(&stop_equal, KEY, OTHER, APROF_DONE);
  new_future(&once, &on_done, OTHER);
  pass(1);
  wake(&ring_any, OTHER);
  alike_here();
  end(&stop_any, OTHER, APROF_DONE);
}

START_TEST(several_that_are_meant) {
  rounds_of(meaning_several, GENERAL_ALIKE);
  expect("on_done", "done", 3 * ROUNDS);
  expect("health", "missed", 0);
}
END_TEST

/* Woken before they wait: in the queue, put aside, below a body, before they are due. */
static void waking_early(void) {
  token r, m, c;
  new_future(&spawn, &on_step, KEY);
  wake(&ring, KEY);
  alike_here();
  end(&stop, KEY, APROF_DONE);
  due(10);
  pass(3);
  wake(&ring, KEY);
  alike_here();
  pass(2);
  run(&call, &r, KEY, &on_done);
  run(&orphan, &m, OTHER, &on_step);
  pass(1);
  wake(&ring, KEY);
  alike_here();
  ran(&m, APROF_DONE);
  ran(&r, APROF_PENDING);
  alike_here();
  run(&call, &r, KEY, NULL);
  enter(&child, &c);
  wake(&ring, KEY);
  alike_here();
  leave(&c);
  ran(&r, APROF_PENDING);
  alike_here();
  end(&stop, KEY, APROF_DONE);
}

START_TEST(ones_woken_before_they_wait) {
  rounds_of(waking_early, GENERAL_ALIKE);
  expect("on_done", "done", ROUNDS);
  expect("on_done @ timer", "waiting", 3 * ROUNDS);
  expect("on_done", "queued", 2 * ROUNDS);
}
END_TEST

/* Longer than ever: waiting, then woken and queued, then run or stopped. */
static void resting_longer(void) {
  static uint64_t length;
  for (int i = 0; i < 4; i++) {
    length += 100;
    new_future(&once, &on_done, KEY);
    pass(length);
    wake(&ring, KEY);
    pass(2 * length);
    if (i & 1)
      end(&stop, KEY, APROF_DONE);
    else
      run_whole(&call, KEY, &on_done, 0);
    alike_here();
    new_future(&spawn, &on_step, KEY);
    pass(3 * length);
    if (i & 1)
      end(&stop, KEY, APROF_DONE);
    else
      run_whole(&call, KEY, &on_step, 0);
    alike_here();
  }
}

START_TEST(ones_that_rest_longer) {
  rounds_of(resting_longer, GENERAL_ALIKE);
  expect("on_done @ once", "max", 400 * ROUNDS);
  expect("on_done", "wall_max", 3 * 400 * ROUNDS);
}
END_TEST

/* The clock is behind, for who is woken, run, or stopped. */
static void going_back(void) {
  token t;
  for (int i = 0; i < 5; i++) {
    new_future(i == 2 ? &spawn : &once, &on_done, KEY);
    if (i == 3)
      wake(&ring, KEY);
    pass(5);
    enter(&child, &t);
    leave(&t);
    header()->virtual_now -= 2;
    if (i == 0)
      wake(&ring, KEY);
    else if (i == 4 || i == 3)
      run_whole(&call, KEY, &on_done, 0);
    else
      end(&stop, KEY, APROF_DONE);
    alike_here();
    header()->virtual_now += 2;
    if (i == 0)
      end(&stop, KEY, APROF_DONE);
  }
}

START_TEST(ones_whose_time_goes_back) {
  rounds_of(going_back, GENERAL_ALIKE);
  expect("on_done", "done", 5 * ROUNDS);
}
END_TEST

/* Stopped by a line that never stopped any, in a run that is open, behind a look in vain, behind a
   long hold, and by another one that runs. */
static void stops_it(void) {
  end(&stop, KEY, APROF_DONE);
  alike_here();
}

static void stopping_oddly(void) {
  static struct aprof_site lines[2 * ROUNDS];
  static unsigned next;
  token r, a, t;
  lines[next] = another(&stop);
  new_future(&once, &on_done, KEY);
  end(&lines[next], KEY, APROF_DONE);
  ck_assert(site_known(&lines[next++]));
  lines[next] = another(&stop);
  new_future(&once, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  end(&lines[next], KEY, APROF_DONE);
  ck_assert(site_known(&lines[next++]));
  alike_here();
  ran(&r, APROF_DONE);
  new_future(&once, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  suspend(&nap, &a);
  pass(1);
  stops_it();
  pass(1);
  resume(&a);
  ran(&r, APROF_PENDING);
  new_future(&timer, &on_done, KEY);
  pass(1);
  run(&peek, &r, KEY, &on_done);
  ran(&r, APROF_POLLED);
  pass(1);
  stops_it();
  new_future(&spawn, &on_step, KEY);
  enter(&child, &t);
  pass(3 * MS);
  leave(&t);
  stops_it();
  run(&orphan, &r, OTHER, &on_step);
  new_future(&once, &on_done, KEY);
  stops_it();
  ran(&r, APROF_DONE);
}

START_TEST(ones_stopped_oddly) {
  rounds_of(stopping_oddly, GENERAL_ALIKE);
  expect("on_done", "done", 5 * ROUNDS);
  expect("on_step", "done", 2 * ROUNDS);
  expect("health", "missed", ROUNDS); /* the await comes back, of one that is over */
}
END_TEST

static void stopping_elsewhere(void) {
  for (int i = 0; i < 3; i++) {
    new_future(&once, &on_done, KEY);
    pass(2);
    if (i == 1)
      wake(&ring, KEY);
    if (i == 2)
      stops_it();
    else
      on_pool(stops_it);
  }
}

START_TEST(ones_stopped_by_another_thread) {
  rounds_of(stopping_elsewhere, GENERAL_ALIKE);
  expect("on_done", "done", 3 * ROUNDS);
  expect("health", "missed", 0);
}
END_TEST

UNIT_TRACED_MAIN("fast, rest", woken_ones, woken_after_a_reset, wakes_and_ends_of_none,
                 stopped_ones, ones_woken_early, timed_ones, ones_armed_again,
                 several_that_are_meant, ones_woken_before_they_wait, ones_that_rest_longer,
                 ones_whose_time_goes_back, ones_stopped_oddly, ones_stopped_by_another_thread)
