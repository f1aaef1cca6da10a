/* SPDX-License-Identifier: MIT */
/*
 * What programs do most, again and again: bodies, awaits, creates and runs, right each time, and
 * from some round on without a general event (rounds.h).
 */
#include "rounds.h"
#include "rt/future/key.h"

enum { FRAME_NS = 9 };
FUNCTION_SITE(child);
NAMES_SITE(named);
NAMES_SITE(within);
CALLBACK_SITE(on_done);
CALLBACK_SITE(on_step);
CALLBACK_SITE(on_tick);
FRAME_SITE(machine);
FRAME_SITE(inner);
RETURN_SITE(not_yet);
CREATE_SITE(once, APROF_ONCE, NS);
CREATE_SITE(spawn, 0, NS);
CREATE_SITE(task, APROF_READY, NS);
CREATE_SITE(timer, APROF_ONCE | APROF_REARM, NS);
RUN_SITE(call, 0, NS);
RUN_SITE(orphan, APROF_ORPHAN, FRAME_NS);
WAKE_SITE(ring, NS);
END_SITE(stop, NS);

static void awaits(void) {
  token t, c, a;
  enter(&body, &t);
  pass(1);
  enter(&child, &c);
  pass(2);
  suspend(&nap, &a);
  pass(10);
  resume(&a);
  pass(3);
  leave(&c);
  leave(&t);
}

START_TEST(bodies_and_awaits) {
  in_rounds(awaits);
  expect("body", "exec", ROUNDS);
  expect("child", "exec", 5 * ROUNDS);
  expect("child @ nap", "waiting", 10 * ROUNDS);
  expect("body @ child", "immediate", 0);
}
END_TEST

/* A wrapper that is awaited by its name, and waits in itself, twice; in between it makes another
 * one.
 */
static void named_waits(void) {
  token t, n = {0}, m = {0}, a, c;
  enter(&body, &t);
  suspend(&named, &n);
  pass(1);
  suspend(&within, &m);
  suspend(&nap, &a);
  pass(10);
  resume(&a);
  pass(2);
  create(&task, &c, &on_step, NULL);
  created(&c, KEY, 1);
  suspend(&nap, &a);
  pass(20);
  resume(&a);
  resume(&m);
  resume(&n);
  pass(4);
  run_whole(&call, KEY, &on_step, 0);
  leave(&t);
}

START_TEST(named_awaits) {
  in_rounds(named_waits);
  expect("body", "exec", 7 * ROUNDS);
  expect("body @ named", "waiting", 30 * ROUNDS);
  expect("body @ named", "count", 2 * ROUNDS);
  expect("body > on_step", "queued", 24 * ROUNDS);
}
END_TEST

static void named_by_its_body(void) {
  new_future(&task, NULL, KEY);
  pass(10);
  run_whole(&call, KEY, &on_step, 3);
}

START_TEST(nameless_ones) {
  in_rounds(named_by_its_body);
  expect("on_step", "done", ROUNDS);
  expect("on_step", "exec", 3 * ROUNDS);
  expect("on_step", "queued", 10 * ROUNDS);
  expect("on_step", "queued histogram from 10", ROUNDS);
  expect("on_step", "slice_max", 3);
  expect("task", "created", 0);
}
END_TEST

/* It waits before its body tells the name, and is woken the second time. */
static void named_behind_its_wait(void) {
  for (int i = 0; i < 2; i++) {
    new_future(&once, NULL, KEY);
    pass(10);
    if (i == 1)
      wake(&ring, KEY);
    pass(1);
    run_whole(&call, KEY, &on_step, 3);
  }
}

START_TEST(nameless_ones_that_wait) {
  in_rounds(named_behind_its_wait);
  expect("on_step", "done", 2 * ROUNDS);
  expect("on_step", "exec", 2 * 3 * ROUNDS);
  expect("on_step", "queued", ROUNDS);
  expect("on_step @ once", "waiting", (11 + 10) * ROUNDS);
  expect("once", "created", 0);
}
END_TEST

