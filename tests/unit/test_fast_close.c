/* SPDX-License-Identifier: MIT */
/*
 * Fast events of runs that close in a rare way (rt/event/fast-close.c).
 */
#include "rounds.h"

enum { FRAME_NS = 9 };
FUNCTION_SITE(child);
CALLBACK_SITE(on_done);
CALLBACK_SITE(on_step);
RETURN_SITE(not_yet);
CREATE_SITE(once, APROF_ONCE, NS);
CREATE_SITE(task, APROF_READY, NS);
RUN_SITE(call, 0, NS);
RUN_SITE(orphan, APROF_ORPHAN, FRAME_NS);
CREATE_SITE(timer, APROF_MULTI, NS);
CREATE_SITE(listener, APROF_MULTI | APROF_BACKGROUND, NS);
END_SITE(stop, NS);

CREATE_SITE(served, APROF_ROOT | APROF_MULTI, NS);
static struct aprof_site to_db = {
    .name = "to_db", .file = "unit.c", .line = 8, .kind = APROF_SITE_TIER, .tier = "db"};

/* A tier that a body leaves open is over with its run. */
START_TEST(one_left_in_a_tier) {
  token r, s;
  attach();
  new_future(&served, &on_done, KEY);
  for (int i = 0; i < ROUNDS; i++) {
    run(&call, &r, KEY, &on_done);
    s = (token){0};
    gate.span_begin(&to_db, &s);
    pass(4);
    ran_at(&r, APROF_PENDING, i % 2 ? &not_yet : NULL);
    const struct aprof_future *f = (const void *)(uintptr_t)r.word[1];
    ck_assert_uint_eq(f->origin & APROF_ORIGIN_TIER, 0);
    pass(10);
  }
}
END_TEST

/* A timer's callback moves a request on, which goes on elsewhere: its next wait is the timer's. */
/* A program without roots: each run of what waits for new work is a request. */
static void new_work(void) {
  token c, r;
  create(&listener, &c, &on_step, NULL);
  created(&c, KEY, 1);
  for (int i = 0; i < 3; i++) {
    pass(5);
    run(&call, &r, KEY, &on_step);
    pass(2);
    ran(&r, APROF_PENDING);
  }
  run_whole(&call, KEY, &on_step, 0);
}

START_TEST(one_that_waits_for_new_work) {
  in_rounds(new_work);
  expect("on_step", "exec", 6 * ROUNDS);
  expect("on_step @ listener", "waiting", 15 * ROUNDS);
}
END_TEST

static void ticking(void) {
  token r, m;
  new_future(&timer, &on_done, KEY);
  for (int i = 0; i < 3; i++) {
    pass(10);
    run(&call, &r, KEY, &on_done);
    run(&orphan, &m, OTHER, &on_step);
    pass(1);
    ran(&m, APROF_PENDING);
    ran(&r, APROF_PENDING);
  }
  end(&stop, KEY, APROF_DONE);
}

START_TEST(one_that_ticks) {
  in_rounds(ticking);
  expect("on_done @ timer", "waiting", 30 * ROUNDS);
  expect("on_done @ on_step", "waiting", 3 * ROUNDS);
  expect("on_done @ on_step", "immediate", 3 * ROUNDS);
}
END_TEST

/* Each makes its successor of the same key in its own last run: one by one, and one that another
   future runs. */
static void makes_next(struct aprof_site *site, bool early) {
  token c;
  create(site, &c, &on_done, NULL);
  if (early)
    gate.create_key(&c, KEY, 0);
  created(&c, KEY, 1);
}

static void resubmitted(void) {
  token r, called;
  makes_next(&once, false);
  for (int i = 0; i < 4; i++) {
    pass(2);
    run(&call, &r, KEY, &on_done);
    pass(1);
    makes_next(i & 2 ? &once : &task, i & 1);
    pass(1);
    ran(&r, APROF_DONE);
  }
  new_future(&task, &on_step, OTHER);
  run(&call, &r, OTHER, &on_step);
  pass(3);
  run(&call, &called, KEY, &on_done);
  makes_next(&once, true);
  pass(1);
  ran(&called, APROF_DONE);
  ran(&r, APROF_DONE);
  end(&stop, KEY, APROF_CANCELLED);
}

START_TEST(ones_that_make_their_successors) {
  in_rounds(resubmitted);
  expect("on_done", "done", 5 * ROUNDS);
  expect("on_done", "cancelled", ROUNDS);
  expect("on_done", "exec", 9 * ROUNDS);
  expect("health", "reused_keys", 0);
}
END_TEST

/* Ended inside their own runs: whatever the bracket says, alone and run by another one. */
static void stopped_inside(void) {
  static const int hows[] = {APROF_DONE, APROF_FAILED, APROF_CANCELLED};
  token r, called;
  for (int i = 0; i < 3; i++) {
    new_future(&timer, &on_done, KEY);
    pass(2);
    run(&call, &r, KEY, &on_done);
    pass(1);
    end(&stop, KEY, hows[i]);
    pass(1);
    ran(&r, i == 1 ? APROF_DONE : APROF_PENDING);
  }
  new_future(&task, &on_step, OTHER);
  new_future(&timer, &on_done, KEY);
  run(&call, &r, OTHER, &on_step);
  run(&call, &called, KEY, &on_done);
  end(&stop, KEY, APROF_DONE);
  pass(1);
  ran(&called, APROF_PENDING);
  ran(&r, APROF_DONE);
}

START_TEST(ones_stopped_inside) {
  in_rounds(stopped_inside);
  expect("on_done", "done", 2 * ROUNDS);
  expect("on_done", "failed", ROUNDS);
  expect("on_done", "cancelled", ROUNDS);
  expect("on_done", "exec", 7 * ROUNDS);
}
END_TEST

/* Requests: a root that calls, makes a callback, is in a tier, and is ended; a body that it leaves
   in a tier is called, too. */
static struct aprof_site tier = {
    .name = "tier", .file = "unit.c", .line = __LINE__, .kind = APROF_SITE_SPAN, .tier = "tier"};
CREATE_SITE(request, APROF_READY | APROF_ROOT, NS);

static void calls_in_tier(void) {
  token t, s, c;
  enter(&body, &t);
  gate.span_begin(&tier, &s);
  pass(1);
  enter(&child, &c);
  pass(2);
  leave(&c);
  gate.span_end(&s);
  leave(&t);
}

static void requested(void) {
  token r, s;
  new_future(&request, NULL, KEY);
  run(&call, &r, KEY, &on_step);
  gate.span_begin(&tier, &s);
  new_future(&once, &on_done, OTHER);
  gate.span_end(&s);
  pass(3);
  ran(&r, APROF_PENDING);
  pass(4);
  run_whole(&call, OTHER, &on_done, 5);
  end(&stop, KEY, APROF_DONE);
  calls_in_tier();
}

START_TEST(requests) {
  in_rounds(requested);
  expect("on_step", "exec", 3 * ROUNDS);
  expect("on_done", "exec", 5 * ROUNDS);
  expect("child", "exec", 2 * ROUNDS);
}
END_TEST

UNIT_TRACED_MAIN("fast, close", one_left_in_a_tier, one_that_waits_for_new_work, one_that_ticks,
                 ones_that_make_their_successors, ones_stopped_inside, requests)
