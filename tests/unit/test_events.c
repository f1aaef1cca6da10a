/* SPDX-License-Identifier: MIT */
/* Bodies and awaits: enter, leave, suspend, resume, at, resync. */
#include "unit.h"

FUNCTION_SITE(a);
FUNCTION_SITE(b);
FUNCTION_SITE(c);
FUNCTION_SITE(d);
SITE_(task, APROF_SITE_FUNCTION, APROF_MODEL_STACK, APROF_ROOT, 0);
AWAIT_SITE(outer);
AWAIT_SITE(inner);
AWAIT_SITE(innermost);
NAMES_SITE(named);
WAKE_SITE(woke, 1);
CALL_SITE(call1);
CALL_SITE(call2);

/* Tokens as on one stack: what is called later lies lower. */
static token cells[8];
#define CELL(depth) (&cells[7 - (depth)])

/* -- calls ------------------------------------------------------------------- */

START_TEST(call_is_an_immediate_await) {
  attach();
  token ta, tb;
  enter(&a, &ta);
  pass(10);
  call_from(&call1);
  enter(&b, &tb);
  pass(20);
  leave(&tb);
  pass(30);
  leave(&ta);
  expect("a", "exec", 40);
  expect("a @ call1", "count", 1);
  expect("a @ call1", "immediate", 1);
  expect("a @ call1", "waiting", 20);
  expect("a", "born_done", 1);
  expect("a > b", "exec", 20);
  expect("a", "slices", 1);
  expect("a", "slice between a and a", 60);
}
END_TEST

START_TEST(call_site_is_used_once) {
  attach();
  token ta, tb;
  enter(&a, &ta);
  call_from(&call1);
  enter(&b, &tb);
  leave(&tb);
  enter(&c, &tb);
  leave(&tb);
  call_from(&call1);
  call_from(&call2);
  enter(&b, &tb);
  leave(&tb);
  leave(&ta);
  expect("a @ call1", "count", 1);
  expect("a @ call2", "count", 1);
  expect("a @ c", "count", 1);
}
END_TEST

/* A call that led to no async body says nothing about a later one elsewhere. */
START_TEST(call_site_does_not_outlive_its_caller) {
  attach();
  token ta, tb;
  enter(&a, &ta);
  call_from(&call1);
  leave(&ta);
  enter(&b, &ta);
  enter(&c, &tb);
  leave(&tb);
  leave(&ta);
  expect("b @ c", "count", 1);
  expect("b @ call1", "count", 0);
}
END_TEST

START_TEST(root_function_is_a_task) {
  attach();
  token ta, tb;
  enter(&a, &ta);
  enter(&task, &tb);
  pass(10);
  leave(&tb);
  leave(&ta);
  expect("a > task", "created", 0);
  expect_times("a", 0, 0, 10);
  expect_times("task", 10, 0, 10);
}
END_TEST

/* -- nested awaits ----------------------------------------------------------- */

START_TEST(outermost_await_gives_the_site) {
  attach();
  enter(&a, CELL(0));
  pass(1);
  suspend(&outer, CELL(1));
  pass(2);
  suspend(&inner, CELL(2));
  pass(4);
  suspend(&innermost, CELL(3));
  pass(100);
  resume(CELL(3));
  pass(8);
  resume(CELL(2));
  pass(16);
  resume(CELL(1));
  pass(32);
  leave(CELL(0));
  expect("a", "exec", 1 + 2 + 4 + 8 + 16 + 32);
  expect("a @ outer", "waiting", 100);
  expect("a @ outer", "count", 1);
  expect("a @ inner", "count", 0);
  expect("a @ innermost", "count", 0);
  expect("a", "slices", 2);
  expect("a", "slice_max", 8 + 16 + 32);
  {
    char name[32];
    snprintf(name, sizeof name, "thread %d", (int)getpid());
    expect(name, "other", 100);
    expect(name, "elapsed", 1 + 2 + 4 + 100 + 8 + 16 + 32);
  }
}
END_TEST

