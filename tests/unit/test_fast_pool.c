/* SPDX-License-Identifier: MIT */
/*
 * Fast events of many that are alike, and of several threads: equal keys, of which each run takes
 * one, and pools, whose threads run what others make.
 */
#include "rounds.h"
#include "rt/future/owner.h"

CALLBACK_SITE(on_done);
CALLBACK_SITE(on_step);
FRAME_SITE(inner);
CREATE_SITE(once, APROF_ONCE, NS);
CREATE_SITE(spawn, 0, NS);
CREATE_SITE(task, APROF_READY, NS);
RUN_SITE(call, 0, NS);
CREATE_SITE(timer, APROF_MULTI, NS);
WAKE_SITE(ring, NS);

CREATE_SITE(post, APROF_READY | APROF_TUPLE, NS);
RUN_SITE(take, APROF_TUPLE, NS);

/* Of many that are equal each is put in, run in its turn, and over, by fast events. */
START_TEST(equal_ones) {
  enum { STAY = 20, EACH = 200 };
  uint64_t before = 0;
  token c, r;
  attach();
  for (unsigned i = 0; i < STAY + 2 * EACH; i++) {
    if (i == STAY + EACH)
      before = general_events();
    create(&post, &c, &on_done, NULL);
    if (i % 2 != 0)
      gate.create_key(&c, KEY, OTHER);
    gate.create_end(&c, KEY, OTHER, 1);
    if (i < STAY)
      continue;
    pass(1);
    run_equal(&take, &r, &on_done);
    pass(2);
    ran(&r, APROF_DONE);
  }
  ck_assert_uint_eq(general_events() - before, 0);
  expect("on_done", "done", 2 * EACH);
  expect("on_done", "live", STAY);
  expect("on_done", "exec", 2 * 2 * EACH);
  expect("health", "missed", 0);
}
END_TEST

CREATE_SITE(ask, APROF_ONCE | APROF_TUPLE, NS);
CREATE_SITE(tick, APROF_MULTI | APROF_TUPLE, NS);
CREATE_SITE(equal_listener, APROF_MULTI | APROF_BACKGROUND | APROF_TUPLE, NS);
WAKE_SITE(answer, NS);

/* Two that wait, of which a running one runs the first, then the loop the second; a nameless one;
   one that pauses and is woken. */
static void equal_new_work(void) {
  token r;
  new_equal(&equal_listener, &on_step);
  for (int i = 0; i < 3; i++) {
    pass(5);
    run_equal(&take, &r, &on_step);
    pass(2);
    ran(&r, i < 2 ? APROF_PENDING : APROF_DONE);
  }
}

START_TEST(equal_ones_for_new_work) {
  in_rounds(equal_new_work);
  expect("on_step", "exec", 6 * ROUNDS);
  expect("on_step @ equal_listener", "waiting", 15 * ROUNDS);
}
END_TEST

static void equal_runs(void) {
  token t, r;
  new_equal(&ask, &on_done);
  pass(1);
  new_equal(&ask, &on_done);
  enter(&body, &t);
  pass(3);
  run_equal(&take, &r, &on_done);
  pass(2);
  ran(&r, APROF_DONE);
  leave(&t);
  run_equal(&take, &r, &on_done);
  pass(4);
  ran(&r, APROF_DONE);

  new_equal(&post, NULL);
  pass(5);
  run_equal(&take, &r, &on_step);
  ran(&r, APROF_DONE);

  new_equal(&tick, &on_step);
  for (int i = 0; i < 2; i++) {
    pass(7);
    gate.wake(&answer, KEY, OTHER);
    pass(10);
    if (i == 1)
      enter(&body, &t);
    run_equal(&take, &r, &on_step);
    ran(&r, i == 0 ? APROF_PENDING : APROF_DONE);
  }
  leave(&t);
}

