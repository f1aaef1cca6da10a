/* SPDX-License-Identifier: MIT */
/* Who delayed whom: long holds that are remembered, and futures that were ready meanwhile. */
#include "unit.h"

#include "rt/rt.h"

FUNCTION_SITE(holder);
FUNCTION_SITE(other_holder);
CALLBACK_SITE(on_ready);
CALLBACK_SITE(on_timer);
AWAIT_SITE(nap);
IDLE_SITE(poller);
enum { NS = 7, KEY = 0xabc0 };
CREATE_SITE(spawn, 0, NS);
CREATE_SITE(once, APROF_ONCE, NS);
RUN_SITE(call, 0, NS);
WAKE_SITE(waker, NS);
END_SITE(ender, NS);

#define expect_delay(by, whom, times, ns)                                                          \
  do {                                                                                             \
    expect(by, "times it delayed " whom, times);                                                   \
    expect(by, "delayed " whom, ns);                                                               \
  } while (0)

static void hold(struct aprof_site *function, uint64_t ns) {
  token t;
  enter(function, &t);
  pass(ns);
  leave(&t);
}

static void run_once(uint64_t key, struct aprof_site *function) {
  token t;
  run(&call, &t, key, function);
  ran(&t, APROF_DONE);
}

/* Once by the general events, which make what the fast ones need, and from then on by those. */
START_TEST(what_was_queued_names_who_held_it) {
  attach();
  for (int i = 0; i < 3; i++) {
    new_future(&spawn, &on_ready, KEY);
    pass(100);
    hold(&holder, 5 * MS);
    pass(30);
    run_once(KEY, &on_ready);
  }
  expect_delay("holder", "on_ready", 3, 15 * MS);
  expect("on_ready", "queued", 3 * (5 * MS + 130));
}
END_TEST

/* ... of what it was ready: the hold had begun before. */
START_TEST(a_hold_counts_from_when_it_was_ready) {
  attach();
  token t;
  for (int i = 0; i < 3; i++) {
    enter(&holder, &t);
    pass(2 * MS);
    new_future(&spawn, &on_ready, KEY);
    pass(3 * MS);
    leave(&t);
    run_once(KEY, &on_ready);
  }
  expect_delay("holder", "holder", 0, 0);
  expect("holder", "delayed on_ready", 9 * MS);
}
END_TEST

START_TEST(each_of_several_holds_has_its_share) {
  attach();
  new_future(&spawn, &on_ready, KEY);
  new_future(&spawn, &on_timer, KEY + 1);
  hold(&holder, 2 * MS);
  hold(&other_holder, MS); /* none that is worth it */
  hold(&other_holder, 3 * MS);
  hold(&holder, 4 * MS);
  run_once(KEY, &on_ready);
  hold(&other_holder, 5 * MS);
  run_once(KEY + 1, &on_timer);
  expect_delay("holder", "on_ready", 2, 6 * MS);
  expect_delay("other_holder", "on_ready", 1, 3 * MS);
  expect_delay("holder", "on_timer", 2, 6 * MS);
  expect_delay("other_holder", "on_timer", 2, 8 * MS);
  expect("on_timer", "queued", 15 * MS);
}
END_TEST

START_TEST(what_was_woken_or_due_was_ready_from_then_on) {
  attach();
  token t;
  for (int i = 0; i < 3; i++) {
    new_future(&once, &on_ready, KEY);
    create(&once, &t, &on_timer, NULL);
    gate.due(&t, 3 * MS);
    created(&t, KEY + 1, 1);
    enter(&holder, &t);
    pass(MS);
    wake(&waker, KEY);
    pass(4 * MS);
    leave(&t);
    run_once(KEY, &on_ready);
    run_once(KEY + 1, &on_timer);
  }
  expect_delay("holder", "on_ready", 3, 12 * MS);
  expect_delay("holder", "on_timer", 3, 6 * MS);
}
END_TEST

START_TEST(what_is_over_without_a_run_was_delayed_too) {
  attach();
  for (int i = 0; i < 3; i++) {
    new_future(&spawn, &on_ready, KEY);
    hold(&holder, 5 * MS);
    end(&ender, KEY, APROF_CANCELLED);
  }
  expect_delay("holder", "on_ready", 3, 15 * MS);
}
END_TEST

