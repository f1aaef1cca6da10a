/* SPDX-License-Identifier: MIT */
/* Creates, runs, wakes, ends and idling: futures that are found by a key. */
#include "unit.h"

#include "rt/rt.h"
#include <pthread.h>
#include <sched.h>

FUNCTION_SITE(body);
FUNCTION_SITE(loop);
CALLBACK_SITE(on_done);
CALLBACK_SITE(on_other);
FRAME_SITE(machine);
FRAME_SITE(submachine);
AWAIT_SITE(nap);
CALL_SITE(poll_it);
RETURN_SITE(not_yet);
IDLE_SITE(poller);
enum { NS = 7, OTHER_NS = 8, FRAME_NS = 9, KEY = 0xabc0 };
CREATE_SITE(once, APROF_ONCE, NS);
CREATE_SITE(multi, APROF_MULTI, NS);
CREATE_SITE(spawn, 0, NS);
CREATE_SITE(ready_once, APROF_ONCE | APROF_READY, NS);
CREATE_SITE(rearm, APROF_ONCE | APROF_REARM, NS);
CREATE_SITE(root, APROF_ROOT, NS);
CREATE_SITE(once_other, APROF_ONCE, OTHER_NS);
RUN_SITE(call, 0, NS);
RUN_SITE(quiet, APROF_QUIET, NS);
RUN_SITE(own, APROF_QUIET | APROF_OWN, NS);
RUN_SITE(own_other, APROF_QUIET | APROF_OWN, OTHER_NS);
RUN_SITE(orphan, APROF_ORPHAN, FRAME_NS);
WAKE_SITE(waker, NS);
WAKE_SITE(wake_any, APROF_NS_ANY);
END_SITE(ender, NS);
END_SITE(end_any, APROF_NS_ANY);

static const char address_of_body, address_of_other;

/* The runtime shows nothing before its first future. */
static void begin(void) {
  token t;
  attach();
  enter(&loop, &t);
  leave(&t);
}

/* -- create ------------------------------------------------------------------ */

/* Two threads are in one callback at once: what the second one runs is its own time. */
START_TEST(what_another_thread_took_is_counted_by_that_one) {
  attach();
  token t;
  new_future(&once, &on_done, 7);
  pass(15);
  run(&call, &t, 7, &on_done);
  pass(10);
  struct aprof_future *f = (struct aprof_future *)(uintptr_t)t.word[1];
  f->lease++; /* as another thread does that begins to run it now */
  f->last += 10;
  ran(&t, APROF_PENDING);
  expect("on_done", "exec", 0);
  expect("health", "missed", 1);
}
END_TEST

static int taking; /* 1: another thread does; 2: it has given it up */
static void *takes(void *future) {
  token t;
  enter(&body, &t);
  aprof_self->block->sequence++;
  ((struct aprof_future *)future)->lease = aprof_self->lease;
  __atomic_store_n(&taking, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&taking, __ATOMIC_ACQUIRE) != 2)
    sched_yield();
  aprof_self->block->sequence++;
  leave(&t);
  return NULL;
}