START_TEST(equal_ones_that_wait) {
  in_rounds(equal_runs);
  expect("on_done", "done", 2 * ROUNDS);
  expect("on_done", "exec", 6 * ROUNDS);
  expect("on_done @ ask", "waiting", (4 + 5) * ROUNDS);
  expect("body @ on_done", "immediate", ROUNDS);
  expect("body @ on_done", "waiting", 2 * ROUNDS);
  expect("on_step", "done", 2 * ROUNDS);
  expect("on_step", "queued", (5 + 2 * 10) * ROUNDS);
  expect("on_step @ tick", "waiting", 2 * 7 * ROUNDS);
  expect("health", "missed", 0);
}
END_TEST

/* -- a pool's thread ---------------------------------------------------------- */

RUN_SITE(work_equal, APROF_TUPLE | APROF_WORKER, NS);
RUN_SITE(work_at, APROF_WORKER, NS);
END_SITE(stop, NS);
CREATE_SITE(job, APROF_READY | APROF_WORKER, NS);

static void works_equal(void) {
  token r;
  for (int i = 0; i < 2; i++) {
    run_equal(&work_equal, &r, &on_step);
    pass(100 + i);
    ran(&r, APROF_DONE);
  }
}

static void works(void) {
  run_whole(&work_at, KEY, &on_step, 100);
}

/* As many as end there, so that neither runs out of records. */
static void makes_some(void) {
  for (uint64_t i = 0; i < 3; i++)
    new_future(&task, &inner, KEY + 16 * i);
}

static void goes_on(void) {
  token r;
  run(&call, &r, OTHER, &on_done);
  pass(10);
  ran(&r, APROF_PENDING);
}

/* What the loop makes a pool's thread runs, by equal keys and by others; what waits goes from one
   to the other, woken and not. */
static void worked(void) {
  new_equal(&post, &on_step);
  new_equal(&post, NULL);
  pass(5);
  on_pool(works_equal);
  new_future(&task, &on_step, KEY);
  pass(6);
  on_pool(works);
  on_pool(makes_some);
  for (uint64_t i = 0; i < 3; i++) {
    pass(1);
    run_whole(&call, KEY + 16 * i, &inner, 0);
  }
  new_future(&timer, &on_done, OTHER);
  for (int i = 0; i < 2; i++) {
    pass(3);
    on_pool(goes_on);
    pass(4);
    if (i == 1)
      wake(&ring, OTHER);
    pass(2);
    if (i == 0) {
      goes_on();
    } else {
      run_whole(&call, OTHER, &on_done, 0);
    }
  }
}

START_TEST(ones_of_another_thread) {
  in_rounds(worked);
  expect("on_step", "done", 3 * ROUNDS);
  expect("on_step", "exec", (100 + 101 + 100) * ROUNDS);
  expect("on_step", "queued", (5 + 105 + 6) * ROUNDS);
  expect("on_step", "slices", 0);
  expect("on_done", "done", ROUNDS);
  expect("on_done", "exec", 3 * 10 * ROUNDS);
  expect("on_done", "queued", 2 * ROUNDS);
  expect("on_done @ timer", "waiting", (3 + 6 + 3 + 4) * ROUNDS);
  expect("inner", "done", 3 * ROUNDS);
  expect("inner", "queued", (1 + 2 + 3) * ROUNDS);
  expect("health", "migrations", (2 + 1 + 3 + 4) * ROUNDS);
  expect("health", "missed", 0);
}
END_TEST

static void gives_back(void) {
  new_future(&task, &inner, OTHER);
}

/* ... whose line says that a pool's threads run it: it is nobody's until one does. */
static void job_worked(void) {
  new_future(&job, &on_step, KEY);
  pass(6);
  on_pool(works);
  new_future(&job, &on_step, KEY);
  pass(2);
  works(); /* the loop takes it itself */
  on_pool(gives_back);
  pass(1);
  run_whole(&call, OTHER, &inner, 0);
}

START_TEST(jobs_for_a_pool) {
  in_rounds(job_worked);
  new_future(&job, &on_step, KEY);
  pass(1);
  end(&stop, KEY, APROF_CANCELLED);
  expect("on_step", "done", 2 * ROUNDS);
  expect("on_step", "cancelled", 1);
  expect("on_step", "exec", 200 * ROUNDS);
  expect("on_step", "queued", (6 + 2) * ROUNDS + 1);
  expect("health", "migrations", 2 * ROUNDS);
  expect("health", "missed", 0);
}
END_TEST

