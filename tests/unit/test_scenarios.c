/* SPDX-License-Identifier: MIT */
/*
 * The scenarios that a profiler of futures must get right, as events by hand on
 * the virtual clock, each in every model that can express it: stack (a body with
 * awaits), frame (polled until it is ready), callback (created, run later).
 * The same programs, annotated and compiled, are in tests/system.
 */
#include "unit.h"

FUNCTION_SITE(parent);
FUNCTION_SITE(child);
FUNCTION_SITE(other);
FUNCTION_SITE(grandchild);
AWAIT_SITE(nap);
RETURN_SITE(pending);

FRAME_SITE(parent_frame);
FRAME_SITE(child_frame);
CALL_SITE(poll_child);
RUN_SITE(frame, APROF_ORPHAN, 1);

CALLBACK_SITE(on_parent);
CALLBACK_SITE(on_child);
CREATE_SITE(request, APROF_ONCE, 2);
CREATE_SITE(spawn, APROF_READY, 2);
RUN_SITE(callback, 0, 2);
END_SITE(cancel, 2);
END_SITE(cancel_frame, 1);

enum { PARENT = 0x100, CHILD = 0x200, OTHER = 0x300 };

static void wait_for(uint64_t ns) {
  token t;
  suspend(&nap, &t);
  pass(ns);
  resume(&t);
}

static void blocking_body(struct aprof_site *function, uint64_t ns) {
  token t;
  enter(function, &t);
  pass(ns);
  leave(&t);
}

/* Runs `exec`, waits, runs `exec` again. */
static void pausing_body(struct aprof_site *function, uint64_t exec, uint64_t wait) {
  token t;
  enter(function, &t);
  pass(exec);
  wait_for(wait);
  pass(exec);
  leave(&t);
}

static void poll_once(struct aprof_site *function, uint64_t key, uint64_t ns, int how) {
  token t;
  run(&frame, &t, key, function);
  pass(ns);
  ran_at(&t, how, how == APROF_PENDING ? &pending : NULL);
}

static void call_back(struct aprof_site *function, uint64_t key, uint64_t ns) {
  token t;
  run(&callback, &t, key, function);
  pass(ns);
  ran(&t, APROF_DONE);
}

/* -- one function ------------------------------------------------------------ */

START_TEST(blocking) {
  attach();
  blocking_body(&parent, 100 * MS);
  expect_times("parent", 100 * MS, 0, 100 * MS);
  expect("parent", "created", 1);
  expect("parent", "done", 1);
  expect("parent", "slice_max", 100 * MS);

  poll_once(&parent_frame, PARENT, 100 * MS, APROF_DONE);
  expect_times("parent_frame", 100 * MS, 0, 100 * MS);

  new_future(&spawn, &on_parent, PARENT);
  call_back(&on_parent, PARENT, 100 * MS);
  expect_times("on_parent", 100 * MS, 0, 100 * MS);
  expect("on_parent", "queued", 0);
}
END_TEST

START_TEST(non_blocking) {
  attach();
  token t;
  enter(&parent, &t);
  wait_for(100 * MS);
  leave(&t);
  expect_times("parent", 0, 0, 100 * MS);
  expect("parent @ nap", "count", 1);
  expect("parent @ nap", "immediate", 0);
  expect("parent @ nap", "waiting", 100 * MS);
  expect("parent", "slices", 2);

  poll_once(&parent_frame, PARENT, 0, APROF_PENDING);
  pass(100 * MS);
  poll_once(&parent_frame, PARENT, 0, APROF_DONE);
  expect_times("parent_frame", 0, 0, 100 * MS);
  expect("parent_frame @ pending", "waiting", 100 * MS);
  expect("parent_frame", "created", 1);

  new_future(&request, &on_parent, PARENT);
  pass(100 * MS);
  call_back(&on_parent, PARENT, 0);
  expect_times("on_parent", 0, 0, 100 * MS);
  expect("on_parent @ request", "waiting", 100 * MS);
}
END_TEST