/* That one sees that it runs, and gives it back: it would have run nowhere else. */
START_TEST(what_another_thread_is_about_to_take_stays) {
  attach();
  token t;
  pthread_t thread;
  new_future(&once, &on_done, 7);
  run(&call, &t, 7, &on_done);
  pass(10);
  taking = 0;
  pthread_create(&thread, NULL, takes, (void *)(uintptr_t)t.word[1]);
  while (!__atomic_load_n(&taking, __ATOMIC_ACQUIRE))
    sched_yield();
  ran(&t, APROF_PENDING);
  __atomic_store_n(&taking, 2, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  expect("on_done", "exec", 10);
  expect("health", "missed", 0);
}
END_TEST

START_TEST(once_waits_at_its_create) {
  begin();
  token c, r;
  create(&once, &c, &on_done, NULL);
  pass(5); /* in the call itself: it lives since the bracket began */
  created(&c, KEY, 1);
  pass(10);
  run(&call, &r, KEY, &on_done);
  pass(3);
  ran(&r, APROF_DONE);
  expect("on_done @ once", "waiting", 15);
  expect("on_done @ once", "count", 1);
  expect_times("on_done", 3, 0, 18);
  expect("on_done", "queued", 0);
}
END_TEST

START_TEST(spawn_is_queued) {
  begin();
  token r;
  new_future(&spawn, &on_done, KEY);
  pass(10);
  run(&call, &r, KEY, &on_done);
  ran(&r, APROF_DONE);
  new_future(&ready_once, &on_done, KEY);
  pass(10);
  run(&call, &r, KEY, &on_done);
  ran(&r, APROF_DONE);
  expect("on_done", "queued", 20);
  expect("on_done", "waiting", 0);
  expect("on_done", "queued histogram from 10", 2);
}
END_TEST

START_TEST(create_that_failed_never_was) {
  begin();
  token c, r;
  create(&once, &c, &on_done, NULL);
  pass(5);
  expect("on_done", "created", 0);
  created(&c, KEY, 0);
  expect("on_done", "created", 0);
  run(&quiet, &r, KEY, &on_done);
  ck_assert_uint_eq(r.word[0], 0);
  expect("health", "missed", 0);
}
END_TEST

START_TEST(root_create_is_a_task) {
  begin();
  token t;
  enter(&body, &t);
  new_future(&root, &on_done, KEY);
  leave(&t);
  expect("body > on_done", "created", 0);
  expect("on_done", "created", 1);
}
END_TEST

START_TEST(child_runs_before_create_returns) {
  begin();
  token p, c, t;
  enter(&loop, &p);
  pass(1);
  create(&spawn, &c, &body, &address_of_body);
  pass(2);
  enter_as(&body, &t, &address_of_body);
  pass(4);
  leave(&t);
  pass(8);
  created(&c, KEY, 1);
  pass(16);
  leave(&p);
  expect("loop > body", "created", 1);
  expect("loop > body", "exec", 4);
  expect("loop > body", "queued", 2);
  expect("loop > body", "wall", 6);
  expect("loop", "exec", 1 + 2 + 16);
  expect("loop", "waiting", 4 + 8);
}
END_TEST

START_TEST(child_suspends_before_create_returns) {
  begin();
  token p, c, t, w, r;
  enter(&loop, &p);
  create(&spawn, &c, &body, &address_of_body);
  enter_as(&body, &t, &address_of_body);
  pass(4);
  suspend(&nap, &w);
  created(&c, KEY, 1);
  pass(16);
  leave(&p);
  run(&call, &r, KEY, NULL);
  resume(&w);
  pass(2);
  leave(&t);
  ran(&r, APROF_DONE);
  expect("loop", "exec", 16);
  expect("loop > body", "exec", 6);
  expect("loop > body @ nap", "waiting", 16);
  expect("body", "done", 1);
  expect("body", "created", 1);
}
END_TEST

/* A body whose address is another's does not adopt. */
START_TEST(other_body_in_a_create_bracket) {
  begin();
  token c, t;
  create(&spawn, &c, &body, &address_of_body);
  enter_as(&loop, &t, &address_of_other);
  pass(4);
  leave(&t);
  created(&c, KEY, 1);
  expect("loop", "done", 2);
  expect("body", "live", 1);
  expect("body", "exec", 0);
}
END_TEST

START_TEST(nameless_takes_the_name_of_its_body) {
  begin();
  token c, r, t;
  create(&spawn, &c, NULL, NULL);
  created(&c, KEY, 1);
  expect("spawn", "live", 1);
  run(&call, &r, KEY, &on_done);
  pass(3);
  ran(&r, APROF_DONE);
  expect("on_done", "done", 1);
  expect("on_done", "exec", 3);
  expect("spawn", "created", 0);
  create(&spawn, &c, NULL, NULL);
  enter(&body, &t);
  leave(&t);
  created(&c, KEY, 1);
  expect("body", "done", 1);
  expect("spawn", "created", 0);
}
END_TEST

/* What was being created never was, where a jump leaves its call: no body that comes later is its,
   and nobody waits for it. */
START_TEST(jump_out_of_a_create) {
  begin();
  token cells[6], *here = &cells[5], *inside = &cells[4], *another = &cells[3], r, t;
  for (int nested = 0; nested < 2; nested++) {
    gate.here(here);
    gate.resync(here);
    create(&root, inside, NULL, NULL);
    if (nested)
      create(&spawn, another, NULL, NULL);
    pass(5);
    gate.resync(here);
    expect("requests (other)", "live", 0);
    new_future(&spawn, &on_done, KEY);
    run(&call, &r, KEY, &on_done);
    enter(&body, &t);
    pass(3);
    leave(&t);
    ran(&r, APROF_DONE);
  }
  expect("on_done", "done", 2);
  expect("on_done > body", "done", 2);
  expect("on_done > body", "exec", 6);
  expect("spawn", "created", 0);
  expect("root", "created", 0);
}
END_TEST

/* One of the bracket's own frame, too; not of one around it, nor on another stack. */
START_TEST(jump_inside_a_create) {
  begin();
  token cells[8], *frame = &cells[7], *around = &cells[6], *here = &cells[4], *inside = &cells[5],
                  t;
  static token other[1];
  for (int stack = 0; stack < 2; stack++) {
    token *c = stack ? other : around;
    enter(&loop, frame);
    if (!stack)
      create(&spawn, c, NULL, NULL);
    gate.here(here);
    gate.resync(here);
    create(&once, inside, NULL, NULL);
    gate.resync(here);
    if (stack)
      create(&spawn, c, NULL, NULL);
    gate.resync(here);
    enter(&body, &t);
    leave(&t);
    created(c, KEY, 1);
    leave(frame);
  }
  expect("loop > body", "done", 2);
  expect("loop", "done", 3);
  expect("loop > spawn", "created", 0);

  enter(&loop, frame);
  create(&spawn, inside, NULL, NULL);
  gate.resync(frame);
  enter(&body, &t);
  leave(&t);
  expect("loop > body", "done", 3);
  expect("loop > body", "live", 0);
  expect("loop", "exec", 0);
  leave(frame);
  expect("loop", "done", 4);
}
END_TEST

/* -- keys used again ---------------------------------------------------------- */

START_TEST(reused_key_cancels_the_old_one) {
  begin();
  new_future(&once, &on_done, KEY);
  pass(10);
  new_future(&once, &on_other, KEY);
  pass(5);
  expect("on_done", "cancelled", 1);
  expect("on_done", "wall", 10);
  expect("on_other", "live", 1);
  expect("on_other", "wall", 5);
  expect("health", "reused", 1);
}
END_TEST

/* Its request is used again by the callback itself, before it returns. */
START_TEST(reused_in_its_own_callback) {
  begin();
  token r;
  new_future(&once, &on_done, KEY);
  pass(10);
  run(&call, &r, KEY, &on_done);
  pass(1);
  new_future(&once, &on_done, KEY);
  pass(2);
  ran(&r, APROF_DONE);
  expect("on_done", "done", 1);
  expect("on_done", "live", 1);
  expect("on_done", "cancelled", 0);
  expect("health", "reused", 0);
  pass(100);
  run(&call, &r, KEY, &on_done);
  ran(&r, APROF_DONE);
  expect("on_done", "done", 2);
  expect("on_done > on_done", "created", 0);
  expect("on_done @ once", "waiting", 10 + 2 + 100);
}
END_TEST

START_TEST(suspended_coroutine_whose_address_is_reused) {
  begin();
  token r, t, u, w;
  new_future(&spawn, &body, KEY);
  run(&call, &r, KEY, NULL);
  enter(&body, &t);
  enter(&loop, &u); /* an async call on its stack */
  suspend(&nap, &w);
  ran(&r, APROF_PENDING);
  pass(10);
  new_future(&spawn, &on_done, KEY); /* destroyed without a word */
  expect("body", "cancelled", 1);
  expect("body", "live", 0);
  expect("body > loop", "cancelled", 1);
  expect("health", "reused", 1);
}
END_TEST

START_TEST(rearmed_timer_goes_on) {
  begin();
  token r;
  new_future(&rearm, &on_done, KEY);
  pass(10);
  new_future(&rearm, &on_done, KEY);
  pass(10);
  run(&call, &r, KEY, &on_done);
  new_future(&rearm, &on_done, KEY); /* in its own callback: it is not over */
  pass(1);
  ran(&r, APROF_DONE);
  expect("on_done", "created", 1);
  expect("on_done", "live", 1);
  pass(10);
  run(&call, &r, KEY, &on_done);
  ran(&r, APROF_DONE);
  expect("on_done", "done", 1);
  expect("on_done @ rearm", "waiting", 30);
  expect("on_done @ rearm", "count", 2);
  expect("health", "reused", 0);
}
END_TEST

static void arm_due(uint64_t key, uint64_t in) {
  token t;
  create(&rearm, &t, &on_done, NULL);
  gate.due(&t, in);
  created(&t, key, 1);
}

/* Armed anew while it runs, as most periodic timers are: late from that moment on. */
START_TEST(rearmed_in_its_own_callback_is_due) {
  begin();
  token r;
  arm_due(KEY, 10);
  for (unsigned i = 0; i < 3; i++) {
    pass(10);
    pass(5); /* late */
    run(&call, &r, KEY, &on_done);
    pass(1);
    arm_due(KEY, 10);
    pass(2); /* of its wait it runs still */
    ran(&r, APROF_DONE);
  }
  expect("on_done", "created", 1);
  expect("on_done", "exec", 9);
  expect("on_done", "queued", 5 + 7 + 7);
  expect("on_done @ rearm", "waiting", 10 + 8 + 8);
}
END_TEST

/* It was late until then, and that shows: nothing that was queued turns into waiting again. */
START_TEST(overdue_and_armed_again) {
  begin();
  token r;
  arm_due(KEY, 10);
  pass(10 + 495);
  expect("on_done", "queued", 495);
  arm_due(KEY, 10);
  expect("on_done", "queued", 495);
  pass(10 + 5);
  expect("on_done", "queued", 500);
  arm_due(KEY, 0); /* late all the same */
  pass(1);
  new_future(&rearm, &on_done, KEY); /* at no time any more */
  pass(100);
  expect("on_done", "queued", 501);
  run(&call, &r, KEY, &on_done);
  ran(&r, APROF_DONE);
  expect("on_done", "created", 1);
  expect("on_done", "queued", 501);
  expect("on_done @ rearm", "waiting", 10 + 10 + 100);
  expect("on_done @ rearm", "count", 3);
}
END_TEST

/* Until the call has armed it anew it was not due: what it waited stays what it was. */
START_TEST(armed_again_by_a_slow_call) {
  begin();
  token c, r;
  new_future(&rearm, &on_done, KEY);
  pass(10);
  create(&rearm, &c, &on_done, NULL);
  gate.due(&c, 5);
  pass(20);
  created(&c, KEY, 1);
  expect("on_done", "queued", 0);
  pass(7);
  run(&call, &r, KEY, &on_done);
  ran(&r, APROF_DONE);
  expect("on_done", "queued", 7);
  expect("on_done @ rearm", "waiting", 30);
}
END_TEST

/* What somebody has woken need not wait for the clock. */
START_TEST(woken_and_armed_again) {
  begin();
  token r;
  arm_due(KEY, 100);
  wake(&waker, KEY);
  pass(5);
  arm_due(KEY, 100);
  pass(5);
  run(&call, &r, KEY, &on_done);
  wake(&waker, KEY);
  arm_due(KEY, 100);
  ran(&r, APROF_DONE);
  pass(5);
  expect("on_done", "queued", 15);
  expect("on_done", "waiting", 0);
}
END_TEST

START_TEST(due_at_once) {
  begin();
  token r;
  arm_due(KEY, 0);
  pass(5);
  expect("on_done", "queued", 5);
  run(&call, &r, KEY, &on_done);
  ran(&r, APROF_DONE);
  expect("on_done", "queued", 5);
  expect("on_done", "waiting", 0);
  expect("on_done @ rearm", "count", 1);
}
END_TEST

/* What else it waits for in that callback has no due time; nor has it once it is armed without. */
START_TEST(rearmed_before_another_await) {
  begin();
  token r, w;
  arm_due(KEY, 10);
  pass(10);
  run(&call, &r, KEY, &on_done);
  arm_due(KEY, 10);
  suspend(&nap, &w);
  pass(50);
  resume(&w);
  ran(&r, APROF_DONE);
  expect("on_done @ nap", "waiting", 50);
  expect("on_done", "queued", 0);
  pass(5);
  run(&call, &r, KEY, &on_done); /* it was due in that wait */
  new_future(&rearm, &on_done, KEY);
  ran(&r, APROF_DONE);
  expect("on_done", "queued", 5);
  pass(100);
  run(&call, &r, KEY, &on_done);
  ran(&r, APROF_DONE);
  expect("on_done", "queued", 5);
  expect("on_done", "created", 1);
}
END_TEST

/* Made again by its own callback, for a thread that may begin before the call returns. */
START_TEST(made_again_in_its_own_callback) {
  begin();
  token r, c, s;
  new_future(&once, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  pass(1);
  create(&once, &c, &on_done, NULL);
  gate.create_key(&c, KEY, 0);
  run(&call, &s, KEY, &on_done); /* elsewhere, but for here */
  pass(2);
  ran(&s, APROF_DONE);
  created(&c, KEY, 1);
  ran(&r, APROF_DONE);
  expect("on_done", "created", 2);
  expect("on_done", "done", 2);
  expect("health", "missed", 0);
  expect("health", "reused", 0);
}
END_TEST

/* ... and again, before that call returns: the key is the last one's. */
START_TEST(made_again_before_its_own_call_returns) {
  begin();
  token s, c, w;
  create(&once, &c, &on_done, NULL);
  gate.create_key(&c, KEY, 0);
  run(&call, &s, KEY, &on_done); /* elsewhere, but for here */
  new_future(&once, &on_done, KEY);
  suspend(&nap, &w);
  created(&c, KEY, 1);
  expect("on_done", "cancelled", 0);
  expect("health", "reused", 0);
  resume(&w);
  ran(&s, APROF_DONE);
  run(&call, &s, KEY, &on_done);
  ran(&s, APROF_DONE);
  expect("on_done", "created", 2);
  expect("on_done", "done", 2);
  expect("health", "missed", 0);
}
END_TEST

/* The call failed: the old one has its key again, and goes on by it. */
START_TEST(not_made_again_after_all) {
  begin();
  token r, c;
  new_future(&multi, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  create(&multi, &c, &on_done, NULL);
  gate.create_key(&c, KEY, 0);
  created(&c, KEY, 0);
  ran(&r, APROF_PENDING);
  pass(5);
  run(&call, &r, KEY, &on_done);
  pass(1);
  ran(&r, APROF_DONE);
  expect("on_done", "created", 1);
  expect("on_done", "done", 1);
  expect("on_done", "exec", 1);
  expect("health", "missed", 0);
}
END_TEST

/* A field knows the function by its address only, and may come first. */
START_TEST(rearmed_by_name_and_by_address) {
  begin();
  token c;
  const char *one = "a function", *other = "another";
  create(&rearm, &c, &on_done, one);
  created(&c, KEY, 1);
  create(&rearm, &c, NULL, one);
  created(&c, KEY, 1);
  expect("on_done", "created", 1);
  create(&rearm, &c, NULL, other);
  created(&c, KEY, 1);
  expect("on_done", "cancelled", 1);
  create(&rearm, &c, &on_other, other);
  created(&c, KEY, 1);
  expect("on_other", "created", 1);
  expect("on_other", "live", 1);
}
END_TEST

START_TEST(rearmed_for_another_function_is_another) {
  begin();
  new_future(&rearm, &on_done, KEY);
  new_future(&rearm, &on_other, KEY);
  expect("on_done", "cancelled", 1);
  expect("on_other", "live", 1);
  expect("health", "reused", 0); /* who arms anew expects one there */
}
END_TEST

/* -- run --------------------------------------------------------------------- */

START_TEST(multi_waits_between_its_runs) {
  begin();
  token r;
  new_future(&multi, &on_done, KEY);
  for (unsigned i = 0; i < 3; i++) {
    pass(10);
    run(&call, &r, KEY, &on_done);
    pass(1);
    ran(&r, APROF_PENDING);
  }
  expect("on_done", "created", 1);
  expect("on_done", "exec", 3);
  expect("on_done @ multi", "waiting", 30);
  expect("on_done @ multi", "count", 3);
  expect("on_done", "slices", 3);
}
END_TEST

/* Two callbacks of one type on one object: each body looks for both keys. */
START_TEST(run_of_another_function) {
  begin();
  token r, s;
  new_future(&multi, &on_done, KEY);
  new_future(&once_other, &on_other, KEY);
  run(&own, &r, KEY, &on_other); /* on_done's future */
  ck_assert_uint_eq(r.word[0], 0);
  run(&own_other, &s, KEY, &on_other);
  pass(3);
  ran(&s, APROF_DONE);
  ran(&r, APROF_PENDING);
  run(&own, &r, KEY, &on_done);
  pass(2);
  ran(&r, APROF_PENDING);
  expect("on_other", "slices", 1);
  expect("on_other", "exec", 3);
  expect("on_done", "slices", 1);
  expect("on_done", "exec", 2);
  expect("health", "missed", 0);
}
END_TEST

START_TEST(unknown_keys) {
  begin();
  token r;
  run(&call, &r, KEY, &on_done);
  ck_assert_uint_eq(r.word[0], 0);
  run(&quiet, &r, KEY, &on_done);
  ck_assert_uint_eq(r.word[0], 0);
  expect("health", "missed", 1);
  expect("on_done", "created", 0);
  run(&orphan, &r, KEY, &machine);
  ck_assert_uint_ne(r.word[0], 0);
  ran(&r, APROF_DONE);
  expect("machine", "done", 1);
}
END_TEST

START_TEST(run_inside_itself) {
  begin();
  token r, q;
  new_future(&multi, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  pass(1);
  run(&call, &q, KEY, &on_done);
  pass(2);
  ran(&q, APROF_DONE);
  pass(4);
  ran(&r, APROF_PENDING);
  expect("on_done", "exec", 7);
  expect("on_done", "live", 1);
  expect("on_done", "slices", 1);
}
END_TEST

START_TEST(run_puts_the_running_one_aside) {
  begin();
  token t, r;
  new_future(&multi, &on_done, KEY);
  enter(&body, &t);
  pass(1);
  call_from(&poll_it);
  run(&call, &r, KEY, &on_done);
  pass(2);
  ran(&r, APROF_PENDING);
  pass(4);
  leave(&t);
  expect("body", "exec", 5);
  expect("body @ poll_it", "immediate", 1);
  expect("on_done", "exec", 2);
  expect("body", "slice_max", 7);
  expect("on_done", "slices", 0);
}
END_TEST

START_TEST(frame_waits_at_its_return) {
  begin();
  token r;
  for (unsigned i = 0; i < 3; i++) {
    run(&orphan, &r, KEY, &machine);
    pass(1);
    ran_at(&r, i < 2 ? APROF_PENDING : APROF_DONE, &not_yet);
    pass(10);
  }
  expect("machine", "created", 1);
  expect("machine", "exec", 3);
  expect("machine @ not_yet", "waiting", 20);
  expect("machine @ not_yet", "count", 2);
}
END_TEST

/* The parent's wait belongs to the call of the child it polled last, but only if
   nothing ran in between. */
START_TEST(wait_of_a_poller) {
  begin();
  token r, s, t;
  run(&orphan, &r, KEY, &machine);
  call_from(&poll_it);
  run(&orphan, &s, KEY + 8, &submachine);
  ran_at(&s, APROF_PENDING, &not_yet);
  ran_at(&r, APROF_PENDING, &not_yet);
  pass(10);
  run(&orphan, &r, KEY, &machine);
  call_from(&poll_it);
  run(&orphan, &s, KEY + 8, &submachine);
  ran_at(&s, APROF_PENDING, &not_yet);
  enter(&body, &t);
  leave(&t);
  ran_at(&r, APROF_PENDING, &not_yet);
  pass(100);
  expect("machine @ poll_it", "waiting", 10);
  expect("machine @ not_yet", "waiting", 100);
}
END_TEST

/* A timer's callback moves another future on: what it waits for next is the timer, whatever kind
   the other one is. */
START_TEST(wait_of_a_callback_that_runs_another) {
  begin();
  token r, s;
  struct aprof_site *const places[] = {NULL, &not_yet};
  new_future(&multi, &on_done, KEY);
  for (unsigned i = 0; i < 4; i++) {
    pass(10);
    run(&call, &r, KEY, &on_done);
    pass(1);
    call_from(&poll_it);
    run(&orphan, &s, KEY + 8, &submachine);
    pass(1);
    ran_at(&s, APROF_PENDING, places[i % 2]);
    ran(&r, APROF_PENDING);
  }
  pass(10);
  expect("on_done @ multi", "waiting", 50);
  expect("on_done @ multi", "count", 4);
  expect("on_done @ poll_it", "waiting", 4);
  expect("on_done @ poll_it", "count", 4);
}
END_TEST

/* So does one that is stackless itself, where the other is not. */
START_TEST(wait_of_a_frame_that_runs_another) {
  begin();
  token r, s;
  run(&orphan, &r, KEY, &machine);
  call_from(&poll_it);
  run(&orphan, &s, KEY + 8, &on_other);
  ran(&s, APROF_PENDING);
  ran_at(&r, APROF_PENDING, &not_yet);
  pass(10);
  expect("machine @ not_yet", "waiting", 10);
  expect("machine @ poll_it", "waiting", 0);
}
END_TEST

/* A generator that a run resumes yields: the slice behind it is still that of the outermost future
   on the stack, whether what lies above has a key or not; and so is one behind an await. */
START_TEST(slices_are_of_the_outermost) {
  begin();
  token b, p, g, w, v;
  run(&orphan, &g, KEY + 16, &submachine);
  ran(&g, APROF_PENDING);
  enter(&body, &b);
  run(&orphan, &p, KEY, &machine);
  run(&orphan, &g, KEY + 16, &submachine);
  suspend(&nap, &w);
  ran(&g, APROF_PENDING);
  pass(7);
  suspend(&nap, &v);
  resume(&v);
  pass(5);
  ran(&p, APROF_PENDING);
  leave(&b);
  expect("body", "slices", 3);
  expect("body", "slice_max", 7);
  expect("machine", "slices", 0);
  expect("body > machine", "slices", 0);
  run(&orphan, &p, KEY, &machine); /* by the loop: its own */
  pass(3);
  suspend(&nap, &v);
  resume(&v);
  ran(&p, APROF_DONE);
  expect("body > machine", "slices", 2);
}
END_TEST

/* A generator runs another one, which waits; then somebody else runs it: the slices of what lies
   below that one are that one's, too. */
START_TEST(slices_of_what_is_run_by_another) {
  begin();
  token b, p, c, g, v, w;
  for (int i = 0; i < 2 * (int)APROF_FEW; i++) {
    run(&orphan, &p, KEY, &machine);
    enter(&loop, &c);
    run(&orphan, &g, KEY + 16, &submachine);
    suspend(&nap, &w);
    ran(&p, APROF_PENDING);
    pass(1);
    enter(&body, &b);
    run(&orphan, &p, KEY, &machine);
    resume(&w);
    ran(&g, APROF_DONE);
    pass(5);
    suspend(&nap, &v);
    pass(1);
    resume(&v);
    pass(5);
    leave(&c);
    ran(&p, APROF_DONE);
    leave(&b);
  }
  expect("body", "slices", 4 * APROF_FEW);
  expect("machine", "slices", 2 * APROF_FEW);
}
END_TEST

/* -- wake, end, idle --------------------------------------------------------- */

START_TEST(wake_turns_waiting_into_queued) {
  begin();
  token r;
  new_future(&once, &on_done, KEY);
  pass(10);
  wake(&waker, KEY);
  pass(5);
  wake(&waker, KEY); /* of one that is queued: nothing */
  pass(5);
  expect("on_done", "queued", 10);
  expect("on_done", "waiting", 10);
  run(&call, &r, KEY, &on_done);
  wake(&waker, KEY); /* of one that runs, and does not wait any more: nothing */
  pass(1);
  ran(&r, APROF_DONE);
  expect("on_done", "queued", 10);
  expect("on_done @ once", "waiting", 10);
  expect("on_done @ once", "count", 1);
  wake(&waker, KEY); /* of nobody: nothing */
  expect("health", "missed", 0);
}
END_TEST

/* request_wake(r); return AGAIN: it is runnable from the moment it stops. */
START_TEST(wake_of_one_that_runs) {
  begin();
  token r;
  new_future(&multi, &on_done, KEY);
  for (unsigned i = 0; i < 3; i++) {
    run(&call, &r, KEY, &on_done);
    pass(1);
    wake(&waker, KEY);
    pass(2);
    ran(&r, APROF_PENDING);
    pass(10);
  }
  expect("on_done", "exec", 9);
  expect("on_done", "queued", 30);
  expect("on_done", "waiting", 0);
  run(&call, &r, KEY, &on_done);
  ran(&r, APROF_PENDING);
  pass(5); /* the next wait is one again */
  expect("on_done", "queued", 30);
  expect("on_done", "waiting", 5);
}
END_TEST

/* A callback that is resuming a coroutine is woken again: it will be called again, which says
   nothing about the coroutine. */
START_TEST(wake_of_one_that_resumes_another) {
  begin();
  token b, r, w;
  new_future(&multi, &on_done, KEY);
  run(&call, &b, KEY, &on_done);
  run(&orphan, &r, KEY + 8, &machine);
  wake(&waker, KEY);
  suspend(&nap, &w);
  pass(5);
  ran(&r, APROF_PENDING);
  ran(&b, APROF_PENDING);
  pass(10);
  expect("machine", "queued", 0);
  expect("machine", "waiting", 15);
  expect("on_done", "queued", 10);
  expect("on_done @ machine", "waiting", 5);
  wake(&waker, KEY); /* once is enough */
  run(&call, &b, KEY, &on_done);
  ran(&b, APROF_PENDING);
  pass(7); /* the next wait is one again */
  expect("on_done", "queued", 10);
}
END_TEST

/* pool_get (r, got) may call got at once, which wakes r: what follows is no wait. */
START_TEST(wake_of_one_put_aside) {
  begin();
  token r, g;
  new_future(&multi, &on_done, KEY);
  for (unsigned i = 0; i < 3; i++) {
    run(&call, &r, KEY, &on_done);
    new_future(&once_other, &on_other, KEY);
    run(&own_other, &g, KEY, &on_other);
    wake(&waker, KEY);
    pass(1);
    ran(&g, APROF_DONE);
    pass(1);
    ran(&r, APROF_PENDING);
    pass(100);
  }
  run(&call, &r, KEY, &on_done);
  ran(&r, APROF_PENDING);
  pass(5);
  expect("on_done", "queued", 300);
  expect("on_done @ multi", "waiting", 5);
  expect("on_done @ multi", "count", 4);
  expect("on_done @ on_other", "waiting", 3);
}
END_TEST

/* A wake is for whatever waits next on the stack that the key means, in bodies that were called
   before and after. */
START_TEST(wake_goes_with_the_stack) {
  begin();
  token r, t, w;
  new_future(&multi, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  wake(&waker, KEY);
  enter(&body, &t);
  leave(&t);
  ran(&r, APROF_PENDING);
  pass(10);
  expect("on_done", "queued", 10);
  run(&call, &r, KEY, &on_done);
  enter(&body, &t);
  wake(&waker, KEY);
  leave(&t);
  ran(&r, APROF_PENDING);
  pass(10);
  expect("on_done", "queued", 20);
  run(&call, &r, KEY, &on_done);
  wake(&waker, KEY);
  enter(&body, &t);
  suspend(&nap, &w);
  pass(10);
  resume(&w);
  leave(&t);
  ran(&r, APROF_PENDING);
  pass(10);
  expect("on_done", "queued", 20);
  expect("on_done > body", "queued", 10);
  expect("on_done > body @ nap", "waiting", 0);
}
END_TEST

/* The loop knows the coroutine; what waits on its stack is a body that it called. */
START_TEST(wake_reaches_the_innermost_of_a_stack) {
  begin();
  token c, r, b, inner, n;
  create(&spawn, &c, &body, NULL);
  created(&c, KEY, 1);
  run(&call, &r, KEY, NULL);
  enter(&body, &b);
  enter(&machine, &inner);
  suspend(&nap, &n);
  ran(&r, APROF_PENDING);
  pass(10);
  wake(&waker, KEY);
  pass(7);
  run(&call, &r, KEY, NULL);
  resume(&n);
  expect("machine", "queued", 7);
  expect("machine @ nap", "waiting", 10);
  expect("body", "queued", 0);
  leave(&inner);
  leave(&b);
  ran(&r, APROF_DONE);
  expect("body @ machine", "waiting", 17);
  expect("health", "missed", 0);
}
END_TEST

START_TEST(wake_and_end_of_any_namespace) {
  begin();
  new_future(&once, &on_done, KEY);
  new_future(&once_other, &on_other, KEY);
  new_future(&once_other, &on_other, KEY + 8);
  wake(&wake_any, KEY);
  pass(10);
  expect("on_done", "queued", 10);
  expect("on_other", "queued", 10);
  end(&end_any, KEY, APROF_CANCELLED);
  expect("on_done", "cancelled", 1);
  expect("on_other", "cancelled", 1);
  expect("on_other", "live", 1);
}
END_TEST

START_TEST(end_of_one_that_runs) {
  begin();
  token r;
  new_future(&multi, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  pass(1);
  end(&ender, KEY, APROF_CANCELLED); /* closed in its own callback */
  pass(2);
  new_future(&multi, &on_other, KEY); /* its key is free at once */
  expect("health", "reused", 0);
  ran(&r, APROF_PENDING);
  expect("on_done", "cancelled", 1);
  expect("on_done", "exec", 3);
  expect("on_other", "live", 1);
}
END_TEST

START_TEST(end_of_one_put_aside) {
  begin();
  token r, t;
  new_future(&multi, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  enter(&body, &t);
  pass(2);
  end(&ender, KEY, APROF_CANCELLED);
  expect("on_done", "live", 1);
  leave(&t);
  ran(&r, APROF_PENDING);
  expect("on_done", "cancelled", 1);
  expect("on_done > body", "done", 1);
}
END_TEST

START_TEST(idle_time) {
  begin();
  token i, t;
  idle(&poller, &i);
  pass(10);
  idled(&i);
  pass(1);
  enter(&body, &t);
  pass(2);
  idle(&poller, &i); /* a nested loop */
  pass(20);
  idled(&i);
  pass(4);
  leave(&t);
  expect("body", "exec", 6);
  expect("body @ poller", "waiting", 20);
  expect("body @ poller", "immediate", 0);
  expect("body", "slices", 2);
  struct rows rows = {0};
  reader_rows(profile(), profile()->virtual_now, &rows);
  char name[32];
  snprintf(name, sizeof name, "thread %d", (int)getpid());
  ck_assert_uint_eq(rows_get(&rows, name, "idle"), 30);
  ck_assert_uint_eq(rows_get(&rows, name, "exec"), 6);
  ck_assert_uint_eq(rows_get(&rows, name, "other"), 1);
  rows_free(&rows);
}
END_TEST

/* Callbacks that the poller itself calls. */
START_TEST(callback_inside_the_poller) {
  begin();
  token i, r;
  new_future(&once, &on_done, KEY);
  idle(&poller, &i);
  pass(10);
  run(&call, &r, KEY, &on_done);
  pass(5);
  ran(&r, APROF_DONE);
  pass(10);
  idled(&i);
  expect("on_done", "exec", 5);
  struct rows rows = {0};
  reader_rows(profile(), profile()->virtual_now, &rows);
  char name[32];
  snprintf(name, sizeof name, "thread %d", (int)getpid());
  ck_assert_uint_eq(rows_get(&rows, name, "idle"), 20);
  rows_free(&rows);
}
END_TEST

UNIT_TRACED_MAIN(
    "brackets", once_waits_at_its_create, what_another_thread_took_is_counted_by_that_one,
    what_another_thread_is_about_to_take_stays, spawn_is_queued, create_that_failed_never_was,
    root_create_is_a_task, child_runs_before_create_returns, child_suspends_before_create_returns,
    other_body_in_a_create_bracket, nameless_takes_the_name_of_its_body, jump_out_of_a_create,
    jump_inside_a_create, reused_key_cancels_the_old_one, reused_in_its_own_callback,
    suspended_coroutine_whose_address_is_reused, rearmed_timer_goes_on,
    rearmed_in_its_own_callback_is_due, overdue_and_armed_again, armed_again_by_a_slow_call,
    woken_and_armed_again, due_at_once, rearmed_before_another_await,
    made_again_in_its_own_callback, made_again_before_its_own_call_returns,
    not_made_again_after_all, rearmed_by_name_and_by_address,
    rearmed_for_another_function_is_another, multi_waits_between_its_runs, run_of_another_function,
    unknown_keys, run_inside_itself, run_puts_the_running_one_aside, frame_waits_at_its_return,
    wait_of_a_poller, wait_of_a_callback_that_runs_another, wait_of_a_frame_that_runs_another,
    slices_are_of_the_outermost, slices_of_what_is_run_by_another, wake_turns_waiting_into_queued,
    wake_of_one_that_runs, wake_of_one_that_resumes_another, wake_of_one_put_aside,
    wake_goes_with_the_stack, wake_reaches_the_innermost_of_a_stack, wake_and_end_of_any_namespace,
    end_of_one_that_runs, end_of_one_put_aside, idle_time, callback_inside_the_poller)
