/* SPDX-License-Identifier: MIT */
/*
 * Fast events of parts of requests: what a root makes and runs, what waits for new work, and tiers
 * that are left open. Most of their runs close in fast-close.c.
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

/* -- parts of requests
 * ------------------------------------------------------------------------------ */

CREATE_SITE(served, APROF_ROOT | APROF_MULTI, NS);
CREATE_SITE(request, APROF_READY | APROF_ROOT, NS);
static struct aprof_site to_db = {
    .name = "to_db", .file = "unit.c", .line = 8, .kind = APROF_SITE_TIER, .tier = "db"};
static struct aprof_site tier = {
    .name = "tier", .file = "unit.c", .line = __LINE__, .kind = APROF_SITE_SPAN, .tier = "tier"};

static void spanned(struct aprof_site *site, uint64_t ns) {
  token s = {0};
  gate.span_begin(site, &s);
  pass(ns);
}

/* A tier that a body leaves open is over with its run. */
START_TEST(one_left_in_a_tier) {
  token r;
  attach();
  new_future(&served, &on_done, KEY);
  for (int i = 0; i < ROUNDS; i++) {
    run(&call, &r, KEY, &on_done);
    spanned(&to_db, 4);
    ran_at(&r, APROF_PENDING, i % 2 ? &not_yet : NULL);
    const struct aprof_future *f = (const void *)(uintptr_t)r.word[1];
    ck_assert_uint_eq(f->origin & APROF_ORIGIN_TIER, 0);
    pass(10);
  }
}
END_TEST

/* ... also with the future, which is all of a request or a part, by a body or a call. */
static void left_in_a_tier(void) {
  static struct aprof_site *const sites[] = {&to_db, &tier};
  token r, o;
  for (int i = 0; i < 8; i++) {
    new_future(&request, &on_step, OTHER);
    run(&call, &o, OTHER, &on_step);
    new_future(&task, &on_done, KEY);
    if (i & 1)
      ran(&o, APROF_PENDING);
    pass(1);
    run(&call, &r, KEY, i & 2 ? &on_done : NULL);
    spanned(sites[i >> 2], 4);
    if (i < 4)
      closes(&r, APROF_FAILED);
    else
      ran(&r, APROF_FAILED); /* the general event knows which span that was */
    alike_here();
    pass(2);
    if (i & 1)
      end(&stop, OTHER, APROF_DONE);
    else
      ran(&o, APROF_DONE);
    alike_here();
  }
}

START_TEST(ones_that_end_in_a_tier) {
  rounds_of(left_in_a_tier, FAST_CLOSES);
  expect("on_done", "failed", 8 * ROUNDS);
  expect("on_step", "done", 8 * ROUNDS);
  expect("on_done", "exec", 4 * 4 * ROUNDS);
  expect("tier", "exec", 4 * 4 * ROUNDS);
}
END_TEST

/* A part of it waits, fails, is over with or behind the root, which another one may run. */
static void serving(void) {
  token o, r;
  for (int i = 0; i < 4; i++) {
    new_future(&request, &on_step, OTHER);
    run(&call, &o, OTHER, &on_step);
    new_future(&timer, &on_done, KEY);
    pass(1);
    for (int j = 0; j < 3; j++) {
      run(&call, &r, KEY, &on_done);
      pass(2);
      closes_at(&r, APROF_PENDING, j == 1 ? &not_yet : NULL);
      pass(1);
    }
    if (i & 1) {
      run(&call, &r, KEY, &on_done);
      closes(&r, i == 1 ? APROF_DONE : APROF_FAILED);
    }
    closes(&o, i == 2 ? APROF_FAILED : APROF_DONE);
    if (!(i & 1)) {
      pass(3);
      run(&call, &r, KEY, &on_done);
      pass(1);
      closes(&r, APROF_DONE);
    }
  }
}

START_TEST(ones_of_a_root) {
  rounds_of(serving, FAST_CLOSES);
  expect("on_step", "done", 3 * ROUNDS);
  expect("on_step", "failed", ROUNDS);
  expect("on_done", "done", 3 * ROUNDS);
  expect("on_done", "failed", ROUNDS);
  expect("on_done", "exec", (4 * 3 * 2 + 2) * ROUNDS);
}
END_TEST