/* It was not ready: whoever held the loop did it no harm. */
START_TEST(what_waits_is_not_delayed) {
  attach();
  token t;
  for (int i = 0; i < 3; i++) {
    new_future(&once, &on_ready, KEY);
    hold(&holder, 5 * MS);
    run_once(KEY, &on_ready);
  }
  new_future(&once, &on_ready, KEY);
  hold(&holder, 5 * MS);
  idle(&poller, &t);
  wake(&waker, KEY);
  pass(2 * MS);
  idled(&t);
  run_once(KEY, &on_ready);
  expect_delay("holder", "on_ready", 0, 0);
}
END_TEST

/* What seemed to end the slice was an await within another one. */
START_TEST(a_slice_that_goes_on_is_one_hold) {
  attach();
  /* Of two on a stack that grows downwards the inner one lies below. */
  token body, awaits[2], *inner = &awaits[0], *outer = &awaits[1];
  for (int i = 0; i < 3; i++) {
    new_future(&spawn, &on_ready, KEY);
    enter(&holder, &body);
    pass(2 * MS);
    suspend(&nap, outer);
    pass(3 * MS);
    suspend(&nap, inner);
    pass(MS);
    resume(inner);
    resume(outer);
    leave(&body);
    run_once(KEY, &on_ready);
  }
  expect_delay("holder", "on_ready", 3, 15 * MS);
}
END_TEST

START_TEST(more_holds_than_are_remembered_are_counted) {
  attach();
  new_future(&spawn, &on_ready, KEY);
  for (unsigned i = 0; i < HOLDS; i++)
    hold(&holder, 2 * MS);
  run_once(KEY, &on_ready);
  ck_assert_uint_eq(profile()->lost_delays, 0);
  new_future(&spawn, &on_ready, KEY);
  for (unsigned i = 0; i < HOLDS + 2; i++)
    hold(&holder, 2 * MS);
  run_once(KEY, &on_ready);
  ck_assert_uint_eq(profile()->lost_delays, 1);
  expect_delay("holder", "on_ready", 2 * HOLDS, 4 * HOLDS * MS);
}
END_TEST

/* As many pairs as there is room for; those that have it go on to be counted. */
START_TEST(more_pairs_than_there_is_room_for_are_counted) {
  enum { MANY = APROF_DELAYS + 5 };
  static struct aprof_site functions[MANY];
  attach();
  for (int round = 0; round < 2; round++)
    for (unsigned i = 0; i < MANY; i++) {
      functions[i].name = "one_of_many";
      functions[i].file = "unit.c";
      functions[i].line = i + 1;
      functions[i].kind = APROF_SITE_FUNCTION;
      functions[i].model = APROF_MODEL_CALLBACK;
      new_future(&spawn, &functions[i], KEY);
      hold(&holder, MS + 1);
      run_once(KEY, &functions[i]);
    }
  ck_assert_uint_eq(profile()->lost_delays, 10);
  ck_assert_uint_eq(profile()->other_nodes, 0);
  expect_delay("holder", "one_of_many", 2 * APROF_DELAYS, 2 * APROF_DELAYS * (MS + 1));
}
END_TEST

START_TEST(a_reset_forgets_holds) {
  attach();
  new_future(&spawn, &on_ready, KEY);
  hold(&holder, 5 * MS);
  gate.api_reset();
  new_future(&spawn, &on_ready, KEY);
  pass(2 * MS);
  run_once(KEY, &on_ready);
  expect_delay("holder", "on_ready", 0, 0);
}
END_TEST

UNIT_TRACED_MAIN("delay", what_was_queued_names_who_held_it, a_hold_counts_from_when_it_was_ready,
          each_of_several_holds_has_its_share, what_was_woken_or_due_was_ready_from_then_on,
          what_is_over_without_a_run_was_delayed_too, what_waits_is_not_delayed,
          a_slice_that_goes_on_is_one_hold, more_holds_than_are_remembered_are_counted,
          more_pairs_than_there_is_room_for_are_counted, a_reset_forgets_holds)