START_TEST(awaits_inside_an_await_one_after_the_other) {
  attach();
  enter(&a, CELL(0));
  suspend(&outer, CELL(1));
  for (unsigned i = 0; i < 3; i++) {
    pass(1);
    suspend(&inner, CELL(2));
    pass(10);
    resume(CELL(2));
  }
  pass(1);
  resume(CELL(1));
  leave(CELL(0));
  expect("a", "exec", 4);
  expect("a @ outer", "waiting", 30);
  expect("a @ outer", "count", 3);
  expect("a @ inner", "count", 0);
}
END_TEST

START_TEST(names_gives_its_line_and_no_time) {
  attach();
  enter(&a, CELL(0));
  suspend(&named, CELL(1));
  pass(5);
  suspend(&inner, CELL(2));
  pass(100);
  resume(CELL(2));
  pass(5);
  resume(CELL(1));
  suspend(&inner, CELL(1));
  pass(7);
  resume(CELL(1));
  leave(CELL(0));
  expect("a", "exec", 10);
  expect("a @ named", "waiting", 100);
  expect("a @ inner", "waiting", 7);
}
END_TEST

START_TEST(await_outside_any_future) {
  attach();
  token t, w;
  enter(&a, &t);
  leave(&t);
  suspend(&outer, &w);
  ck_assert_uint_eq(w.word[0], 0);
  expect("health", "unmatched", 1);
  /* Also when another stack's future has just been suspended. */
  static char far[65536];
  token *elsewhere = (token *)(void *)(far + 32768 - 8);
  enter(&a, CELL(0));
  suspend(&outer, CELL(1));
  suspend(&inner, elsewhere);
  expect("health", "unmatched", 2);
  expect("a @ outer", "count", 0);
}
END_TEST

/* A coroutine that goes to a pool thread in the middle: from the end of that await to the
   next one it holds no loop. */
START_TEST(worker_await_holds_no_loop) {
  SITE_(off, APROF_SITE_AWAIT, 0, APROF_WORKER, 0);
  attach();
  enter(&a, CELL(0));
  for (int i = 0; i < 20; i++) { /* as the general events do it, and as the fast ones */
    pass(5);
    suspend(&off, CELL(1));
    pass(10);
    resume(CELL(1));
    pass(1000);
    suspend(&inner, CELL(1));
    pass(1);
    resume(CELL(1));
  }
  leave(CELL(0));
  expect("a", "exec", 20 * 1005);
  expect("a", "slices", 21);
  expect("a", "slice_max", 5);
  expect("a @ off", "waiting", 200);
}
END_TEST

START_TEST(worker_await_around_others) {
  SITE_(off, APROF_SITE_AWAIT, 0, APROF_WORKER, 0);
  attach();
  enter(&a, CELL(0));
  suspend(&off, CELL(1));
  pass(3);
  suspend(&inner, CELL(2)); /* the library's own */
  pass(10);
  resume(CELL(2));
  resume(CELL(1));
  pass(1000);
  leave(CELL(0));
  expect("a", "exec", 1003);
  expect("a", "slice_max", 3);
}
END_TEST

/* -- closing in another order ------------------------------------------------- */

START_TEST(leave_cancels_what_is_above) {
  attach();
  token ta, tb, tc;
  enter(&a, &ta);
  pass(1);
  enter(&b, &tb);
  pass(2);
  enter(&c, &tc);
  pass(4);
  leave(&ta); /* longjmp to a, which returns */
  expect("a", "done", 1);
  expect("a > b", "cancelled", 1);
  expect("a > b > c", "cancelled", 1);
  expect_times("a", 1, 6, 7);
  expect_times("a > b", 2, 4, 6);
  expect_times("a > b > c", 4, 0, 4);
  expect("health", "missed", 0);
  /* Nothing is left running. */
  enter(&d, &ta);
  leave(&ta);
  expect("d", "done", 1);
}
END_TEST

START_TEST(leave_out_of_an_await) {
  attach();
  token ta, tb, w;
  enter(&a, &ta);
  enter(&b, &tb);
  suspend(&outer, &w);
  pass(10);
  leave(&ta);
  expect("a", "done", 1);
  expect("a > b", "cancelled", 1);
  expect("a > b @ outer", "waiting", 10);
}
END_TEST

START_TEST(leave_twice_is_missed) {
  attach();
  token t;
  enter(&a, &t);
  leave(&t);
  leave(&t);
  expect("a", "done", 1);
  expect("health", "missed", 1);
}
END_TEST

