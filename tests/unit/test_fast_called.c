/* SPDX-License-Identifier: MIT */
/*
 * Fast events of runs that a running future makes (rt/event/fast-called.c): whom it may run, how
 * long who runs it waits for that, and what the general event must know. Those that close in a rare
 * way are in test_fast_close.c.
 */
#include "rounds.h"
#include "rt/count/site.h"

FUNCTION_SITE(child);
CALLBACK_SITE(on_done);
CALLBACK_SITE(on_step);
NAMES_SITE(named);
RETURN_SITE(not_yet);
CALL_SITE(call_line);
IDLE_SITE(polls_fds);
SITE_(parse, APROF_SITE_SPAN, 0, 0, 0);
CREATE_SITE(once, APROF_ONCE, NS);
CREATE_SITE(task, APROF_READY, NS);
CREATE_SITE(timer, APROF_MULTI, NS);
CREATE_SITE(listener, APROF_MULTI | APROF_BACKGROUND, NS);
CREATE_SITE(request, APROF_READY | APROF_ROOT, NS);
CREATE_SITE(post, APROF_READY | APROF_TUPLE, NS);
RUN_SITE(call, 0, NS);
RUN_SITE(take, APROF_TUPLE, NS);
WAKE_SITE(ring, NS);
END_SITE(stop, NS);

/* What runs the others. */
static void caller_begins(token *o) {
  new_future(&task, &on_step, OTHER);
  run(&call, o, OTHER, &on_step);
  pass(1);
}

/* -- its begin ---------------------------------------------------------------------------- */

/* At the line that was announced; woken, also by the clock, and not. */
static void calling(void) {
  token o, r, c;
  caller_begins(&o);
  new_future(&timer, &on_done, KEY);
  call_from(&call_line);
  run(&call, &r, KEY, &on_done);
  pass(2);
  closes(&r, APROF_PENDING);
  pass(3);
  wake(&ring, KEY);
  pass(4);
  run(&call, &r, KEY, &on_done);
  alike_here();
  ran(&r, APROF_DONE);
  create(&task, &c, &on_done, NULL);
  gate.due(&c, 10);
  created(&c, KEY, 1);
  pass(5);
  run(&call, &r, KEY, &on_done);
  alike_here();
  new_future(&once, &on_done, KEY + 16);
  run_whole(&call, KEY + 16, &on_done, 1);
  run(&call, &c, KEY, &on_done); /* inside itself */
  ck_assert_uint_eq(c.word[0], 0);
  closes(&r, APROF_PENDING);
  pass(6);
  run(&call, &r, KEY, &on_done);
  alike_here();
  ran(&r, APROF_DONE);
  ran(&o, APROF_DONE);
}

START_TEST(called_ones) {
  in_rounds(calling);
  expect("on_done", "done", 3 * ROUNDS);
  expect("on_done", "queued", (4 + 5) * ROUNDS);
  expect("on_step @ call_line", "waiting", 2 * ROUNDS);
  expect("on_step @ on_done", "immediate", 3 * ROUNDS);
}
END_TEST

/* A body tells its name: of what waits, and of what was queued. */
static void naming(void) {
  static struct aprof_site names[2 * ROUNDS];
  static unsigned next;
  struct aprof_site *const sites[] = {&once, &task};
  token o, r;
  caller_begins(&o);
  for (int i = 0; i < 2; i++) {
    struct aprof_site *name = &names[next++];
    *name = another(&on_done);
    new_future(sites[i], NULL, KEY);
    pass(1);
    run_whole(&call, KEY, NULL, 0);
    for (int j = 0; j < 2; j++) {
      new_future(sites[i], NULL, KEY);
      pass(1);
      call_from(&call_line);
      run(&call, &r, KEY, j == 0 ? &on_done : name);
      alike_here();
      ran(&r, APROF_DONE);
    }
  }
  ran(&o, APROF_DONE);
}

START_TEST(called_ones_without_a_name) {
  rounds_of(naming, GENERAL_ALIKE);
  expect("once", "done", ROUNDS);
  expect("task", "done", ROUNDS);
  expect("on_done", "done", 4 * ROUNDS);
}
END_TEST