/* Creates in the program's own wrapper are reported there, whatever their namespaces. */
CREATE_SITE(elsewhere, APROF_ONCE, FRAME_NS);
RUN_SITE(there, 0, FRAME_NS);
SITE_(wrapper, APROF_SITE_AWAIT, 0, APROF_NAMES | APROF_HELPER, 0);
static void created_in_a_helper(void) {
  token t, h = {0};
  enter(&body, &t);
  suspend(&wrapper, &h);
  new_future(&once, &on_done, KEY);
  new_future(&elsewhere, &on_done, KEY);
  resume(&h);
  leave(&t);
  pass(5);
  run_whole(&call, KEY, &on_done, 0);
  run_whole(&there, KEY, &on_done, 0);
}

START_TEST(ones_of_a_helper) {
  in_rounds(created_in_a_helper);
  expect("body > on_done @ wrapper", "waiting", 2 * 5 * ROUNDS);
}
END_TEST

/* Whom a field names: the address is all that the create knows. */
static void known_by_its_address(void) {
  static const char code[1];
  token c, r = {0};
  create(&once, &c, NULL, code);
  created(&c, KEY, 1);
  pass(10);
  gate.run_begin(&call, &r, KEY, 0, &on_step, code);
  pass(3);
  ran(&r, APROF_DONE);
}

START_TEST(ones_known_by_their_address) {
  in_rounds(known_by_its_address);
  expect("on_step", "done", ROUNDS);
  expect("on_step", "exec", 3 * ROUNDS);
  expect("on_step @ once", "waiting", 10 * ROUNDS);
  expect("once", "created", 0);
}
END_TEST

/* ... and no body tells its name. */
static void known_by_its_address_alone(void) {
  static const char code[1];
  token c;
  create(&task, &c, NULL, code);
  created(&c, KEY, 1);
  pass(10);
  run_whole(&call, KEY, NULL, 3);
}

START_TEST(ones_known_by_their_address_alone) {
  in_rounds(known_by_its_address_alone);
}
END_TEST

/* ... until one does. */
START_TEST(ones_whose_name_is_told_late) {
  static const char code[1];
  attach();
  for (int i = 0; i < 3; i++) {
    token c, r;
    create(&task, &c, NULL, code);
    created(&c, KEY, 1);
    gate.run_begin(&call, &r, KEY, 0, i > 0 ? &on_step : NULL, code);
    ran(&r, APROF_DONE);
  }
  expect("on_step", "done", 3);
}
END_TEST

static void published(void) {
  token c, r;
  create(&spawn, &c, &on_done, NULL);
  pass(1);
  gate.create_key(&c, KEY, 0);
  pass(2);
  run(&call, &r, KEY, &on_done); /* inside the call that creates it */
  pass(4);
  ran(&r, APROF_DONE);
  c.word[0] = 0; /* as where the call does not come back to its end */
}

START_TEST(published_ones) {
  in_rounds(published);
  expect("on_done", "done", ROUNDS);
  expect("on_done", "exec", 4 * ROUNDS);
  expect("on_done", "queued", 3 * ROUNDS);
}
END_TEST

static void born_by_a_run(void) {
  token r;
  run(&orphan, &r, KEY, &machine);
  pass(1);
  ran_at(&r, APROF_PENDING, &not_yet);
  pass(10);
  run_whole(&orphan, KEY, &machine, 2);
  pass(100);
}

START_TEST(ones_that_nobody_creates) {
  in_rounds(born_by_a_run);
  expect("machine", "done", ROUNDS);
  expect_times("machine", 3 * ROUNDS, 0, 13 * ROUNDS);
  expect("machine @ not_yet", "waiting", 10 * ROUNDS);
  expect("machine", "queued", 0);
  expect("machine", "slices", 2 * ROUNDS);
}
END_TEST

/* A callback goes through the steps of a future that it polls. */
static void called(void) {
  token r, m;
  new_future(&once, &on_done, KEY);
  new_future(&spawn, NULL, OTHER);
  pass(5);
  run(&call, &r, KEY, &on_done);
  pass(1);
  run(&call, &m, OTHER, &on_step);
  pass(2);
  ran_at(&m, APROF_PENDING, &not_yet);
  pass(1);
  run(&call, &m, OTHER, &on_step);
  pass(3);
  ran(&m, APROF_DONE);
  pass(1);
  ran(&r, APROF_DONE);
}

