/* SPDX-License-Identifier: MIT */
/*
 * What programs do most, again and again: right each time, and from some round on without
 * a general event. All that runs here runs in rounds of the same; the last ones must add
 * nothing to the count of general events, so a fast event that turns away shows.
 */
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/file/clock.h"
#include "rt/future/key.h"
#include "traced.h"

FUNCTION_SITE(child);
NAMES_SITE(named);
NAMES_SITE(within);
CALLBACK_SITE(on_done);
CALLBACK_SITE(on_step);
FRAME_SITE(machine);
FRAME_SITE(inner);
RETURN_SITE(not_yet);
enum { NS = 7, FRAME_NS = 9, KEY = 0xabc0, OTHER = 0xdef0 };
CREATE_SITE(once, APROF_ONCE, NS);
CREATE_SITE(spawn, 0, NS);
CREATE_SITE(task, APROF_READY, NS);
RUN_SITE(call, 0, NS);
RUN_SITE(orphan, APROF_ORPHAN, FRAME_NS);
CREATE_SITE(timer, APROF_MULTI, NS);
CREATE_SITE(listener, APROF_MULTI | APROF_BACKGROUND, NS);
WAKE_SITE(ring, NS);
END_SITE(stop, NS);

#define ROUNDS 20
#define WARM (int)(APROF_FEW + 4) /* rounds, until paths and histograms are there */
#define GENERAL 1                 /* that one has no fast event */

static uint64_t general_events(void) {
  const struct aprof_header *h = profile();
  uint64_t sum = 0, at = APROF_HEADER_SIZE;
  while (at < h->used) {
    const struct aprof_chunk *chunk = (const struct aprof_chunk *)((const char *)h + at);
    if (chunk->type == APROF_CHUNK_BLOCK)
      sum += ((const struct aprof_block *)(chunk + 1))->general_events;
    at += chunk->size;
  }
  return sum;
}

static const void *element(const struct aprof_chunk *chunk, uint32_t number) {
  return (const char *)(chunk + 1) + (uint64_t)(number - chunk->first) * chunk->element;
}

/* The chunk of that type that has the number; NULL where there is none. */
static const struct aprof_chunk *chunk_of(uint32_t type, uint32_t number) {
  const struct aprof_header *h = profile();
  for (uint64_t at = APROF_HEADER_SIZE; at < h->used;) {
    const struct aprof_chunk *chunk = (const struct aprof_chunk *)((const char *)h + at);
    if (chunk->type == type && number - chunk->first < chunk->count)
      return chunk;
    at += chunk->size;
  }
  return NULL;
}

/* What all wakers have to answer for: wakes that were waited for, and ns queued. */
static void expect_wakers(uint64_t wakes, uint64_t queued) {
  uint64_t count = 0, waiting = 0;
  for (uint32_t n = 1; n <= profile()->nodes; n++) {
    const struct aprof_node *node = element(chunk_of(APROF_CHUNK_NODES, n), n);
    const struct aprof_chunk *counters = chunk_of(APROF_CHUNK_COUNTERS, n);
    if (node->is_await != APROF_NODE_WAKER || counters == NULL)
      continue;
    const struct aprof_counters *c = element(counters, n);
    count += c->await.count;
    waiting += c->await.waiting;
  }
  ck_assert_uint_eq(count, wakes);
  ck_assert_uint_eq(waiting, queued);
}

#define FILLER(n)                                                                                  \
  {                                                                                                \
    .name = "filler" #n, .file = "unit.c", .line = n, .kind = APROF_SITE_FUNCTION,                 \
    .model = APROF_MODEL_STACK                                                                     \
  }
static struct aprof_site fillers[] = {FILLER(1), FILLER(2), FILLER(3), FILLER(4), FILLER(5)};
#define FILLERS (sizeof fillers / sizeof *fillers)

/* What a round tells the trace whose events are all general ones, and what the last one does; "":
   nobody traces. */
static char told_by_general[4096], told_last[4096];

static void told_in(void (*round)(void), char *text) {
  uint64_t from = head();
  round();
  strcpy(text, told(1, from));
}