/* Run by a function that has run none yet; they are of one key, or of equal ones. */
static void calling_first(void) {
  static struct aprof_site callers[ROUNDS];
  static unsigned next;
  struct aprof_site *caller = &callers[next++];
  token b, r;
  *caller = another(&child);
  new_equal(&post, &on_done);
  new_equal(&post, &on_done);
  new_future(&once, &on_step, KEY);
  pass(1);
  enter(&child, &b);
  run_equal(&take, &r, &on_done);
  ran(&r, APROF_DONE);
  run_whole(&call, KEY, &on_step, 0);
  leave(&b);
  new_future(&once, &on_step, KEY);
  enter(caller, &b);
  run_equal(&take, &r, &on_done);
  alike_here();
  ran(&r, APROF_DONE);
  run(&call, &r, KEY, &on_step);
  alike_here();
  ran(&r, APROF_DONE);
  leave(&b);
}

START_TEST(ones_called_first) {
  rounds_of(calling_first, GENERAL_ALIKE);
  expect("on_done", "done", 2 * ROUNDS);
  expect("on_step", "done", 2 * ROUNDS);
}
END_TEST

/* The loop is idle, with nothing below, or an await that names is open around the call. */
static void calling_oddly(void) {
  token i, r, b, n = {0};
  new_future(&once, &on_done, KEY);
  idle(&polls_fds, &i);
  pass(3);
  run(&call, &r, KEY, &on_done);
  alike_here();
  pass(1);
  ran(&r, APROF_DONE);
  idled(&i);
  for (int j = 0; j < 2; j++) {
    new_future(&once, &on_done, KEY);
    enter(&body, &b);
    if (j == 1)
      suspend(&named, &n);
    run(&call, &r, KEY, &on_done);
    alike_here();
    pass(2);
    ran(&r, APROF_DONE);
    alike_here();
    if (j == 1)
      resume(&n);
    leave(&b);
  }
}

START_TEST(ones_called_oddly) {
  rounds_of(calling_oddly, GENERAL_ALIKE);
  expect("on_done", "done", 3 * ROUNDS);
  expect("on_done", "exec", (1 + 2 + 2) * ROUNDS);
}
END_TEST

/* Queued since before the end of a long hold, which is told. */
static void calling_late(void) {
  token o;
  new_future(&task, &on_done, KEY);
  caller_begins(&o);
  pass(3 * MS);
  ran(&o, APROF_DONE);
  caller_begins(&o);
  run_whole(&call, KEY, &on_done, 1);
  ran(&o, APROF_DONE);
}

START_TEST(ones_called_late) {
  rounds_of(calling_late, GENERAL_ALIKE);
  expect("on_done", "done", ROUNDS);
  expect("on_step", "delayed on_done", (3 * MS + 1) * ROUNDS);
}
END_TEST

/* The clock is behind. */
static void calling_early(void) {
  token o, c;
  caller_begins(&o);
  new_future(&once, &on_done, KEY);
  pass(5);
  enter(&child, &c);
  leave(&c);
  header()->virtual_now -= 2;
  run_whole(&call, KEY, &on_done, 0);
  alike_here();
  header()->virtual_now += 2;
  ran(&o, APROF_DONE);
}

/* ... for another thread, behind that of who woke it. */
static token early;

static void begins_early(void) {
  enter(&body, &early);
}

static void calls_early(void) {
  run_whole(&call, KEY, &on_done, 0);
  alike_here();
  leave(&early);
}

static void calling_earlier(void) {
  calling_early();
  for (int i = 0; i < 2; i++) {
    on_pool(begins_early);
    pass(5);
    new_future(&timer, &on_done, KEY);
    wake(&ring, KEY);
    header()->virtual_now -= i == 1 ? 3 : 0;
    on_pool(calls_early);
    header()->virtual_now += i == 1 ? 3 : 0;
  }
}

START_TEST(ones_whose_time_goes_back) {
  rounds_of(calling_earlier, GENERAL_ALIKE);
  expect("on_done", "done", 3 * ROUNDS);
}
END_TEST

static void calls_them(void) {
  token b, r;
  enter(&body, &b);
  pass(1);
  new_future(&once, &on_done, KEY + 16);
  run_whole(&call, KEY + 16, &on_done, 0); /* known here, unlike what waits elsewhere */
  run(&call, &r, KEY, &on_done);
  alike_here();
  pass(1);
  closes(&r, APROF_PENDING);
  leave(&b);
}