START_TEST(runs_inside_a_run) {
  in_rounds(called);
  expect("on_done", "exec", 3 * ROUNDS);
  expect("on_done", "slices", ROUNDS);
  expect("on_done", "slice_max", 8);
  expect("on_done @ on_step", "immediate", 2 * ROUNDS);
  expect("on_done @ on_step", "waiting", 5 * ROUNDS);
  expect("on_step", "done", ROUNDS);
  expect("on_step", "slices", 0);
  expect("on_step", "queued", 6 * ROUNDS);
  expect_times("on_step", 5 * ROUNDS, 0, 12 * ROUNDS);
  expect("on_step @ not_yet", "waiting", ROUNDS);
}
END_TEST

RUN_SITE(bracket, APROF_QUIET, NS);
RUN_SITE(equal_bracket, APROF_QUIET | APROF_TUPLE, NS);
RUN_SITE(strict, 0, NS);

static void runs_none(uint64_t key) {
  token r;
  struct aprof_site *const sites[] = {&bracket, &equal_bracket, &strict};
  for (unsigned i = 0; i < sizeof sites / sizeof *sites; i++) {
    run(sites[i], &r, key, i == 0 ? NULL : &on_step);
    pass(1);
    ck_assert_uint_eq(r.word[0], 0);
    ran(&r, APROF_DONE);
  }
}

/* A function has several brackets, of which one finds what it runs; and some find that it runs. */
static void run_by_none(void) {
  token r, again;
  runs_none(KEY);
  new_future(&once, &on_done, KEY);
  pass(2);
  run(&call, &r, KEY, &on_done);
  runs_none(OTHER);
  run(&call, &again, KEY, &on_done);
  pass(1);
  run(&bracket, &again, KEY, &on_step);
  ck_assert_uint_eq(again.word[0], 0);
  ran(&again, APROF_DONE);
  ran(&r, APROF_DONE);
}

START_TEST(runs_of_none) {
  in_rounds(run_by_none);
  expect("on_done", "done", ROUNDS);
  expect("on_done", "exec", (3 + 1) * ROUNDS);
  expect("on_done @ once", "waiting", 2 * ROUNDS);
  expect("health", "missed", 2 * ROUNDS);
}
END_TEST

/* What it polls is pending, so it is, too: it waits at the call of what it polled. */
static void polled(void) {
  token r, m;
  static int odd;
  run(&call, &r, KEY, &machine);
  pass(1);
  run(&call, &m, OTHER, &inner);
  pass(2);
  ran_at(&m, odd ? APROF_DONE : APROF_PENDING, &not_yet);
  ran_at(&r, odd ? APROF_DONE : APROF_PENDING, &not_yet);
  pass(10);
  odd = !odd;
}

static void polled_twice(void) {
  new_future(&spawn, &machine, KEY);
  new_future(&spawn, &inner, OTHER);
  polled();
  polled();
}

START_TEST(one_that_waits_for_what_it_polls) {
  token t;
  attach();
  enter(&body, &t);
  leave(&t);
  for (int i = 0; i < ROUNDS; i++)
    polled_twice();
  expect("machine", "done", ROUNDS);
  expect("inner", "done", ROUNDS);
  expect("machine", "exec", 2 * ROUNDS);
  expect("inner", "exec", 4 * ROUNDS);
  expect("machine @ inner", "waiting", 14 * ROUNDS);
  expect("machine @ inner", "immediate", 2 * ROUNDS);
}
END_TEST
/* The key is known before the call, whose bracket closes before it runs. */
static void known_early(void) {
  token t, c;
  enter(&body, &t);
  create(&once, &c, &on_done, NULL);
  gate.create_key(&c, KEY, 0);
  pass(2);
  created(&c, KEY, 1);
  pass(3);
  leave(&t);
  run_whole(&call, KEY, &on_done, 4);
}

START_TEST(ones_whose_key_is_known_early) {
  in_rounds(known_early);
  expect("body > on_done", "done", ROUNDS);
  expect_times("body > on_done", 4 * ROUNDS, 0, 9 * ROUNDS);
  expect("body > on_done @ once", "waiting", 5 * ROUNDS);
  expect("body", "exec", 5 * ROUNDS);
}
END_TEST

