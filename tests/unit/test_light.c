/* SPDX-License-Identifier: MIT */
/* Events of few steps, which are general ones only where something is due, or where they turn out
   to be: labels, idling, calls that block, spans outside futures. And waits at creates with a tier.
 */
#include "rounds.h"

CALLBACK_SITE(on_step);
CALLBACK_SITE(on_done);
CREATE_SITE(request, APROF_READY | APROF_ROOT, NS);
CREATE_SITE(once, APROF_ONCE, NS);
RUN_SITE(call, 0, NS);
WAKE_SITE(ring, NS);
END_SITE(stop, NS);
SITE_(labels, APROF_SITE_LABEL, 0, 0, NS);
SITE_(poller, APROF_SITE_IDLE, 0, 0, 0);
SITE_(writes, APROF_SITE_BLOCKING, 0, 0, 0);
SITE_(parse, APROF_SITE_SPAN, 0, 0, 0);
SITE_(within, APROF_SITE_SPAN, 0, 0, 0);
#define TIERED_SITE(variable, flags_)                                                              \
  static struct aprof_site variable = {.name = #variable,                                          \
                                       .file = "unit.c",                                           \
                                       .line = __LINE__,                                           \
                                       .kind = APROF_SITE_CREATE,                                  \
                                       .flags = flags_,                                            \
                                       .ns = NS,                                                   \
                                       .tier = "sleep"}
TIERED_SITE(timer, APROF_ONCE);
TIERED_SITE(ticker, APROF_MULTI);

/* Requests that are over, of all kinds; of those with a tier, what it had. */
static uint64_t over(const char *label, uint64_t *waiting) {
  uint64_t count = 0;
  for (uint32_t n = 0; n < profile()->kinds; n++) {
    const struct aprof_kind *k = element(APROF_CHUNK_KINDS, n);
    const char *base = (const char *)profile();
    if (strcmp(k->label != 0 ? base + ((uint64_t)k->label << 3) : "", label) != 0)
      continue;
    struct aprof_kind_part sum = kind_sum(n);
    count += sum.count;
    if (sum.tiers != 0)
      *waiting +=
          ((const struct aprof_kind_tier *)(const void *)(base + ((uint64_t)sum.tiers << 3)))
              ->waiting.sum;
  }
  return count;
}

static void labelled(void) {
  token r;
  new_future(&request, &on_step, KEY);
  run(&call, &r, KEY, &on_step);
  gate.about(&r, APROF_ABOUT_LABEL, APROF_VALUE_TEXT, (uintptr_t) "get", 0);
  ran(&r, APROF_DONE);
  new_future(&request, &on_step, KEY);
  run(&call, &r, KEY, &on_step);
  gate.label_current(&labels, APROF_VALUE_COUNTED, (uintptr_t) "putty", 3);
  new_future(&once, &on_done, OTHER);
  run_whole(&call, OTHER, &on_done, 1);
  ran(&r, APROF_DONE);
  new_future(&request, &on_step, KEY);
  gate.label(&labels, KEY, 0, APROF_VALUE_UNSIGNED, 7, 0);
  run_whole(&call, KEY, &on_step, 1);
  gate.label(&labels, KEY, 0, APROF_VALUE_TEXT, (uintptr_t) "of none", 0);
}

START_TEST(labels_of_requests) {
  uint64_t none = 0;
  in_rounds(labelled);
  ck_assert_uint_eq(over("get", &none), ROUNDS);
  ck_assert_uint_eq(over("put", &none), ROUNDS);
  ck_assert_uint_eq(over("7", &none), ROUNDS);
  ck_assert_uint_eq(over("of none", &none), 0);
}
END_TEST

static void turns(void) {
  token i, same;
  pass(1);
  idle(&poller, &i);
  pass(10);
  idle(&poller, &same); /* inside itself */
  pass(20);
  idled(&same);
  pass(40);
  idled(&i);
  pass(4);
  new_future(&once, &on_done, KEY);
  run_whole(&call, KEY, &on_done, 2);
}

START_TEST(turns_of_a_loop) {
  in_rounds(turns);
  ck_assert_uint_eq(block_at(profile(), 1)->idle, 70 * ROUNDS);
  ck_assert_uint_eq(block_at(profile(), 1)->other, 5 * ROUNDS);
}
END_TEST