static int64_t took_ns;

static int64_t ns_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void works_timed(void) {
  int64_t begin = ns_now();
  works();
  took_ns = ns_now() - begin;
}

/* How long it takes to take one while who made it stands still in an event. */
static int64_t taken_beside(struct aprof_site *made) {
  new_future(made, &on_step, KEY);
  pass(1);
  aprof_self->block->sequence++;
  on_pool(works_timed);
  aprof_self->block->sequence--;
  return took_ns;
}

START_TEST(one_that_takes_a_job_waits_for_nobody) {
  int64_t job_ns, other_ns;
  attach();
  worked();
  job_worked();
  job_ns = taken_beside(&job);
  other_ns = taken_beside(&task);
  ck_assert_int_lt(20 * job_ns, other_ns);
}
END_TEST

/* 0 would be that of one which is being ended; the lower half of an epoch may be 0. */
START_TEST(nobody_is_not_who_ends_it) {
  const struct thread usual = {.lease = 0x20005}, at_zero = {.lease = 5};
  ck_assert_uint_eq(lease_of_none(&usual), 0x20000);
  ck_assert_uint_eq(lease_of_none(&at_zero), 5);
}
END_TEST

static void is_quick(void) {
  run_whole(&work_at, OTHER, &on_step, 100);
}

/* Another create lies in the bracket, and what that made is over on another thread before its own
   closes. */
static void made_in_a_create(void) {
  token t, c, inner_c;
  enter(&body, &t);
  create(&once, &c, &on_done, NULL);
  gate.create_key(&c, KEY, 0);
  create(&spawn, &inner_c, &on_step, NULL);
  gate.create_key(&inner_c, OTHER, 0);
  on_pool(is_quick);
  created(&inner_c, OTHER, 1);
  created(&c, KEY, 1);
  leave(&t);
  run_whole(&call, KEY, &on_done, 4);
}

START_TEST(creates_in_a_create) {
  in_rounds(made_in_a_create);
  expect("body > on_step", "exec", 100 * ROUNDS);
  expect("body > on_step", "done", ROUNDS);
  expect("body > on_done", "done", ROUNDS);
  expect("body > on_done @ once", "waiting", 100 * ROUNDS);
  expect("health", "missed", 0);
}
END_TEST

static void calls_back(void) {
  token t;
  enter(&body, &t);
  run_whole(&call, KEY, &on_done, 1);
  leave(&t);
}

/* A running future of one thread runs what another one made. */
static void called_back(void) {
  new_future(&once, &on_done, KEY);
  pass(2);
  on_pool(calls_back);
}

START_TEST(called_ones_of_another_thread) {
  in_rounds(called_back);
  expect("on_done", "exec", ROUNDS);
  expect("on_done @ once", "waiting", 2 * ROUNDS);
  expect("body @ on_done", "immediate", ROUNDS);
  expect("health", "migrations", ROUNDS);
}
END_TEST

enum { MANY_WORKS = 2000 };

static void makes_one(void) {
  new_future(&task, &on_step, KEY);
}

/* A thread that ends what another one makes gives records back, many at once. */
START_TEST(many_of_another_thread) {
  uint64_t before = 0;
  attach();
  for (unsigned i = 0; i < MANY_WORKS; i++) {
    if (i == MANY_WORKS / 2)
      before = general_events();
    makes_one();
    on_pool(works);
  }
  ck_assert_uint_lt(general_events() - before, MANY_WORKS / 10);
  expect("on_step", "done", MANY_WORKS);
}
END_TEST

UNIT_TRACED_MAIN("fast, pool", equal_ones, equal_ones_for_new_work, equal_ones_that_wait,
                 ones_of_another_thread, jobs_for_a_pool, one_that_takes_a_job_waits_for_nobody,
                 nobody_is_not_who_ends_it, creates_in_a_create, called_ones_of_another_thread,
                 many_of_another_thread)