START_TEST(several_pauses) {
  attach();
  token t;
  enter(&parent, &t);
  pass(10 * MS);
  wait_for(10 * MS);
  pass(20 * MS);
  wait_for(30 * MS);
  pass(20 * MS);
  leave(&t);
  expect_times("parent", 50 * MS, 0, 90 * MS);
  expect("parent @ nap", "count", 2);
  expect("parent @ nap", "max", 30 * MS);
  expect("parent", "slices", 3);
  expect("parent", "slice_max", 20 * MS);

  poll_once(&parent_frame, PARENT, 10 * MS, APROF_PENDING);
  pass(10 * MS);
  poll_once(&parent_frame, PARENT, 20 * MS, APROF_PENDING);
  pass(30 * MS);
  poll_once(&parent_frame, PARENT, 20 * MS, APROF_DONE);
  expect_times("parent_frame", 50 * MS, 0, 90 * MS);
  expect("parent_frame @ pending", "count", 2);
  expect("parent_frame", "slices", 3);
}
END_TEST

START_TEST(ten_calls) {
  attach();
  for (unsigned i = 0; i < 10; i++)
    blocking_body(&parent, 10 * MS);
  expect_times("parent", 100 * MS, 0, 100 * MS);
  expect("parent", "created", 10);
  expect("parent", "done", 10);
  expect("parent", "exec_max", 10 * MS);
}
END_TEST

START_TEST(maximum_over_calls) {
  attach();
  static const uint64_t lengths[] = {10 * MS, 50 * MS, 30 * MS};
  for (unsigned i = 0; i < 3; i++) {
    blocking_body(&parent, lengths[i]);
    poll_once(&parent_frame, PARENT, lengths[i], APROF_DONE);
    new_future(&spawn, &on_parent, PARENT);
    call_back(&on_parent, PARENT, lengths[i]);
  }
  static const char *const names[] = {"parent", "parent_frame", "on_parent"};
  for (unsigned i = 0; i < 3; i++) {
    expect_times(names[i], 90 * MS, 0, 90 * MS);
    expect(names[i], "exec_max", 50 * MS);
    expect(names[i], "wall_max", 50 * MS);
  }
}
END_TEST

/* What a cleanup handler does after `return` still belongs to the body. */
START_TEST(work_after_return) {
  attach();
  token t;
  enter(&parent, &t);
  pass(10 * MS);
  wait_for(20 * MS);
  /* return; cleanup: */
  pass(5 * MS);
  wait_for(10 * MS);
  pass(5 * MS);
  leave(&t);
  expect_times("parent", 20 * MS, 0, 50 * MS);
  expect("parent", "done", 1);
}
END_TEST

START_TEST(finished_at_birth) {
  attach();
  blocking_body(&parent, 0);
  expect_times("parent", 0, 0, 0);
  expect("parent", "born_done", 1);
  expect("parent", "done", 1);

  poll_once(&parent_frame, PARENT, 0, APROF_DONE);
  expect("parent_frame", "born_done", 1);

  /* One that waited was not. */
  new_future(&request, &on_parent, PARENT);
  pass(1);
  call_back(&on_parent, PARENT, 0);
  expect("on_parent", "born_done", 0);
  expect("on_parent", "done", 1);
}
END_TEST

/* -- children ---------------------------------------------------------------- */

START_TEST(blocking_child) {
  attach();
  token t;
  enter(&parent, &t);
  pass(10 * MS);
  blocking_body(&child, 100 * MS);
  pass(10 * MS);
  leave(&t);
  expect_times("parent", 20 * MS, 100 * MS, 120 * MS);
  expect_times("child", 100 * MS, 0, 100 * MS);
  expect("parent", "slices", 1);
  expect("parent", "slice_max", 120 * MS);
  expect("child", "slices", 0);

  token p;
  run(&frame, &p, PARENT, &parent_frame);
  pass(10 * MS);
  poll_once(&child_frame, CHILD, 100 * MS, APROF_DONE);
  pass(10 * MS);
  ran(&p, APROF_DONE);
  expect_times("parent_frame", 20 * MS, 100 * MS, 120 * MS);
  expect("parent_frame", "slice_max", 120 * MS);
}
END_TEST