/* A root that runs in the request of another one: its own is over with it. */
static void serving_inside(void) {
  token o, r;
  new_future(&request, &on_step, OTHER);
  run(&call, &o, OTHER, &on_step);
  new_future(&request, &on_done, KEY);
  pass(1);
  run(&call, &r, KEY, &on_done);
  pass(2);
  closes(&r, APROF_DONE);
  pass(1);
  closes(&o, APROF_DONE);
}

START_TEST(roots_in_a_request) {
  in_rounds(serving_inside);
  expect("on_done", "done", ROUNDS);
  expect("on_step", "done", ROUNDS);
  ck_assert_uint_eq(chunk_of(APROF_CHUNK_REQUESTS, 1) != NULL, 1);
}
END_TEST

/* A program without roots: each run of what waits for new work is a request. */
static void new_work(void) {
  token c, r;
  create(&listener, &c, &on_step, NULL);
  created(&c, KEY, 1);
  for (int i = 0; i < 3; i++) {
    pass(5);
    run(&call, &r, KEY, &on_step);
    pass(2);
    closes(&r, APROF_PENDING);
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
    closes(&m, APROF_PENDING);
    closes(&r, APROF_PENDING);
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

/* ... also while another one runs, which waits for new work, too, or for something else in the
   request: that stays. */
static void new_work_inside(void) {
  token o, r, p;
  new_future(&listener, &on_step, OTHER);
  new_future(&listener, &on_done, KEY);
  for (int i = 0; i < 3; i++) {
    pass(5);
    run(&call, &o, OTHER, &on_step);
    pass(1);
    run(&call, &r, KEY, &on_done);
    pass(2);
    ran(&r, APROF_PENDING);
    alike_here();
    new_future(&once, &child, KEY + 16);
    closes(&o, APROF_PENDING);
    for (int j = 0; j < 3; j++) {
      pass(3);
      run(&call, &p, KEY + 16, &child);
      pass(1);
      closes_at(&p, j < 2 ? APROF_PENDING : APROF_DONE, j == 0 ? &not_yet : NULL);
    }
  }
  end(&stop, KEY, APROF_DONE);
  end(&stop, OTHER, APROF_DONE);
}

START_TEST(ones_that_wait_for_new_work_inside) {
  rounds_of(new_work_inside, FAST_CLOSES);
  expect("on_step @ listener", "count", 4 * ROUNDS);
  expect("on_done @ listener", "count", 4 * ROUNDS);
  expect("child", "done", 3 * ROUNDS);
}
END_TEST

/* What a root makes, and what waits for new work in it, stays its own. */
static void new_work_of_a_root(void) {
  token o, r;
  new_future(&request, &on_step, OTHER);
  run(&call, &o, OTHER, &on_step);
  new_future(&listener, &on_done, KEY);
  for (int i = 0; i < 3; i++) {
    run(&call, &r, KEY, &on_done);
    pass(1);
    closes(&r, APROF_PENDING);
  }
  closes(&o, APROF_PENDING);
  for (int i = 0; i < 3; i++) {
    pass(1);
    run(&call, &r, KEY, &on_done);
    pass(1);
    closes(&r, APROF_PENDING);
  }
  end(&stop, KEY, APROF_DONE);
  end(&stop, OTHER, APROF_DONE);
}

START_TEST(ones_that_wait_for_new_work_of_a_root) {
  rounds_of(new_work_of_a_root, FAST_CLOSES);
  expect("on_done", "exec", 6 * ROUNDS);
  expect("on_done @ listener", "count", 7 * ROUNDS);
}
END_TEST

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

START_TEST(ones_of_requests) {
  in_rounds(requested);
  expect("on_step", "exec", 3 * ROUNDS);
  expect("on_done", "exec", 5 * ROUNDS);
  expect("child", "exec", 2 * ROUNDS);
}
END_TEST

UNIT_TRACED_MAIN("fast, member", one_left_in_a_tier, ones_that_end_in_a_tier, ones_of_a_root,
                 roots_in_a_request, one_that_waits_for_new_work, one_that_ticks,
                 ones_that_wait_for_new_work_inside, ones_that_wait_for_new_work_of_a_root,
                 ones_of_requests)