/* A call that creates one future makes others on its way, and none is its own body. */
static void created_inside(void) {
  token t, outer, nested, c;
  enter(&body, &t);
  create(&once, &outer, &on_done, NULL);
  pass(1);
  create(&task, &nested, &on_step, NULL);
  pass(1);
  created(&nested, OTHER, 1);
  create(&timer, &nested, &on_tick, NULL);
  created(&nested, OTHER + 16, 1);
  enter(&child, &c);
  pass(1);
  leave(&c);
  create(&timer, &nested, &on_tick, NULL); /* the same one, armed again */
  created(&nested, OTHER + 16, 1);
  created(&outer, KEY, 1);
  leave(&t);
  run_whole(&call, OTHER, &on_step, 2);
  run_whole(&call, OTHER + 16, &on_tick, 1);
  run_whole(&call, KEY, &on_done, 4);
}

START_TEST(ones_created_inside_a_create) {
  in_rounds(created_inside);
  expect("body > on_done", "done", ROUNDS);
  expect_times("body > on_done", 4 * ROUNDS, 0, 10 * ROUNDS);
  expect_times("body > on_step", 2 * ROUNDS, 0, 4 * ROUNDS);
  expect_times("body > on_tick", ROUNDS, 0, 4 * ROUNDS);
  expect("body > on_tick", "done", ROUNDS);
  expect("body > child", "done", ROUNDS);
}
END_TEST

/* A key that stands behind another one, as they hash alike. */
static void displaced(void) {
  token t;
  static uint64_t behind;
  uint32_t hash = key_hash(KEY, 0);
  for (behind = behind != 0 ? behind : 16; key_hash(behind, 0) % KEY_WORDS != hash % KEY_WORDS;)
    behind += 16;
  new_future(&once, &on_done, KEY);
  new_future(&task, &on_step, behind);
  pass(1);
  run_whole(&call, behind, &on_step, 2);
  new_future(&once, &on_step, behind);
  enter(&body, &t);
  pass(1);
  run_whole(&call, behind, &on_step, 0);
  leave(&t);
  new_future(&once, &on_step, behind);
  pass(3);
  wake(&ring, behind);
  pass(1);
  end(&stop, behind, APROF_CANCELLED);
  ck_assert_ptr_null(key_find(behind, 0, NS));
  end(&stop, KEY, APROF_DONE);
}

START_TEST(ones_behind_another) {
  in_rounds(displaced);
  expect("on_step", "done", 2 * ROUNDS);
  expect("on_step", "cancelled", ROUNDS);
  expect("on_step", "queued", (1 + 1) * ROUNDS);
  expect("on_step @ once", "waiting", (1 + 3) * ROUNDS);
  expect("on_done", "done", ROUNDS);
}
END_TEST

/* Hundreds of functions of which none is called twice in a row: the thread's cache of paths grows
   until it knows them. */
START_TEST(hundreds_of_functions) {
  enum { MANY = 700, TURNS = 40 };
  static struct aprof_site many[MANY];
  uint64_t before = 0;
  token t, c;
  attach();
  for (unsigned i = 0; i < MANY; i++)
    many[i] = (struct aprof_site){.name = "many",
                                  .file = "unit.c",
                                  .line = i + 1,
                                  .kind = APROF_SITE_FUNCTION,
                                  .model = APROF_MODEL_STACK};
  enter(&body, &t);
  for (unsigned turn = 0; turn < 2 * TURNS; turn++) {
    if (turn == TURNS)
      before = general_events();
    for (unsigned i = 0; i < MANY; i++) {
      enter(&many[i], &c);
      leave(&c);
    }
  }
  leave(&t);
  ck_assert_uint_lt(general_events() - before, 2 * TURNS * MANY / 20);
}
END_TEST

UNIT_TRACED_MAIN("fast", bodies_and_awaits, named_awaits, nameless_ones, nameless_ones_that_wait,
                 ones_of_a_helper, ones_known_by_their_address, ones_known_by_their_address_alone,
                 ones_whose_name_is_told_late, published_ones, ones_that_nobody_creates,
                 runs_inside_a_run, runs_of_none, one_that_waits_for_what_it_polls,
                 ones_whose_key_is_known_early, ones_created_inside_a_create, ones_behind_another,
                 hundreds_of_functions)
