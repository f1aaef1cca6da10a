/* SPDX-License-Identifier: MIT */
/*
 * Fast events of bodies that lie on a stack of their own, as a coroutine's do: what was called
 * runs, waits and is woken there, whoever runs it.
 */
#include "rounds.h"

FUNCTION_SITE(child);
CALLBACK_SITE(on_done);
CALLBACK_SITE(on_step);
CREATE_SITE(spawn, 0, NS);
CREATE_SITE(task, APROF_READY, NS);
RUN_SITE(call, 0, NS);
CREATE_SITE(timer, APROF_MULTI, NS);
WAKE_SITE(ring, NS);
END_SITE(stop, NS);

/* A timer's callback, which is no body, waits inside, and calls a body that is not its own. */
static void waiting_and_calling(void) {
  token r, c, a;
  new_future(&timer, &on_done, KEY);
  for (int i = 0; i < 3; i++) {
    pass(10);
    run(&call, &r, KEY, &on_done);
    suspend(&nap, &a);
    pass(2);
    resume(&a);
    enter(&child, &c);
    pass(1);
    leave(&c);
    ran(&r, APROF_PENDING);
  }
  end(&stop, KEY, APROF_DONE);
}

/* A coroutine's run: what it has called waits where it is left, and goes on when it is run again.
 */
static void waits_in_call(token *r, bool wakes) {
  token c, a;
  run(&call, r, KEY, &on_done);
  pass(1);
  enter(&child, &c);
  pass(2);
  suspend(&nap, &a);
  pass(3);
  ran(r, APROF_PENDING);
  pass(4);
  if (wakes) {
    wake(&ring, KEY);
    pass(5);
  }
  run(&call, r, KEY, &on_done);
  resume(&a);
  pass(6);
  leave(&c);
  ran(r, APROF_PENDING);
}

static void stacked(void) {
  token r;
  new_future(&timer, &on_done, KEY);
  for (int i = 0; i < 4; i++)
    waits_in_call(&r, i & 1);
  end(&stop, KEY, APROF_DONE);
}

START_TEST(ones_that_wait_in_what_they_call) {
  in_rounds(stacked);
  expect("child", "done", 4 * ROUNDS);
  expect("child", "exec", 32 * ROUNDS);
  expect("child", "queued", 10 * ROUNDS);
  expect("child @ nap", "waiting", 28 * ROUNDS);
  expect("on_done", "slices", 8 * ROUNDS);
  expect("on_done @ child", "immediate", 0);
}
END_TEST