/* Another thread had it last, of which this one knows the await or not. */
static void called_elsewhere(void) {
  static struct aprof_site places[ROUNDS];
  static unsigned next;
  struct aprof_site *place = &places[next++];
  *place = another(&not_yet);
  token o, r;
  caller_begins(&o);
  new_future(&timer, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  ran(&r, APROF_PENDING);
  ran(&o, APROF_DONE);
  on_pool(calls_them);
  caller_begins(&o);
  run(&call, &r, KEY, &on_done);
  alike_here();
  ran_at(&r, APROF_PENDING, place);
  on_pool(calls_them);
  run(&call, &r, KEY, &on_done);
  alike_here();
  ran(&r, APROF_DONE);
  ran(&o, APROF_DONE);
}

START_TEST(called_ones_of_another_thread) {
  rounds_of(called_elsewhere, GENERAL_ALIKE);
  expect("on_done", "done", (1 + 2) * ROUNDS);
  expect("health", "migrations", 4 * ROUNDS);
  expect("health", "missed", 0);
}
END_TEST

/* Over at once, by a call that does not return: its record is free, and then another's. */
SITE_(leave_thread, APROF_SITE_END, 0, APROF_NORETURN, NS);
static void over_inside(void) {
  token o, r, s;
  for (int i = 0; i < 2; i++) {
    caller_begins(&o);
    new_future(&timer, &on_done, KEY);
    run(&call, &r, KEY, &on_done);
    pass(1);
    end(&leave_thread, KEY, APROF_DONE);
    if (i == 1)
      new_future(&once, &child, KEY);
    alike_here();
    ran(&r, APROF_DONE);
    alike_here();
    pass(1);
    if (i == 1) {
      run(&call, &s, KEY, &child);
      ran(&s, APROF_DONE);
    }
    ran(&o, APROF_DONE);
  }
}

START_TEST(called_ones_that_do_not_return) {
  rounds_of(over_inside, GENERAL_ALIKE);
  expect("on_done", "done", 2 * ROUNDS);
  expect("on_step", "done", 2 * ROUNDS);
}
END_TEST

/* -- its end ---------------------------------------------------------------------------- */

/* It waited inside, so who runs it waits for more than a call: for longer than ever, too. */
static void closing_late(void) {
  static uint64_t length = 100;
  token o, r, a;
  caller_begins(&o);
  for (int i = 0; i < 4; i++) {
    new_future(&timer, &on_done, KEY);
    if (i == 2)
      pass(100000); /* no life is longer */
    run(&call, &r, KEY, &on_done);
    if (i != 2) {
      suspend(&nap, &a);
      pass(i == 3 ? length += 100 : 5);
      resume(&a);
      pass(1);
    }
    if (i < 3)
      closes(&r, i == 1 ? APROF_PENDING : APROF_DONE);
    else
      ran(&r, APROF_DONE);
    alike_here();
    if (i == 1)
      end(&stop, KEY, APROF_DONE);
  }
  ran(&o, APROF_DONE);
}

START_TEST(called_ones_that_wait) {
  rounds_of(closing_late, FAST_CLOSES);
  expect("on_step @ on_done", "immediate", ROUNDS);
  expect("on_step @ on_done", "max", 100 + 100 * ROUNDS + 1);
}
END_TEST

/* It waits still when its bracket says that it is over; the loop was idle in it; the clock is
   behind. */
static void closing_oddly(void) {
  token o, r, a, c;
  for (int i = 0; i < 3; i++) {
    caller_begins(&o);
    new_future(&once, &on_done, KEY);
    run(&call, &r, KEY, &on_done);
    pass(4);
    if (i == 0) {
      suspend(&nap, &a);
      pass(2);
    } else if (i == 1) {
      idle(&polls_fds, &a);
      pass(3);
      idled(&a);
    } else {
      enter(&child, &c);
      leave(&c);
      header()->virtual_now -= 2;
    }
    ran(&r, APROF_DONE);
    alike_here();
    header()->virtual_now += i == 2 ? 2 : 0;
    if (i == 0)
      end(&stop, KEY, APROF_DONE);
    pass(1);
    ran(&o, APROF_DONE);
  }
}

/* A body is left in a span: its name is not the span's. */
static void left_in_a_span(void) {
  token o, r, s = {0};
  caller_begins(&o);
  new_future(&timer, &on_done, KEY);
  run(&call, &r, KEY, &on_done);
  gate.span_begin(&parse, &s);
  pass(2);
  ran(&r, APROF_PENDING);
  alike_here();
  end(&stop, KEY, APROF_DONE);
  ran(&o, APROF_DONE);
}

START_TEST(called_ones_left_in_a_span) {
  rounds_of(left_in_a_span, GENERAL_ALIKE);
  expect("on_done", "done", ROUNDS);
  expect("parse", "exec", 2 * ROUNDS);
}
END_TEST

START_TEST(called_ones_that_close_oddly) {
  rounds_of(closing_oddly, GENERAL_ALIKE);
  expect("on_step", "done", 3 * ROUNDS);
}
END_TEST

START_TEST(a_called_one_that_returns_at_a_new_place) {
  static struct aprof_site places[ROUNDS];
  token o, r;
  attach();
  for (unsigned i = 0; i < ROUNDS; i++) {
    places[i] = another(&not_yet);
    caller_begins(&o);
    new_future(&once, &on_done, KEY);
    run(&call, &r, KEY, &on_done);
    ran_at(&r, APROF_DONE, &places[i]);
    ck_assert(site_known(&places[i]));
    ran(&o, APROF_DONE);
  }
}
END_TEST

/* Only who runs it is a part of a request, or only what is run: that is over as one. */
static void of_requests(void) {
  token q, o, r;
  new_future(&timer, &on_done, KEY);
  new_future(&request, &child, KEY + 16);
  run(&call, &q, KEY + 16, &child);
  for (int i = 0; i < 2; i++) {
    run(&call, &r, KEY, &on_done);
    pass(2);
    closes(&r, i == 0 ? APROF_PENDING : APROF_DONE);
  }
  new_future(&timer, &on_done, KEY);
  ran(&q, APROF_PENDING);
  caller_begins(&o);
  for (int i = 0; i < 2; i++) {
    run(&call, &r, KEY, &on_done);
    pass(3);
    closes(&r, i == 0 ? APROF_PENDING : APROF_DONE);
  }
  run(&call, &q, KEY + 16, &child);
  pass(1);
  closes(&q, APROF_DONE);
  ran(&o, APROF_DONE);
}

START_TEST(called_ones_of_requests) {
  rounds_of(of_requests, FAST_CLOSES);
  expect("on_done", "exec", (2 * 2 + 2 * 3) * ROUNDS);
  expect("child", "done", ROUNDS);
}
END_TEST

/* A program without roots: what waits for new work leaves the request that began with its run. */
static void of_new_work(void) {
  token o, r;
  new_future(&listener, &on_done, KEY);
  for (int i = 0; i < 3; i++) {
    pass(5);
    caller_begins(&o);
    run(&call, &r, KEY, &on_done);
    pass(1);
    ran(&r, APROF_PENDING);
    alike_here();
    ran(&o, APROF_DONE);
  }
  for (int i = 0; i < 2; i++) { /* in its request, but for who runs it then */
    run(&call, &r, KEY, &on_done);
    ran_at(&r, APROF_PENDING, &not_yet);
    caller_begins(&o);
    run(&call, &r, KEY, &on_done);
    pass(1);
    ran(&r, APROF_PENDING);
    alike_here();
    ran(&o, APROF_DONE);
  }
  end(&stop, KEY, APROF_DONE);
}

START_TEST(called_ones_that_wait_for_new_work) {
  rounds_of(of_new_work, GENERAL_ALIKE);
  expect("on_done @ listener", "count", 6 * ROUNDS);
  expect("on_done @ not_yet", "count", 2 * ROUNDS);
}
END_TEST

UNIT_TRACED_MAIN("fast, called", called_ones, called_ones_without_a_name, ones_called_first,
                 ones_called_oddly, ones_called_late, ones_whose_time_goes_back,
                 called_ones_of_another_thread, called_ones_that_do_not_return,
                 called_ones_that_wait, called_ones_that_close_oddly, called_ones_left_in_a_span,
                 a_called_one_that_returns_at_a_new_place, called_ones_of_requests,
                 called_ones_that_wait_for_new_work)
