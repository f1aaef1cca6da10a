/* SPDX-License-Identifier: MIT */
/*
 * Fast events of runs that close in a rare way (rt/event/fast-close.c): what it runs fails, was
 * stopped or armed again meanwhile, has made its successor, is one of equal ones or a worker's, or
 * waits elsewhere than the last time. Of parts of requests test_fast_member.c tells.
 */
#include "rt/event/end.h"

#include "rounds.h"

RETURN_SITE(nor_yet);
FUNCTION_SITE(child);
CALLBACK_SITE(on_done);
CALLBACK_SITE(on_step);
RETURN_SITE(not_yet);
CREATE_SITE(once, APROF_ONCE, NS);
CREATE_SITE(task, APROF_READY, NS);
RUN_SITE(call, 0, NS);
CREATE_SITE(timer, APROF_MULTI, NS);
WAKE_SITE(ring, NS);
END_SITE(stop, NS);

/* What a round does, with nobody below, then while another future runs it. */
static void each_way(void (*one)(void)) {
  token o;
  one();
  new_future(&task, &on_step, OTHER);
  run(&call, &o, OTHER, &on_step);
  pass(1);
  one();
  pass(1);
  ran(&o, APROF_DONE);
}

static void begins(struct aprof_site *site, token *r) {
  new_future(site, &on_done, KEY);
  pass(2);
  run(&call, r, KEY, &on_done);
  pass(3);
}

/* -- how it ends --------------------------------------------------------------------------- */

static void failing(void) {
  token r;
  begins(&once, &r);
  closes(&r, APROF_FAILED);
  begins(&task, &r);
  closes_at(&r, APROF_CANCELLED, &not_yet);
}

static void failing_each_way(void) {
  each_way(failing);
}

START_TEST(ones_that_fail) {
  in_rounds(failing_each_way);
  expect("on_done", "failed", 2 * ROUNDS);
  expect("on_done", "cancelled", 2 * ROUNDS);
  expect("on_done", "exec", 4 * 3 * ROUNDS);
  expect("on_done", "slices", 2 * ROUNDS);
  expect("on_step @ on_done", "immediate", 2 * ROUNDS);
  expect("on_step", "exec", 2 * ROUNDS + 2 * 2 * ROUNDS);
  expect("health", "reused", 0);
}
END_TEST

/* It has waited inside its run, so its caller has waited for more than a call. */
static void failing_late(void) {
  token o, r, a;
  new_future(&task, &on_step, OTHER);
  run(&call, &o, OTHER, &on_step);
  begins(&once, &r);
  suspend(&nap, &a);
  pass(5);
  resume(&a);
  pass(1);
  closes(&r, APROF_FAILED);
  pass(1);
  ran(&o, APROF_DONE);
}

START_TEST(ones_that_fail_late) {
  rounds_of(failing_late, FAST_CLOSES);
  expect("on_done", "failed", ROUNDS);
  expect("on_done", "exec", 4 * ROUNDS);
  expect("on_step @ on_done", "count", ROUNDS);
  expect("on_step @ on_done", "immediate", 0);
  expect("on_step @ on_done", "waiting", (3 + 5 + 1) * ROUNDS);
}
END_TEST

/* A slice, and a wait of who runs it, that is longer than all before: the general event looks at
   that. */