/* What runs is put aside, and what the poller calls runs. */
static void turn_inside(void) {
  token i, t, c;
  enter(&body, &t);
  idle(&poller, &i);
  pass(10);
  enter(&body, &c);
  pass(1);
  leave(&c);
  idled(&i);
  leave(&t);
}

START_TEST(turns_of_a_loop_inside) {
  rounds_of(turn_inside, GENERAL_ALIKE);
  expect("body @ poller", "waiting", 11 * ROUNDS);
}
END_TEST

static void blocks(void) {
  token c = {0}, t;
  enter(&body, &t);
  pass(1);
  gate.blocking_begin(&writes, &c);
  pass(5);
  gate.blocking_end(&c);
  leave(&t);
}

START_TEST(calls_that_block) {
  in_rounds(blocks);
  expect("body", "exec", 6 * ROUNDS);
}
END_TEST

static void spans_outside(void) {
  token s, in, t;
  gate.span_begin(&parse, &s);
  pass(1);
  gate.span_begin(&within, &in);
  pass(2);
  enter(&body, &t);
  leave(&t);
  pass(4);
  gate.span_end(&in);
  pass(8);
  gate.span_end(&s);
}

START_TEST(spans_outside_futures) {
  in_rounds(spans_outside);
  ck_assert_uint_eq(block_at(profile(), 1)->other, 15 * ROUNDS);
}
END_TEST

/* A request that sleeps: a part of it waits at its create, as one that was woken, and one that is
   ended from outside; one ticks; and so does one of no request. */
static void sleeps(void) {
  token r, t;
  new_future(&request, &on_step, KEY);
  run(&call, &r, KEY, &on_step);
  for (uint64_t i = 1; i <= 3; i++)
    new_future(&timer, &on_done, OTHER + i);
  new_future(&ticker, &on_done, OTHER + 4);
  ran(&r, APROF_PENDING);
  pass(10);
  run_whole(&call, OTHER + 1, &on_done, 1);
  wake(&ring, OTHER + 2);
  pass(4);
  run_whole(&call, OTHER + 2, &on_done, 1);
  end(&stop, OTHER + 3, APROF_DONE);
  for (int i = 0; i < 2; i++) {
    run(&call, &t, OTHER + 4, &on_done);
    pass(1);
    ran(&t, i == 0 ? APROF_PENDING : APROF_DONE);
    pass(100);
  }
  end(&stop, KEY, APROF_DONE);
  new_future(&timer, &on_done, OTHER);
  pass(3);
  run_whole(&call, OTHER, &on_done, 1);
}

START_TEST(waits_at_creates_with_a_tier) {
  uint64_t waiting = 0;
  in_rounds(sleeps);
  ck_assert_uint_eq(over("", &waiting), ROUNDS);
  ck_assert_uint_eq(waiting, (10 + 11 + 16 + 16 + 100) * ROUNDS);
  expect("on_done", "exec", 5 * ROUNDS);
  expect("on_done", "queued", 4 * ROUNDS);
}
END_TEST

/* The root is over while a part of it runs, which goes on with what is no general event. */
static void goes_on_behind_its_root(void) {
  const struct aprof_block *b = aprof_self->block;
  token r, t;
  new_future(&request, &on_step, KEY);
  run(&call, &r, KEY, &on_step);
  new_future(&once, &on_done, OTHER);
  ran(&r, APROF_PENDING);
  pass(1);
  run(&call, &t, OTHER, &on_done);
  end(&stop, KEY, APROF_DONE);
  pass(2);
  uint64_t before = b->general_events;
  new_future(&once, &on_done, OTHER + 1);
  new_future(&once, &on_done, OTHER + 2);
  wake(&ring, OTHER + 2);
  end(&stop, OTHER + 1, APROF_CANCELLED);
  turned_away += b->general_events - before;
  pass(4);
  ran(&t, APROF_DONE);
  run_whole(&call, OTHER + 2, &on_done, 8);
}

START_TEST(what_a_request_does_behind_its_root) {
  uint64_t none = 0;
  rounds_of(goes_on_behind_its_root, FAST_CLOSES);
  ck_assert_uint_eq(over("", &none), ROUNDS);
  expect("on_done", "exec", 14 * ROUNDS);
  expect("on_done", "cancelled", ROUNDS);
}
END_TEST

UNIT_MAIN("light", labels_of_requests, turns_of_a_loop, turns_of_a_loop_inside, calls_that_block,
          spans_outside_futures, waits_at_creates_with_a_tier, what_a_request_does_behind_its_root)