START_TEST(non_blocking_child) {
  attach();
  token t;
  enter(&parent, &t);
  pass(10 * MS);
  pausing_body(&child, 10 * MS, 50 * MS);
  pass(10 * MS);
  leave(&t);
  expect_times("parent", 20 * MS, 20 * MS, 90 * MS);
  expect_times("child", 20 * MS, 0, 70 * MS);
  expect("parent @ child", "count", 1);
  expect("parent @ child", "immediate", 0);
  expect("parent @ child", "waiting", 70 * MS);
}
END_TEST

/* Polled from a parent that is polled: its wait belongs to that child's call. */
START_TEST(non_blocking_child_frame) {
  attach();
  token p;
  for (unsigned turn = 0; turn < 2; turn++) {
    run(&frame, &p, PARENT, &parent_frame);
    pass(10 * MS);
    call_from(&poll_child);
    poll_once(&child_frame, CHILD, 10 * MS, turn ? APROF_DONE : APROF_PENDING);
    if (turn)
      pass(10 * MS);
    ran_at(&p, turn ? APROF_DONE : APROF_PENDING, turn ? NULL : &pending);
    if (!turn)
      pass(50 * MS);
  }
  expect_times("parent_frame", 30 * MS, 20 * MS, 100 * MS);
  expect_times("child_frame", 20 * MS, 0, 80 * MS);
  expect("parent_frame @ poll_child", "waiting", 70 * MS);
  expect("parent_frame @ pending", "count", 0);
}
END_TEST

START_TEST(several_mixed_children) {
  attach();
  token t;
  enter(&parent, &t);
  pass(10 * MS);
  blocking_body(&child, 20 * MS);
  pass(10 * MS);
  pausing_body(&other, 10 * MS, 20 * MS);
  pass(10 * MS);
  pausing_body(&other, 10 * MS, 20 * MS);
  pass(20 * MS);
  leave(&t);
  expect_times("parent", 50 * MS, 60 * MS, 150 * MS);
  expect_times("child", 20 * MS, 0, 20 * MS);
  expect_times("other", 40 * MS, 0, 80 * MS);
}
END_TEST

START_TEST(failing_child) {
  attach();
  token p, c;
  enter(&parent, &p);
  pass(10 * MS);
  enter(&child, &c);
  pass(10 * MS);
  leave_how(&c, APROF_FAILED);
  pass(10 * MS);
  leave(&p);
  expect_times("parent", 20 * MS, 10 * MS, 30 * MS);
  expect("child", "failed", 1);
  expect("child", "done", 0);
  expect("parent", "done", 1);

  poll_once(&child_frame, CHILD, 10 * MS, APROF_FAILED);
  expect("child_frame", "failed", 1);
}
END_TEST

/* Started by the parent, in its create bracket, on a stack of its own; destroyed
   by it while it waits. */
START_TEST(cancelled_child) {
  attach();
  CREATE_SITE(go, 0, 2);
  token p, g, c, w;
  enter(&parent, &p);
  pass(10 * MS);
  create(&go, &g, &child, NULL);
  enter(&child, &c);
  pass(10 * MS);
  suspend(&nap, &w);
  created(&g, CHILD, 1);
  pass(10 * MS);
  end(&cancel, CHILD, APROF_CANCELLED);
  pass(10 * MS);
  leave(&p);
  expect_times("parent", 30 * MS, 10 * MS, 40 * MS);
  expect_times("child", 10 * MS, 0, 20 * MS);
  expect("child", "cancelled", 1);
  expect("child", "live", 0);
  expect("health", "missed", 0);
}
END_TEST

START_TEST(cancelled_child_frame) {
  attach();
  token p;
  run(&frame, &p, PARENT, &parent_frame);
  pass(10 * MS);
  poll_once(&child_frame, CHILD, 10 * MS, APROF_PENDING);
  pass(10 * MS);
  end(&cancel_frame, CHILD, APROF_CANCELLED);
  pass(10 * MS);
  ran(&p, APROF_DONE);
  expect_times("parent_frame", 30 * MS, 10 * MS, 40 * MS);
  expect_times("child_frame", 10 * MS, 0, 20 * MS);
  expect("child_frame", "cancelled", 1);
}
END_TEST