/* The general events of the last rounds; `filled`: paths that are there before. */
static uint64_t general_in_rounds(void (*round)(void), size_t filled) {
  token t;
  uint64_t before = 0;
  attach();
  for (size_t i = 0; i < filled; i++) {
    enter(&fillers[i], &t);
    leave(&t);
  }
  enter(&body, &t); /* the runtime shows nothing before its first future */
  leave(&t);
  for (int i = 0; i < ROUNDS; i++) {
    if (i == WARM)
      before = general_events();
    if (i == GENERAL)
      rt.usual_epoch = &epoch_never;
    told_in(round, i == GENERAL ? told_by_general : told_last);
    clock_choose_usual();
  }
  return general_events() - before;
}

/* Two paths may want one place in the thread's cache, which addresses and their numbers
   decide: a child tells with how many others before them they do not. */
static void in_rounds(void (*round)(void)) {
  size_t filled = 0;
  for (int status = 1; status != 0; filled++) {
    ck_assert_uint_lt(filled, FILLERS);
    pid_t probe = fork();
    ck_assert_int_ge(probe, 0);
    if (probe == 0)
      _exit(general_in_rounds(round, filled) != 0);
    ck_assert_int_eq(waitpid(probe, &status, 0), probe);
  }
  ck_assert_uint_eq(general_in_rounds(round, filled - 1), 0);
  ck_assert_str_eq(told_last, told_by_general);
}

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

/* Creates in the program's own wrapper are reported there. */
SITE_(wrapper, APROF_SITE_AWAIT, 0, APROF_NAMES | APROF_HELPER, 0);
static void created_in_a_helper(void) {
  token t, h = {0};
  enter(&body, &t);
  suspend(&wrapper, &h);
  new_future(&once, &on_done, KEY);
  resume(&h);
  leave(&t);
  pass(5);
  run_whole(&call, KEY, &on_done, 0);
}