START_TEST(token_of_an_ended_future) {
  attach();
  token t, w, old;
  enter(&a, &t);
  suspend(&outer, &w);
  resume(&w);
  old = w;
  leave(&t);
  enter(&b, &t); /* may well have the same record */
  resume(&old);
  pass(5);
  leave(&t);
  expect("health", "missed", 1);
  expect_times("b", 5, 0, 5);
}
END_TEST

/* A stack that was copied before the bracket opened, and put back: whatever lay there. */
static void close_all(const token *garbage) {
  token t = *garbage;
  gate.resume(&t);
  t = *garbage;
  gate.leave(&t, APROF_DONE);
  t = *garbage;
  gate.run_end(&t, APROF_DONE, NULL);
  t = *garbage;
  gate.run_end(&t, APROF_PENDING, NULL);
  t = *garbage;
  gate.create_key(&t, 1, 0);
  t = *garbage;
  gate.create_end(&t, 1, 0, 1);
  t = *garbage;
  gate.due(&t, 1);
  t = *garbage;
  gate.idle_end(&t);
  t = *garbage;
  gate.blocking_end(&t);
  t = *garbage;
  gate.resync(&t);
}

START_TEST(tokens_that_are_none) {
  attach();
  token w, t;
  enter(&a, &t);
  pass(10);
  suspend(&outer, &w);
  uint64_t top = w.word[0] & ~(uint64_t)UINT32_MAX, at = w.word[1];
  const uint64_t words[] = {1,      0x64,       (uintptr_t)&w,   UINT32_MAX, UINT64_MAX, at + 8,
                            at + 1, 1ull << 63, at | 1ull << 40, ~at,        top | 77};
  enum { WORDS = sizeof words / sizeof *words };
  for (unsigned i = 0; i < WORDS; i++)
    for (unsigned j = 0; j < WORDS; j++)
      close_all(&(token){{words[i], words[j], words[(i + j) % WORDS]}});
  pass(10);
  resume(&w);
  leave(&t);
  expect("a", "done", 1);
  expect("a", "exec", 10);
  expect("a", "waiting", 10);
}
END_TEST

START_TEST(resync_after_longjmp) {
  attach();
  token ta, tb, tc, w;
  enter(&a, &ta);
  pass(1);
  enter(&b, &tb);
  enter(&c, &tc);
  pass(2);
  resync(&ta);
  pass(4);
  expect("a > b", "cancelled", 1);
  expect("a > b > c", "cancelled", 1);
  suspend(&outer, &w);
  pass(8);
  resync(&ta);
  pass(16);
  leave(&ta);
  expect_times("a", 1 + 4 + 16, 2, 31);
  expect("a @ outer", "waiting", 8);
  expect("a", "done", 1);
  expect("health", "missed", 0);
}
END_TEST

START_TEST(resync_where_nothing_was_jumped_over) {
  attach();
  token ta;
  enter(&a, &ta);
  pass(5);
  resync(&ta);
  pass(5);
  leave(&ta);
  expect_times("a", 10, 0, 10);
  expect("a", "slices", 1);
}
END_TEST

/* An await that was jumped out of does not name the next one. */
START_TEST(resync_forgets_open_awaits) {
  attach();
  enter(&a, CELL(0));
  suspend(&named, CELL(1));
  resync(CELL(0));
  suspend(&inner, CELL(1));
  pass(10);
  resume(CELL(1));
  leave(CELL(0));
  expect("a @ inner", "waiting", 10);
  expect("a @ named", "waiting", 0);
}
END_TEST

/* Who was woken has been queued since, however it goes on: by a return from its await, or by a
 * jump. */
START_TEST(jump_out_of_a_wait_that_was_over) {
  attach();
  token ta, tb;
  enter(&a, &ta);
  suspend(&outer, &tb);
  pass(3);
  gate.wake_current(&woke);
  pass(5);
  resync(&ta);
  pass(7);
  leave(&ta);
  expect_times("a", 7, 0, 15);
  expect("a", "queued", 5);
  expect("a @ outer", "waiting", 3);
  expect("health", "missed", 0);
}
END_TEST