START_TEST(cancelled_child_callback) {
  attach();
  new_future(&spawn, &on_parent, PARENT);
  token p;
  run(&callback, &p, PARENT, &on_parent);
  pass(20 * MS);
  new_future(&request, &on_child, CHILD);
  pass(20 * MS);
  end(&cancel, CHILD, APROF_CANCELLED);
  ran(&p, APROF_DONE);
  expect_times("on_parent", 40 * MS, 0, 40 * MS);
  expect_times("on_child", 0, 0, 20 * MS);
  expect("on_child", "cancelled", 1);
}
END_TEST

/* -- children that outlive the parent ---------------------------------------- */

START_TEST(child_ends_after_parent) {
  attach();
  new_future(&spawn, &on_parent, PARENT);
  token p, c, w;
  run(&callback, &p, PARENT, &on_parent);
  new_future(&spawn, &child, CHILD);
  pass(10 * MS);
  ran(&p, APROF_DONE);
  run(&callback, &c, CHILD, &child);
  pass(10 * MS);
  suspend(&nap, &w);
  ran(&c, APROF_PENDING);
  run(&callback, &c, CHILD, &child);
  resume(&w);
  pass(10 * MS);
  ran(&c, APROF_DONE);
  expect_times("on_parent", 10 * MS, 20 * MS, 10 * MS);
  expect_times("child", 20 * MS, 0, 30 * MS);
  expect("child", "queued", 10 * MS);
  expect("on_parent > child", "done", 1);
}
END_TEST

START_TEST(child_ends_after_parent_stack) {
  attach();
  token p, g, c;
  enter(&parent, &p);
  create(&spawn, &g, &child, NULL);
  created(&g, CHILD, 1);
  pass(10 * MS);
  leave(&p);
  run(&callback, &g, CHILD, NULL);
  enter(&child, &c);
  pass(20 * MS);
  leave(&c);
  ran(&g, APROF_DONE);
  expect_times("parent", 10 * MS, 20 * MS, 10 * MS);
  expect_times("child", 20 * MS, 0, 30 * MS);
  expect("child", "created", 1);
}
END_TEST

/* -- grandchildren ----------------------------------------------------------- */

START_TEST(grandchildren) {
  attach();
  token p, c;
  enter(&parent, &p);
  pass(10 * MS);
  enter(&child, &c);
  pass(10 * MS);
  blocking_body(&grandchild, 10 * MS);
  leave(&c);
  leave(&p);
  expect_times("parent", 10 * MS, 20 * MS, 30 * MS);
  expect_times("child", 10 * MS, 10 * MS, 20 * MS);
  expect_times("grandchild", 10 * MS, 0, 10 * MS);
}
END_TEST

/* What a grandchild runs after its pauses is its grandparent's children's too. */
START_TEST(grandchildren_that_pause) {
  attach();
  token p, c, g;
  enter(&parent, &p);
  pass(10 * MS);
  enter(&child, &c);
  pass(10 * MS);
  enter(&grandchild, &g);
  pass(10 * MS);
  wait_for(50 * MS);
  pass(10 * MS);
  wait_for(50 * MS);
  pass(10 * MS);
  leave(&g);
  pass(10 * MS);
  leave(&c);
  pass(10 * MS);
  leave(&p);
  expect_times("parent", 20 * MS, 50 * MS, 170 * MS);
  expect_times("child", 20 * MS, 30 * MS, 150 * MS);
  expect_times("grandchild", 30 * MS, 0, 130 * MS);
  expect("parent", "slices", 3);
  expect("grandchild", "slices", 0);
  expect("parent", "slice_max", 30 * MS);
}
END_TEST

UNIT_TRACED_MAIN("scenarios", blocking, non_blocking, several_pauses, ten_calls, maximum_over_calls,
          work_after_return, finished_at_birth, blocking_child, non_blocking_child,
          non_blocking_child_frame, several_mixed_children, failing_child, cancelled_child,
          cancelled_child_frame, cancelled_child_callback, child_ends_after_parent,
          child_ends_after_parent_stack, grandchildren, grandchildren_that_pause)
