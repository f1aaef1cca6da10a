/* SPDX-License-Identifier: MIT */
/* Events of few steps, which are general ones only where something is due, or where they turn out
   to be: labels, idling, calls that block. */
#include "rt/file/clock.h"
#include "rt/rt.h"
#include "traced.h"

enum { NS = 7, KEY = 0xabc0 };
SITE_(serve, APROF_SITE_FUNCTION, APROF_MODEL_STACK, APROF_ROOT, 0);
CALLBACK_SITE(on_done);
CREATE_SITE(once, APROF_ONCE, NS);
RUN_SITE(call, 0, NS);
SITE_(labels, APROF_SITE_LABEL, 0, 0, NS);
SITE_(poller, APROF_SITE_IDLE, 0, 0, 0);
SITE_(writes, APROF_SITE_BLOCKING, 0, 0, 0);

#define ROUNDS 10

static const struct aprof_block *block(void) {
  return block_at(profile(), 1);
}

/* Of these events so many were general ones. */
static uint64_t general;
#define COUNT(event)                                                                               \
  do {                                                                                             \
    uint64_t before_ = block()->general_events;                                                    \
    event;                                                                                         \
    general += block()->general_events - before_;                                                  \
  } while (0)

/* Rounds whose events are general ones, and as many others: of these so many. */
static uint64_t in_rounds(void (*round)(void)) {
  token t;
  attach();
  enter(&body, &t);
  leave(&t);
  for (int i = 0; i < 2 * ROUNDS; i++) {
    if (i == 0)
      rt.usual_epoch = &epoch_never;
    if (i == ROUNDS) {
      ck_assert_uint_ge(general, ROUNDS);
      clock_choose_usual();
      general = 0;
    }
    round();
  }
  return general;
}

static const char *text(uint32_t string) {
  return string != 0 ? (const char *)profile() + ((uint64_t)string << 3) : "";
}

/* Requests that are over with that label. */
static uint64_t labelled(const char *label) {
  for (uint64_t at = APROF_HEADER_SIZE; at < profile()->used;) {
    const struct aprof_chunk *c = (const void *)((const char *)profile() + at);
    const struct aprof_kind *kinds = (const void *)(c + 1);
    for (uint32_t i = 0; c->type == APROF_CHUNK_KINDS && i < c->count; i++)
      if (kinds[i].count != 0 && strcmp(text(kinds[i].label), label) == 0)
        return kinds[i].count;
    at += c->size;
  }
  return 0;
}

static void a_labelled_one(void) {
  token r;
  enter(&serve, &r);
  COUNT(gate.about(&r, APROF_ABOUT_LABEL, APROF_VALUE_TEXT, (uintptr_t) "get", 0));
  pass(1);
  leave(&r);
  enter(&serve, &r);
  COUNT(gate.label_current(&labels, APROF_VALUE_COUNTED, (uintptr_t) "putty", 3));
  pass(1);
  leave(&r);
  enter(&serve, &r);
  new_future(&once, &on_done, KEY);
  COUNT(gate.label(&labels, KEY, 0, APROF_VALUE_UNSIGNED, 7, 0));
  run_whole(&call, KEY, &on_done, 1);
  leave(&r);
  COUNT(gate.label(&labels, KEY, 0, APROF_VALUE_TEXT, (uintptr_t) "of none", 0));
}

START_TEST(labels_of_requests) {
  ck_assert_uint_eq(in_rounds(a_labelled_one), 0);
  uint64_t rounds = 2 * ROUNDS;
  ck_assert_uint_eq(labelled("get"), rounds);
  ck_assert_uint_eq(labelled("put"), rounds);
  ck_assert_uint_eq(labelled("7"), rounds);
  ck_assert_uint_eq(labelled("of none"), 0);
}
END_TEST

static void turns(void) {
  token i, within, t;
  pass(1);
  COUNT(idle(&poller, &i));
  pass(10);
  COUNT(idle(&poller, &within)); /* the same call once more */
  pass(20);
  COUNT(idled(&within));
  enter(&body, &t); /* which the poller calls */
  pass(2);
  leave(&t);
  pass(40);
  COUNT(idled(&i));
  pass(4);
}

START_TEST(turns_of_a_loop) {
  ck_assert_uint_eq(in_rounds(turns), 0);
  uint64_t rounds = 2 * ROUNDS;
  ck_assert_uint_eq(block()->idle, 70 * rounds);
  ck_assert_uint_eq(block()->state, APROF_THREAD_OTHER);
  expect("body", "exec", 2 * rounds);
}
END_TEST

/* What runs is put aside, which may take what only general events do. */
static void a_turn_inside(void) {
  token i, t;
  enter(&body, &t);
  COUNT(idle(&poller, &i));
  pass(10);
  COUNT(idled(&i));
  leave(&t);
}

START_TEST(turns_of_a_loop_inside) {
  ck_assert_uint_eq(in_rounds(a_turn_inside), 2 * ROUNDS);
  expect("body @ poller", "waiting", 10 * 2 * ROUNDS);
}
END_TEST

static void blocks(void) {
  token c = {0}, t;
  enter(&body, &t);
  pass(1);
  COUNT(gate.blocking_begin(&writes, &c));
  pass(5);
  COUNT(gate.blocking_end(&c));
  leave(&t);
}

START_TEST(calls_that_block) {
  ck_assert_uint_eq(in_rounds(blocks), 0);
  expect("body", "exec", 6 * 2 * ROUNDS);
}
END_TEST

UNIT_MAIN("light", labels_of_requests, turns_of_a_loop, turns_of_a_loop_inside, calls_that_block)