/* A plain function between two bodies is where the jump goes to. */
START_TEST(jump_to_a_plain_function) {
  attach();
  enter(&a, CELL(0));
  pass(1);
  gate.here(CELL(1));
  resync(CELL(1)); /* setjmp comes back for the first time */
  enter(&b, CELL(2));
  enter(&c, CELL(3));
  pass(2);
  resync(CELL(1));
  pass(4);
  leave(CELL(0));
  expect("a > b", "cancelled", 1);
  expect("a > b > c", "cancelled", 1);
  expect("a > b > c", "exec", 2);
  expect_times("a", 1 + 4, 2, 7);
  expect("a", "done", 1);
  expect("a", "slices", 1);
  expect("health", "missed", 0);
}
END_TEST

START_TEST(jump_below_all_bodies) {
  attach();
  gate.here(CELL(0));
  resync(CELL(0));
  for (int i = 0; i < 3; i++) {
    enter(&a, CELL(1));
    enter(&b, CELL(2));
    pass(2);
    resync(CELL(0));
    pass(100); /* nobody's */
  }
  expect("a", "cancelled", 3);
  expect("a > b", "cancelled", 3);
  expect("a > b", "exec", 6);
  expect_times("a", 0, 6, 6);
  expect("a", "slices", 3);
  expect("a", "live", 0);
  expect("health", "missed", 0);
}
END_TEST

/* A library of coroutines switches by setjmp, in plain functions: what runs on another
   stack was not jumped over, nor what waits. */
START_TEST(switch_in_a_plain_function) {
  static char other[1 << 20];
  token *far = (token *)(void *)other, *inside = far;
  ck_assert((uintptr_t)far < (uintptr_t)CELL(2));
  attach();
  enter(&a, CELL(0));
  gate.here(CELL(1));
  enter(&b, far);
  pass(2);
  resync(CELL(1));
  expect("a > b", "cancelled", 0);
  expect("a > b", "live", 1);
  leave(inside);
  expect("a > b", "done", 1);

  enter(&c, CELL(2));
  suspend(&inner, CELL(3));
  resync(CELL(1));
  pass(10);
  resume(CELL(3));
  leave(CELL(2));
  leave(CELL(0));
  expect("a > c @ inner", "waiting", 10);
  expect("a > c", "done", 1);
  expect("health", "missed", 0);
}
END_TEST

/* One that went through a reset, or another future's record, marks nothing. */
START_TEST(old_marks) {
  attach();
  enter(&a, CELL(0));
  gate.here(CELL(1));
  leave(CELL(0));
  enter(&b, CELL(0));
  enter(&c, CELL(2));
  resync(CELL(1));
  expect("b > c", "cancelled", 0);
  leave(CELL(2));
  gate.here(CELL(1));
  gate.api_reset();
  resync(CELL(1));
  leave(CELL(0));
  expect("b", "done", 0);
  expect("health", "missed", 0);
}
END_TEST

/* -- live ones ---------------------------------------------------------------- */

START_TEST(open_segments_count_until_now) {
  attach();
  token ta, tb, w;
  enter(&a, &ta);
  pass(3);
  enter(&b, &tb);
  pass(5);
  expect("a", "live", 1);
  expect("a", "created", 1);
  expect("a", "done", 0);
  expect("a", "exec", 3);
  expect("a @ b", "waiting", 5);
  expect("a > b", "exec", 5);
  suspend(&outer, &w);
  pass(7);
  expect("a > b @ outer", "waiting", 7);
  expect("a @ b", "waiting", 12);
  expect("a > b @ outer", "count", 0);
}
END_TEST

UNIT_TRACED_MAIN("events", call_is_an_immediate_await, call_site_is_used_once,
                 call_site_does_not_outlive_its_caller, root_function_is_a_task,
                 outermost_await_gives_the_site, awaits_inside_an_await_one_after_the_other,
                 names_gives_its_line_and_no_time, await_outside_any_future,
                 worker_await_holds_no_loop, worker_await_around_others,
                 leave_cancels_what_is_above, leave_out_of_an_await, leave_twice_is_missed,
                 token_of_an_ended_future, tokens_that_are_none, resync_after_longjmp,
                 resync_where_nothing_was_jumped_over, resync_forgets_open_awaits,
                 jump_out_of_a_wait_that_was_over, jump_to_a_plain_function, jump_below_all_bodies,
                 switch_in_a_plain_function, old_marks, open_segments_count_until_now)