static void failing_longer(void) {
  static uint64_t length;
  token r, a, o;
  length += 100;
  new_future(&once, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  pass(length);
  closes(&r, APROF_FAILED);
  new_future(&task, &on_step, OTHER);
  run(&call, &o, OTHER, &on_step);
  new_future(&once, &on_done, KEY);
  pass(100000);
  run_whole(&call, KEY, &on_done, 0); /* no life is longer */
  new_future(&once, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  suspend(&nap, &a);
  pass(2 * length);
  resume(&a);
  closes(&r, APROF_FAILED);
  ran(&o, APROF_DONE);
}

START_TEST(ones_that_last_longer) {
  rounds_of(failing_longer, GENERAL_ALIKE);
  expect("on_done", "slice_max", 100 * ROUNDS);
  expect("on_done", "wall_max", 100000);
  expect("on_step @ on_done", "max", 200 * ROUNDS);
}
END_TEST

/* Its return is told by a line that no event has named before. */
START_TEST(one_that_fails_at_a_new_place) {
  static struct aprof_site places[ROUNDS];
  token r;
  attach();
  for (unsigned i = 0; i < ROUNDS; i++) {
    places[i] = another(&not_yet);
    begins(&once, &r);
    ran_at(&r, APROF_FAILED, &places[i]);
    ck_assert(site_known(&places[i]));
  }
}
END_TEST

/* The processor's clock is behind the one that it ran on before. */
static void failing_early(void) {
  token r, c;
  begins(&once, &r);
  enter(&child, &c);
  leave(&c);
  header()->virtual_now -= 2;
  closes(&r, APROF_FAILED);
  header()->virtual_now += 2;
  pass(5);
}

START_TEST(ones_whose_time_goes_back) {
  rounds_of(failing_early, GENERAL_ALIKE);
  expect("on_done", "failed", ROUNDS);
  expect("on_done", "exec", 3 * ROUNDS);
}
END_TEST

/* More than a thread keeps records for. */
static void failing_often(void) {
  enum { MANY = 300 };
  token r;
  for (uint64_t i = 0; i < MANY; i++)
    new_future(&once, &on_done, KEY + 16 * i);
  for (uint64_t i = 0; i < MANY; i++) {
    run(&call, &r, KEY + 16 * i, &on_done);
    pass(1);
    ran(&r, APROF_FAILED);
  }
}

START_TEST(ones_that_fail_often) {
  rounds_of(failing_often, GENERAL_ALIKE);
  expect("on_done", "failed", 300 * ROUNDS);
}
END_TEST

/* The bracket closes once more when its record is another's, who runs. */
static void closing_twice(void) {
  token first, r;
  begins(&once, &first);
  token again = first;
  ran(&first, APROF_FAILED);
  begins(&once, &r);
  ck_assert_uint_eq(r.word[1] & UINT32_MAX, again.word[1] & UINT32_MAX);
  ran(&again, APROF_FAILED);
  alike_here();
  pass(1);
  ran(&r, APROF_DONE);
}

static void closing_twice_each_way(void) {
  each_way(closing_twice);
}

START_TEST(ones_that_close_twice) {
  rounds_of(closing_twice_each_way, GENERAL_ALIKE);
  expect("on_done", "failed", 2 * ROUNDS);
  expect("on_done", "done", 2 * ROUNDS);
  expect("on_done", "exec", 2 * (3 + 4) * ROUNDS);
}
END_TEST

static uint32_t lease_of_pool;

static void tells_its_lease(void) {
  token t;
  enter(&body, &t);
  leave(&t);
  lease_of_pool = aprof_self->lease;
}

/* Another thread runs it meanwhile, as a program does that orders nothing. */
static void losing_it(void) {
  static uint64_t key = KEY;
  token r;
  key += 16;
  on_pool(tells_its_lease);
  begins(&once, &r);
  ran(&r, APROF_FAILED);
  new_future(&once, &on_done, key);
  run(&call, &r, key, &on_done);
  pass(3);
  __atomic_store_n(&((struct aprof_future *)(uintptr_t)r.word[1])->lease, lease_of_pool,
                   __ATOMIC_RELAXED);
  ran(&r, APROF_FAILED);
}

START_TEST(ones_that_are_lost) {
  rounds_of(losing_it, GENERAL_ALIKE);
  expect("on_done", "failed", ROUNDS);
  expect("on_done", "live", ROUNDS);
}
END_TEST

/* -- what was asked meanwhile ---------------------------------------------------------------- */

/* Ended inside their own runs: whatever the bracket says. */
static void stopping(void) {
  static const int hows[] = {APROF_DONE, APROF_FAILED, APROF_CANCELLED};
  token r;
  for (int i = 0; i < 3; i++) {
    begins(&timer, &r);
    end(&stop, KEY, hows[i]);
    alike_here();
    pass(1);
    closes_at(&r, i == 1 ? APROF_DONE : APROF_PENDING, i == 2 ? &not_yet : NULL);
  }
}

static void stopping_each_way(void) {
  each_way(stopping);
}

START_TEST(ones_stopped_inside) {
  in_rounds(stopping_each_way);
  expect("on_done", "done", 2 * ROUNDS);
  expect("on_done", "failed", 2 * ROUNDS);
  expect("on_done", "cancelled", 2 * ROUNDS);
  expect("on_done", "exec", 2 * 3 * 4 * ROUNDS);
  expect("health", "reused", 0);
}
END_TEST

/* A look that found nothing is none in a bracket that does not look. */
static void looking(void) {
  token r;
  begins(&timer, &r);
  closes(&r, APROF_POLLED);
  end(&stop, KEY, APROF_DONE);
}

static void looking_each_way(void) {
  each_way(looking);
}

START_TEST(ones_that_were_not_woken) {
  rounds_of(looking_each_way, GENERAL_ALIKE);
  expect("on_done", "done", 2 * ROUNDS);
  expect("on_done @ timer", "count", 4 * ROUNDS);
}
END_TEST

CREATE_SITE(alarm_site, APROF_MULTI | APROF_REARM, NS);

/* Due after so many ns; 0: at no time. */
static void arms(uint64_t ns) {
  token c;
  create(&alarm_site, &c, &on_done, NULL);
  if (ns != 0)
    gate.due(&c, ns);
  created(&c, KEY, 1);
}

/* Armed again inside its run: it is not over, but due then. */
static void arming(void) {
  token r;
  for (int i = 0; i < 2; i++) {
    begins(&timer, &r);
    arms(10);
    pass(1);
    closes(&r, i == 0 ? APROF_DONE : APROF_PENDING);
    pass(12);
    run(&call, &r, KEY, &on_done);
    arms(10);
    closes(&r, APROF_DONE);
    pass(4);
    run(&call, &r, KEY, &on_done);
    arms(0);
    closes_at(&r, APROF_FAILED, &not_yet);
    pass(7);
    run(&call, &r, KEY, &on_done);
    closes_at(&r, APROF_DONE, &not_yet);
  }
}

static void arming_each_way(void) {
  each_way(arming);
}

START_TEST(ones_armed_inside) {
  rounds_of(arming_each_way, FAST_CLOSES);
  expect("on_done", "done", 4 * ROUNDS);
  expect("on_done", "queued", 4 * 3 * ROUNDS); /* one is due 9 ns after it waits */
  expect("on_done @ timer", "waiting", 4 * (2 + 9 + 4) * ROUNDS);
  expect("on_done @ not_yet", "waiting", 4 * 7 * ROUNDS);
  expect("health", "reused", 0);
}
END_TEST

/* ... and woken before: it goes on at once. Then nothing is left of when it was due. */
static void arming_woken(void) {
  token r;
  begins(&timer, &r);
  wake(&ring, KEY);
  arms(10);
  closes(&r, APROF_DONE);
  pass(5);
  run(&call, &r, KEY, &on_done);
  closes(&r, APROF_PENDING);
  pass(20);
  run(&call, &r, KEY, &on_done);
  closes(&r, APROF_FAILED);
}

static void arming_woken_each_way(void) {
  each_way(arming_woken);
}

START_TEST(ones_armed_and_woken_inside) {
  rounds_of(arming_woken_each_way, FAST_CLOSES);
  expect("on_done", "failed", 2 * ROUNDS);
  expect("on_done", "queued", 2 * 5 * ROUNDS);
  expect("on_done @ timer", "waiting", 2 * (2 + 20) * ROUNDS);
  expect_wakers(2 * ROUNDS, 2 * 5 * ROUNDS);
}
END_TEST

/* ... and stopped behind that: it is over. */
static void arming_and_stopping(void) {
  token r;
  begins(&timer, &r);
  arms(10);
  end(&stop, KEY, APROF_CANCELLED);
  closes(&r, APROF_PENDING);
}

static void arming_and_stopping_each_way(void) {
  each_way(arming_and_stopping);
}

START_TEST(ones_armed_and_stopped_inside) {
  rounds_of(arming_and_stopping_each_way, FAST_CLOSES);
  expect("on_done", "cancelled", 2 * ROUNDS);
}
END_TEST

/* The thread of its create's bracket writes its key meanwhile: it ends behind that, which the
   general event waits for. */
static const volatile uint64_t *general_ones;
static uint64_t general_before;

__attribute__((no_sanitize("thread"))) static void *writes_its_key(void *future) {
  uint8_t ending = ENDING_KEYED;
  while (*general_ones == general_before)
    sched_yield();
  __atomic_compare_exchange_n(&((struct aprof_future *)future)->ending, &ending, 0, false,
                              __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  return NULL;
}

START_TEST(one_whose_key_is_written_meanwhile) {
  token r;
  attach();
  for (int i = 0; i < ROUNDS; i++) {
    begins(&once, &r);
    if (i < ROUNDS - 1)
      ran(&r, APROF_FAILED);
  }
  struct aprof_future *f = (struct aprof_future *)(uintptr_t)r.word[1];
  pthread_t writer;
  general_ones = &aprof_self->block->general_events;
  general_before = *general_ones;
  f->ending = ENDING_KEYED;
  ck_assert_int_eq(pthread_create(&writer, NULL, writes_its_key, f), 0);
  ran(&r, APROF_FAILED);
  expect("on_done", "failed", ROUNDS);
  expect("on_done", "live", 0);
  pthread_join(writer, NULL);
}
END_TEST

/* -- its successor ---------------------------------------------------------------------------- */

/* Each makes its successor of the same key in its own last run. */
static void makes_next(struct aprof_site *site, bool early) {
  token c;
  create(site, &c, &on_done, NULL);
  if (early)
    gate.create_key(&c, KEY, 0);
  created(&c, KEY, 1);
}

static void succeeding(void) {
  token r;
  makes_next(&once, false);
  for (int i = 0; i < 4; i++) {
    pass(2);
    run(&call, &r, KEY, &on_done);
    pass(1);
    makes_next(i & 2 ? &once : &task, i & 1);
    pass(1);
    closes(&r, i == 3 ? APROF_FAILED : APROF_DONE);
  }
  end(&stop, KEY, APROF_CANCELLED);
}

static void succeeding_each_way(void) {
  each_way(succeeding);
}

START_TEST(ones_that_make_their_successors) {
  in_rounds(succeeding_each_way);
  expect("on_done", "done", 2 * 3 * ROUNDS);
  expect("on_done", "failed", 2 * ROUNDS);
  expect("on_done", "cancelled", 2 * ROUNDS);
  expect("on_done", "exec", 2 * 4 * 2 * ROUNDS);
  expect("health", "reused", 0);
}
END_TEST

/* ... and says that it is not over: its key was used again while it lived. */
static void succeeding_too_early(void) {
  token r;
  begins(&timer, &r);
  makes_next(&once, false);
  closes(&r, APROF_PENDING);
  end(&stop, KEY, APROF_DONE);
}

static void succeeding_too_early_each_way(void) {
  each_way(succeeding_too_early);
}

START_TEST(ones_that_make_their_successors_too_early) {
  rounds_of(succeeding_too_early_each_way, GENERAL_ALIKE);
  expect("on_done", "cancelled", 2 * ROUNDS);
  expect("on_done", "done", 2 * ROUNDS);
  expect("health", "reused", 2 * ROUNDS);
}
END_TEST

/* -- equal ones ---------------------------------------------------------------------------------
 */

CREATE_SITE(post, APROF_READY | APROF_TUPLE, NS);
RUN_SITE(take, APROF_TUPLE, NS);
RUN_SITE(work_equal, APROF_TUPLE | APROF_WORKER, NS);

/* What waits can be taken again; none is open behind its run. */
static void equal_closes(void) {
  static const int hows[] = {APROF_DONE, APROF_PENDING, APROF_FAILED, APROF_PENDING,
                             APROF_CANCELLED};
  token r;
  for (int i = 0; i < 3; i++)
    new_equal(&post, &on_done);
  for (int i = 0; i < 5; i++) {
    pass(1);
    run_equal(&take, &r, &on_done);
    pass(2);
    closes_at(&r, hows[i], i == 3 ? &not_yet : NULL);
  }
}

static void equal_closes_each_way(void) {
  each_way(equal_closes);
}

START_TEST(equal_ones) {
  rounds_of(equal_closes_each_way, FAST_CLOSES);
  expect("on_done", "done", 2 * ROUNDS);
  expect("on_done", "failed", 2 * ROUNDS);
  expect("on_done", "cancelled", 2 * ROUNDS);
  expect("on_done", "exec", 2 * 5 * 2 * ROUNDS);
}
END_TEST

/* -- a worker's ---------------------------------------------------------------------------------
 */

RUN_SITE(work_at, APROF_WORKER, NS);

/* It holds no loop, how ever it closes. */
static void working(void) {
  token r;
  new_future(&timer, &on_done, KEY);
  for (int i = 0; i < 5; i++) {
    pass(2);
    run(&work_at, &r, KEY, &on_done);
    pass(i == 0 ? 1000 : 3);
    closes_at(&r, i == 4 ? APROF_DONE : APROF_PENDING, i & 1 ? &not_yet : NULL);
  }
  new_equal(&post, &on_done);
  run_equal(&work_equal, &r, &on_done);
  pass(4);
  closes(&r, APROF_FAILED);
}

START_TEST(workers) {
  in_rounds(working);
  expect("on_done", "done", ROUNDS);
  expect("on_done", "failed", ROUNDS);
  expect("on_done", "exec", (1000 + 4 * 3 + 4) * ROUNDS);
  expect("on_done", "slices", 0);
  expect("on_done", "slice_max", 0);
}
END_TEST

/* -- another await than the last time -------------------------------------------------------------
 */

static void pausing(void) {
  static struct aprof_site *const places[] = {NULL, &not_yet, NULL, &nor_yet, &nor_yet, NULL};
  token r;
  new_future(&timer, &on_done, KEY);
  for (int i = 0; i < 6; i++) {
    pass(5);
    run(&call, &r, KEY, &on_done);
    pass(1);
    closes_at(&r, APROF_PENDING, places[i]);
  }
  pass(5);
  run(&call, &r, KEY, &on_done);
  closes(&r, APROF_FAILED);
}

static void pausing_each_way(void) {
  each_way(pausing);
}

START_TEST(ones_that_wait_elsewhere) {
  in_rounds(pausing_each_way);
  expect("on_done @ timer", "waiting", 2 * 4 * 5 * ROUNDS);
  expect("on_done @ not_yet", "waiting", 2 * 5 * ROUNDS);
  expect("on_done @ nor_yet", "waiting", 2 * 2 * 5 * ROUNDS);
  expect("on_done", "exec", 2 * 6 * ROUNDS);
}
END_TEST

/* It waits for what it ran last, which says where it is: that was armed again, or stopped. */
static void polling(void) {
  token r, m;
  for (int i = 0; i < 3; i++) {
    new_future(&timer, &on_step, OTHER);
    run(&call, &r, OTHER, &on_step);
    begins(&timer, &m);
    if (i == 0)
      arms(10);
    else if (i == 1)
      end(&stop, KEY, APROF_DONE);
    closes_at(&m, i == 0 ? APROF_DONE : APROF_PENDING, &not_yet);
    ran_at(&r, APROF_PENDING, &nor_yet); /* the general event knows */
    alike_here();
    pass(4);
    end(&stop, OTHER, APROF_CANCELLED);
    end(&stop, KEY, APROF_CANCELLED);
  }
}

START_TEST(ones_that_wait_for_what_they_run) {
  rounds_of(polling, FAST_CLOSES);
  expect("on_step @ nor_yet", "waiting", 4 * ROUNDS);
  expect("on_step @ on_done", "waiting", (3 * 3 + 2 * 4) * ROUNDS);
}
END_TEST

RUN_SITE(peek, APROF_POLLING, NS);

/* Looked at in vain, and not in vain: the general event knows which wait goes on. */
static void peeking(void) {
  token r;
  new_future(&timer, &on_done, KEY);
  for (int i = 0; i < 3; i++) {
    pass(5);
    run(&peek, &r, KEY, &on_done);
    pass(1);
    closes(&r, i == 0 ? APROF_POLLED : i == 1 ? APROF_PENDING : APROF_FAILED);
  }
  new_future(&timer, &on_done, KEY);
  pass(5);
  run(&peek, &r, KEY, &on_done);
  closes(&r, APROF_POLLED);
  pass(3);
  run(&work_at, &r, KEY, &on_done); /* and by a line that does not look */
  closes_at(&r, APROF_PENDING, &not_yet);
  pass(30);
  run(&call, &r, KEY, &on_done);
  closes(&r, APROF_FAILED);
}

static void peeking_each_way(void) {
  each_way(peeking);
  failing_late(); /* such a call has been no immediate one before */
}

START_TEST(ones_that_are_polled) {
  rounds_of(peeking_each_way, GENERAL_ALIKE);
  expect("on_done", "failed", (2 * 2 + 1) * ROUNDS);
  expect("on_done @ timer", "waiting", 2 * (15 + 8) * ROUNDS);
  expect("on_done @ not_yet", "waiting", 2 * 30 * ROUNDS);
  expect("on_done", "queued", 0);
}
END_TEST

/* The loop is idle in the run, and what is traced says so, and that it is not any more. */
IDLE_SITE(polls_fds);
static void idling(void) {
  token r, i;
  begins(&once, &r);
  idle(&polls_fds, &i);
  pass(6);
  idled(&i);
  pass(1);
  closes(&r, APROF_FAILED);
}

START_TEST(ones_that_idle) {
  rounds_of(idling, FAST_CLOSES);
  expect("on_done", "failed", ROUNDS);
  expect("on_done", "exec", 4 * ROUNDS);
}
END_TEST

UNIT_TRACED_MAIN("fast, close", ones_that_fail, ones_that_fail_late, ones_that_last_longer,
                 one_that_fails_at_a_new_place, ones_whose_time_goes_back, ones_that_fail_often,
                 ones_that_close_twice, ones_that_are_lost, ones_stopped_inside,
                 ones_that_were_not_woken, ones_armed_inside, ones_armed_and_woken_inside,
                 ones_armed_and_stopped_inside, one_whose_key_is_written_meanwhile,
                 ones_that_make_their_successors, ones_that_make_their_successors_too_early,
                 equal_ones, workers, ones_that_wait_elsewhere, ones_that_wait_for_what_they_run,
                 ones_that_are_polled, ones_that_idle)