/* Another thread has seen the coroutine run, and leaves its mark when that has called a body. */
static void stacked_and_marked(void) {
  token r, c, a;
  new_future(&timer, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  struct aprof_future *f = aprof_self->cur;
  enter(&child, &c);
  f->wake_tick = child.id;
  suspend(&nap, &a);
  ran(&r, APROF_PENDING);
  pass(1);
  wake(&ring, KEY);
  pass(2);
  run(&call, &r, KEY, &on_done);
  resume(&a);
  f->wake_tick = 0;
  leave(&c);
  ran(&r, APROF_PENDING);
  end(&stop, KEY, APROF_DONE);
}

START_TEST(ones_woken_below_a_mark) {
  in_rounds(stacked_and_marked);
  expect("child", "queued", 2 * ROUNDS);
}
END_TEST

/* The same, run by another future; the coroutine is left without an await. */
static void stacked_and_called(void) {
  token r, o, c;
  new_future(&timer, &on_done, KEY);
  new_future(&spawn, &on_step, OTHER);
  run(&call, &o, OTHER, &on_step);
  for (int i = 0; i < 4; i++)
    waits_in_call(&r, i & 1);
  run(&call, &r, KEY, NULL);
  enter(&child, &c);
  pass(7);
  ran(&r, APROF_PENDING);
  pass(1);
  run(&call, &r, KEY, NULL);
  leave(&c);
  ran(&r, APROF_PENDING);
  ran(&o, APROF_DONE);
  run(&call, &r, KEY, NULL);
  enter(&child, &c);
  pass(7);
  ran(&r, APROF_PENDING);
  pass(1);
  run(&call, &r, KEY, NULL);
  leave(&c);
  ran(&r, APROF_PENDING);
  end(&stop, KEY, APROF_DONE);
}

START_TEST(ones_that_are_left_in_what_they_call) {
  in_rounds(stacked_and_called);
  expect("child", "done", 6 * ROUNDS);
  expect("child", "exec", (32 + 7 + 7) * ROUNDS);
  expect("on_step", "slices", 5 * ROUNDS);
}
END_TEST

/* A coroutine's first run leads to its body, and its last one from there back. */
static void entered(bool waits) {
  token r, c, a;
  new_future(&spawn, &child, KEY);
  pass(1);
  run(&call, &r, KEY, NULL);
  enter(&child, &c);
  pass(2);
  if (waits) {
    suspend(&nap, &a);
    ran(&r, APROF_PENDING);
    pass(3);
    run(&call, &r, KEY, NULL);
    resume(&a);
  }
  leave(&c);
  ran(&r, APROF_DONE);
}

static void entered_by_runs(void) {
  token o;
  entered(false);
  entered(true);
  new_future(&task, &on_step, OTHER);
  run(&call, &o, OTHER, &on_step);
  entered(false);
  entered(true);
  ran(&o, APROF_DONE);
}

START_TEST(ones_entered_by_their_runs) {
  in_rounds(entered_by_runs);
  expect("child", "done", 4 * ROUNDS);
  expect("child", "exec", 8 * ROUNDS);
  expect("child @ nap", "waiting", 6 * ROUNDS);
  expect("child", "slices", 3 * ROUNDS);
  expect("on_step", "slices", 2 * ROUNDS);
}
END_TEST

static struct aprof_site parse = {
    .name = "parse", .file = "unit.c", .line = 7, .kind = APROF_SITE_SPAN};

/* A coroutine is left in a span without an await, and goes on there. */
static void left_in_a_span(void) {
  token r, c, s = {0};
  new_future(&timer, &on_done, KEY);
  for (int i = 0; i < 3; i++) {
    run(&call, &r, KEY, NULL);
    enter(&child, &c);
    gate.span_begin(&parse, &s);
    pass(2);
    ran(&r, APROF_PENDING);
    pass(5);
    run(&call, &r, KEY, NULL);
    pass(7);
    gate.span_end(&s);
    pass(1);
    leave(&c);
    ran(&r, APROF_PENDING);
  }
  end(&stop, KEY, APROF_DONE);
}

START_TEST(ones_left_in_a_span) {
  attach();
  for (int i = 0; i < ROUNDS; i++)
    left_in_a_span();
  expect("parse", "exec", 3 * 9 * ROUNDS);
}
END_TEST

/* A bracket that closes twice is open no less than before. */
START_TEST(one_that_closes_twice) {
  token r, c, a;
  attach();
  for (int i = 0; i < ROUNDS; i++) {
    new_future(&timer, &on_done, KEY);
    run(&call, &r, KEY, NULL);
    enter(&child, &c);
    suspend(&nap, &a);
    ran(&r, APROF_PENDING);
    ran(&r, APROF_PENDING);
    const struct aprof_future *f = (const void *)(uintptr_t)r.word[1];
    ck_assert_uint_eq(f->open, 0);
    end(&stop, KEY, APROF_DONE);
  }
}
END_TEST

/* ... nor is one whose await has come back meanwhile. */
START_TEST(one_that_closes_late) {
  token r, a;
  attach();
  for (int i = 0; i < ROUNDS; i++) {
    new_future(&timer, &on_done, KEY);
    run(&call, &r, KEY, NULL);
    suspend(&nap, &a);
    ran(&r, APROF_PENDING);
    resume(&a);
    ran(&r, APROF_PENDING);
    const struct aprof_future *f = (const void *)(uintptr_t)r.word[1];
    ck_assert_uint_eq(f->open, 0);
    end(&stop, KEY, APROF_DONE);
  }
}
END_TEST

/* One that waits for its next run goes on by the await that it has left behind: the next one is its
   own, not its bracket's. */
START_TEST(one_that_resumes_twice) {
  token r, a;
  attach();
  for (int i = 0; i < ROUNDS; i++) {
    new_future(&timer, &on_done, KEY);
    run(&call, &r, KEY, NULL);
    suspend(&nap, &a);
    ran(&r, APROF_PENDING);
    resume(&a);
    ran(&r, APROF_PENDING);
    resume(&a);
    const struct aprof_future *f = (const void *)(uintptr_t)r.word[1];
    ck_assert_uint_eq(f->flags & APROF_F_IMPLICIT, 0);
    suspend(&nap, &a);
    run(&call, &r, KEY, NULL);
    ck_assert_uint_ne(f->await, 0);
    ran(&r, APROF_DONE);
  }
}
END_TEST

START_TEST(one_that_waits_and_calls) {
  in_rounds(waiting_and_calling);
  expect("child", "exec", 3 * ROUNDS);
  expect("on_done @ nap", "waiting", 6 * ROUNDS);
  expect("on_done @ child", "immediate", 3 * ROUNDS);
  expect("on_done @ timer", "waiting", 30 * ROUNDS);
}
END_TEST

UNIT_TRACED_MAIN("fast, stack", ones_that_wait_in_what_they_call, ones_woken_below_a_mark,
                 ones_that_are_left_in_what_they_call, ones_entered_by_their_runs,
                 ones_left_in_a_span, one_that_closes_twice, one_that_closes_late,
                 one_that_resumes_twice, one_that_waits_and_calls)