START_TEST(ones_of_a_helper) {
  in_rounds(created_in_a_helper);
  expect("body > on_done @ wrapper", "waiting", 5 * ROUNDS);
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

START_TEST(one_that_waits_and_calls) {
  in_rounds(waiting_and_calling);
  expect("child", "exec", 3 * ROUNDS);
  expect("on_done @ nap", "waiting", 6 * ROUNDS);
  expect("on_done @ child", "immediate", 3 * ROUNDS);
  expect("on_done @ timer", "waiting", 30 * ROUNDS);
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

CREATE_SITE(post, APROF_READY | APROF_TUPLE, NS);
RUN_SITE(take, APROF_TUPLE, NS);

static void new_equal(struct aprof_site *site, struct aprof_site *function) {
  token c;
  create(site, &c, function, NULL);
  gate.create_end(&c, KEY, OTHER, 1);
}

static void run_equal(struct aprof_site *site, token *r, struct aprof_site *function) {
  *r = (token){0};
  gate.run_begin(site, r, KEY, OTHER, function, NULL);
  ck_assert_uint_ne(r->word[0], 0);
}

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

static sem_t given, given_back;
static void (*to_do)(void);

static void *pool(void *unused) {
  for (;;) {
    while (sem_wait(&given) != 0)
      ;
    to_do();
    sem_post(&given_back);
  }
  return unused;
}

static void on_pool(void (*work)(void)) {
  static pid_t process; /* that the thread is in */
  if (process != getpid()) {
    pthread_t thread;
    process = getpid();
    sem_init(&given, 0, 0);
    sem_init(&given_back, 0, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, pool, NULL), 0);
    pthread_detach(thread);
  }
  to_do = work;
  sem_post(&given);
  while (sem_wait(&given_back) != 0)
    ;
}

RUN_SITE(work_equal, APROF_TUPLE | APROF_WORKER, NS);
RUN_SITE(work_at, APROF_WORKER, NS);

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

/* Woken while it waits, while it is queued by that, and while it runs: for the next wait. */
static void woken(void) {
  token r;
  new_future(&once, &on_done, KEY);
  pass(5);
  wake(&ring, KEY);
  pass(1);
  wake(&ring, KEY);
  pass(2);
  run(&call, &r, KEY, &on_done);
  pass(4);
  wake(&ring, KEY);
  pass(1);
  ran_at(&r, APROF_PENDING, &not_yet);
  pass(7);
  run_whole(&call, KEY, &on_done, 0);
}

START_TEST(woken_ones) {
  in_rounds(woken);
  expect("on_done", "done", ROUNDS);
  expect("on_done", "exec", 5 * ROUNDS);
  expect("on_done", "queued", (3 + 7) * ROUNDS);
  expect("on_done", "queued histogram from 3", ROUNDS);
  expect("on_done @ once", "waiting", 5 * ROUNDS);
  expect("on_done @ not_yet", "waiting", 0);
  expect("on_done @ not_yet", "count", ROUNDS);
  expect_wakers(2 * ROUNDS, (3 + 7) * ROUNDS);
}
END_TEST

/* One of the same key from before the reset is in the place that is looked at first. */
START_TEST(woken_after_a_reset) {
  attach();
  woken();
  new_future(&once, &on_done, KEY);
  ck_assert_int_eq(gate.api_reset(), 0);
  new_future(&once, &on_done, KEY);
  pass(5);
  wake(&ring, KEY);
  pass(3);
  run_whole(&call, KEY, &on_done, 0);
  expect("on_done", "queued", 3);
  expect("on_done @ once", "waiting", 5);
}
END_TEST

/* Stopped while it waits, when it was woken, and while it is queued. */
static void stopped(void) {
  new_future(&once, &on_done, KEY);
  pass(5);
  end(&stop, KEY, APROF_CANCELLED);
  new_future(&once, &on_done, KEY);
  pass(2);
  wake(&ring, KEY);
  pass(3);
  end(&stop, KEY, APROF_DONE);
  new_future(&spawn, &on_step, KEY);
  wake(&ring, KEY);
  pass(4);
  end(&stop, KEY, APROF_FAILED);
}

WAKE_SITE(ring_any, APROF_NS_ANY);
END_SITE(stop_any, APROF_NS_ANY);

static void rested_by_none(void) {
  new_future(&once, &on_done, OTHER);
  wake(&ring, KEY);
  end(&stop, KEY, APROF_DONE);
  wake(&ring_any, KEY);
  end(&stop_any, KEY, APROF_DONE);
  pass(2);
  end(&stop, OTHER, APROF_CANCELLED);
  end(&stop, OTHER, APROF_CANCELLED);
}

/* Also those that a report leaves out, of lines that have found a future. */
static uint64_t misses(enum aprof_miss kind) {
  const struct aprof_header *h = profile();
  uint64_t sum = 0;
  for (uint64_t at = APROF_HEADER_SIZE; at < h->used;) {
    const struct aprof_chunk *chunk = (const struct aprof_chunk *)((const char *)h + at);
    const struct aprof_missed *m = (const struct aprof_missed *)(chunk + 1);
    for (uint32_t i = 0; chunk->type == APROF_CHUNK_MISSES && i < chunk->count; i++)
      sum += m[i].kind == kind ? m[i].count : 0;
    at += chunk->size;
  }
  return sum;
}

START_TEST(wakes_and_ends_of_none) {
  in_rounds(rested_by_none);
  expect("on_done", "cancelled", ROUNDS);
  expect("on_done @ once", "waiting", 2 * ROUNDS);
  ck_assert_uint_eq(misses(APROF_MISS_WAKE), ROUNDS);
  ck_assert_uint_eq(misses(APROF_MISS_END), 2 * ROUNDS);
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

START_TEST(stopped_ones) {
  in_rounds(stopped);
  expect("on_done", "cancelled", ROUNDS);
  expect("on_done", "done", ROUNDS);
  expect("on_done @ once", "waiting", (5 + 2) * ROUNDS);
  expect("on_done", "queued", 3 * ROUNDS);
  expect_times("on_done", 0, 0, 10 * ROUNDS);
  expect("on_step", "failed", ROUNDS);
  expect("on_step", "queued", 4 * ROUNDS);
  expect("on_step", "live", 0);
  expect_wakers(0, 0);
}
END_TEST

/* Those that ask to be called again: queued from the moment they stop, for which their waker
   answers. */
static void woken_early(void) {
  token r, m;
  new_future(&timer, &on_done, KEY);
  for (int i = 0; i < 2; i++) {
    pass(3);
    run(&call, &r, KEY, &on_done);
    wake(&ring, KEY);
    run(&orphan, &m, OTHER, &on_step); /* put aside meanwhile */
    pass(1);
    ran(&m, APROF_PENDING);
    wake(&ring, KEY);
    ran(&r, APROF_PENDING);
  }
  pass(4);
  run_whole(&call, KEY, &on_done, 0);
}

START_TEST(ones_woken_early) {
  in_rounds(woken_early);
  expect("on_done @ timer", "waiting", 3 * ROUNDS);
  expect("on_done", "queued", (3 + 4) * ROUNDS);
  expect("on_step", "queued", 0);
  expect_wakers(2 * ROUNDS, (3 + 4) * ROUNDS);
}
END_TEST

static void due(uint64_t ns) {
  token c;
  create(&timer, &c, &on_done, NULL);
  gate.due(&c, ns);
  created(&c, KEY, 1);
}

/* Late, early, and stopped before its time. */
static void timed(void) {
  due(10);
  pass(12);
  run_whole(&call, KEY, &on_done, 0);
  due(10);
  pass(7);
  run_whole(&call, KEY, &on_done, 0);
  due(10);
  pass(1);
  end(&stop, KEY, APROF_CANCELLED);
}

START_TEST(timed_ones) {
  in_rounds(timed);
  expect("on_done", "done", 2 * ROUNDS);
  expect("on_done", "cancelled", ROUNDS);
  expect("on_done @ timer", "waiting", (10 + 7 + 1) * ROUNDS);
  expect("on_done", "queued", 2 * ROUNDS);
  expect_wakers(ROUNDS, 2 * ROUNDS); /* the line of the create, where nobody else is */
}
END_TEST

/* Armed again while it waits; its key is told before the call, once. */
CREATE_SITE(alarm_site, APROF_ONCE | APROF_REARM, NS);
static void armed_again(void) {
  token c;
  for (int i = 0; i < 3; i++) {
    create(&alarm_site, &c, &on_done, NULL);
    gate.due(&c, 10);
    if (i == 1)
      gate.create_key(&c, KEY, 0);
    created(&c, KEY, 1);
    pass(4);
  }
  pass(8);
  run_whole(&call, KEY, &on_done, 1);
}

START_TEST(ones_armed_again) {
  in_rounds(armed_again);
  expect("on_done", "done", ROUNDS);
  expect("on_done @ alarm_site", "waiting", 18 * ROUNDS);
  expect("on_done", "queued", 2 * ROUNDS);
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

UNIT_TRACED_MAIN("fast", bodies_and_awaits, named_awaits, nameless_ones,
                 ones_known_by_their_address, ones_known_by_their_address_alone,
                 ones_whose_name_is_told_late, published_ones, ones_that_nobody_creates,
                 runs_inside_a_run, runs_of_none, one_that_waits_for_what_it_polls,
                 one_that_waits_for_new_work, one_that_ticks, one_that_waits_and_calls,
                 ones_that_wait_in_what_they_call, ones_that_are_left_in_what_they_call,
                 ones_entered_by_their_runs, ones_left_in_a_span, one_that_closes_twice,
                 one_that_closes_late, one_that_resumes_twice, one_left_in_a_tier,
                 ones_whose_key_is_known_early, equal_ones, equal_ones_that_wait,
                 ones_of_another_thread, creates_in_a_create, called_ones_of_another_thread,
                 many_of_another_thread, ones_behind_another, nameless_ones_that_wait,
                 ones_of_a_helper, ones_armed_again, equal_ones_for_new_work, woken_ones,
                 woken_after_a_reset, stopped_ones, wakes_and_ends_of_none,
                 ones_that_make_their_successors, ones_stopped_inside, requests, ones_woken_early,
                 timed_ones, hundreds_of_functions)
