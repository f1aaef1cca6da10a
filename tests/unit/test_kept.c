/* SPDX-License-Identifier: MIT */
/* A trace of some requests: rt/trace/kept.c. Which are kept, and what is told of the others. */
#include "traced.h"

#include "rt/rt.h"

enum { NS = 7, KEY = 0xabc0 };
FUNCTION_SITE(child);
SITE_(serve, APROF_SITE_FUNCTION, APROF_MODEL_STACK, APROF_ROOT, 0);
SITE_(idle_wait, APROF_SITE_AWAIT, 0, APROF_BACKGROUND, 0);
CALLBACK_SITE(on_done);
CREATE_SITE(once, APROF_ONCE, NS);
RUN_SITE(call, 0, NS);
SITE_(hander, APROF_SITE_WAKE, 0, APROF_HAND, NS);

#define NONE 0u
#define ALL UINT32_MAX

static void record_share(uint32_t share) {
  struct aprof_header *h = header();
  h->trace_share = share;
  h->mode |= APROF_TRACE_SHARED;
  record(UINT64_MAX, 0);
}

/* serve, which calls child and waits. */
static void a_request(void) {
  token r, c, a;
  enter(&serve, &r);
  pass(1);
  enter(&child, &c);
  pass(2);
  leave(&c);
  suspend(&nap, &a);
  pass(10);
  resume(&a);
  pass(4);
  leave(&r);
}

#define WHOLE "BEGIN born join runs aside+1 born join runs done+2 runs waits runs+10 done+4 END"

START_TEST(all_of_one_or_who_holds_the_thread) {
  attach();
  a_call();
  record_share(ALL);
  a_request();
  ck_assert_str_eq(told(1, 0), "THREAD " WHOLE);
  header()->trace_share = NONE; /* of the next one, at once */
  uint64_t before = head();
  pass(5);
  a_request();
  ck_assert_str_eq(told(1, before), "held other+3 held+10 other+4");
  before = head();
  pass(5);
  a_call(); /* part of none */
  ck_assert_str_eq(told(1, before), "held other+1 held+10 other+2");
  ck_assert_uint_eq(profile()->begun_requests, 2);
  ck_assert_uint_eq(profile()->kept_requests, 1);
}
END_TEST

START_TEST(what_began_before_is_left_out) {
  attach();
  token r, a, b;
  enter(&serve, &r);
  pass(1);
  record_share(ALL);
  suspend(&nap, &a);
  pass(10);
  resume(&a);
  enter(&serve, &b); /* begins in one that is left out */
  pass(1);
  leave(&b);
  pass(3);
  leave(&r);
  ck_assert_str_eq(told(1, 0), "THREAD held other+1 held+10 other+4");
}
END_TEST

START_TEST(what_a_kept_one_begins_is_kept) {
  attach();
  a_call();
  record_share(ALL);
  token r, b;
  enter(&serve, &r);
  pass(1);
  header()->trace_share = NONE;
  enter(&serve, &b);
  pass(2);
  leave(&b);
  leave(&r);
  ck_assert_str_eq(told(1, 0), "THREAD BEGIN born join runs aside+1 BEGIN born join runs done+2 "
                               "runs END done END");
}
END_TEST

START_TEST(a_share_is_one) {
  attach();
  a_call();
  record_share(UINT32_MAX / 10);
  unsigned longest = 0, since = 0;
  for (int i = 0; i < 1000; i++) {
    uint64_t kept = profile()->kept_requests;
    a_request();
    since = profile()->kept_requests > kept ? 0 : since + 1;
    longest = since > longest ? since : longest;
  }
  ck_assert_uint_ge(profile()->kept_requests, 97);
  ck_assert_uint_le(profile()->kept_requests, 103);
  ck_assert_uint_le(longest, 13); /* evenly */
}
END_TEST

/* A listener: each of its turns is a request, between which it is part of none. */
START_TEST(it_comes_and_goes) {
  attach();
  token b, a;
  enter(&body, &b);
  pass(1);
  record_share(ALL);
  suspend(&idle_wait, &a);
  pass(100);
  resume(&a);
  uint64_t before = head();
  pass(2);
  suspend(&idle_wait, &a);
  pass(100);
  ck_assert_str_eq(told(1, 0),
                   "THREAD held other+1 held+100 BEGIN born join runs waits+2 END join");
  header()->trace_share = NONE;
  resume(&a);
  before = head();
  pass(2);
  leave(&b);
  ck_assert_str_eq(told(1, before), "other");
}
END_TEST

START_TEST(one_is_handed_to_a_kept_one) {
  attach();
  token r, b, a, t;
  enter(&body, &b);
  new_future(&once, &on_done, KEY);
  leave(&b);
  record_share(ALL);
  pass(10);
  enter(&serve, &r);
  pass(1);
  gate.wake(&hander, KEY, 0);
  suspend(&nap, &a);
  pass(4);
  uint64_t before = head();
  run(&call, &t, KEY, &on_done);
  pass(2);
  ran(&t, APROF_DONE);
  ck_assert_str_eq(told(1, before), "ready runs+4 done+2");
  resume(&a);
  leave(&r);
  ck_assert_str_eq(told(1, 0),
                   "THREAD BEGIN+10 born join runs born+1 join waits ready waits ready runs+4 "
                   "done+2 runs done END");
}
END_TEST

/* sample= does not hold: as if it had not been taken. */
START_TEST(one_is_left_out_as_it_begins) {
  attach();
  a_call();
  record_share(ALL);
  token r, a, n;
  enter(&serve, &r);
  gate.about(&r, APROF_ABOUT_LEFT_OUT, APROF_VALUE_UNSIGNED, 0, 0);
  ck_assert_uint_eq(profile()->kept_requests, 0);
  pass(1);
  enter(&serve, &n); /* what it begins is with it */
  pass(2);
  leave(&n);
  uint64_t before = head();
  new_future(&once, &on_done, KEY);
  suspend(&nap, &a);
  pass(10);
  resume(&a);
  pass(4);
  leave(&r);
  pass(1);
  run(&call, &n, KEY, &on_done);
  pass(2);
  ran(&n, APROF_DONE);
  ck_assert_str_eq(told(1, 0), "THREAD BEGIN born join runs END join held other+3 held+10 other+4 "
                               "held+1 other+2");
  ck_assert_uint_lt(before, head());
  before = head();
  a_request(); /* the next one is kept */
  ck_assert_str_eq(told(1, before), WHOLE);
  ck_assert_uint_eq(profile()->begun_requests, 3);
  ck_assert_uint_eq(profile()->kept_requests, 1);
}
END_TEST

START_TEST(from_a_share_to_everything) {
  attach();
  a_call();
  record_share(NONE);
  a_call();
  header()->mode &= ~(uint32_t)APROF_TRACE_SHARED;
  aprof_trace_anew(header());
  uint64_t before = head();
  a_call();
  ck_assert_str_eq(told(1, before), "THREAD born runs waits+1 runs+10 done+2");
}
END_TEST

START_TEST(a_flight_of_a_share) {
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",trace:flight=128K/1000000", 1);
  attach();
  a_request();
  ck_assert_str_eq(told(1, 0), "THREAD held other+3 held+10 other+4");
  struct aprof_header *h = header();
  h->mode = APROF_TRACE_FLIGHT | APROF_TRACE_RECORD; /* somebody records everything, and dies */
  aprof_trace_anew(h);
  __atomic_store_n(&h->trace_until, h->virtual_now + 100, __ATOMIC_RELAXED);
  uint64_t before = head();
  a_request();
  ck_assert_str_eq(told(1, before), "THREAD " WHOLE);
  pass(200);
  a_call();
  before = head();
  a_request();
  ck_assert_str_eq(told(1, before), "held other+3 held+10 other+4");
  ck_assert_uint_eq(h->mode, APROF_TRACE_FLIGHT | APROF_TRACE_SHARED);
}
END_TEST

/* Of each model some, in a request and outside of one. */
static void a_bit_of_all(void) {
  token r, c, a, t;
  enter(&serve, &r);
  pass(1);
  enter(&child, &c);
  pass(2);
  leave(&c);
  new_future(&once, &on_done, KEY);
  suspend(&nap, &a);
  pass(10);
  resume(&a);
  pass(4);
  leave(&r);
  pass(1);
  run(&call, &t, KEY, &on_done); /* goes on behind its request's root */
  pass(3);
  ran(&t, APROF_DONE);
  a_call();
  pass(2);
  new_future(&once, &on_done, KEY);
  pass(1);
  run(&call, &t, KEY, &on_done);
  pass(1);
  ran(&t, APROF_DONE);
}

/* What it tells; `fast`: how many of its events are. */
static char *said(bool is_fast, uint32_t *fast) {
  const struct aprof_block *b = block_at(profile(), 1);
  const uint32_t *usual = rt.usual_epoch;
  if (!is_fast)
    rt.usual_epoch = &epoch_never;
  uint64_t before = head();
  uint32_t count = b->traced;
  a_bit_of_all();
  rt.usual_epoch = usual;
  *fast = b->traced - count;
  return strdup(told(1, before));
}

START_TEST(fast_events_tell_the_same) {
  static const uint32_t shares[] = {ALL, NONE};
  attach();
  a_call();
  record_share(ALL);
  for (size_t i = 0; i < 2; i++) {
    uint32_t fast, general;
    header()->trace_share = shares[i];
    for (int warm = 0; warm < 40; warm++)
      a_bit_of_all();
    char *one = said(true, &fast), *other = said(false, &general);
    ck_assert_str_eq(one, other);
    ck_assert_ptr_nonnull(strstr(one, shares[i] == ALL ? "BEGIN born join runs" : "held other"));
    ck_assert_uint_ge(fast, 10);
    ck_assert_uint_eq(general, 0);
    free(one);
    free(other);
  }
}
END_TEST

START_TEST(bad_shares_of_a_flight) {
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",trace:flight=128K/0,trace:flight=128K/,trace:flight=1M/x",
         1);
  attach();
  a_call();
  ck_assert_uint_eq(profile()->mode, 0);
}
END_TEST

UNIT_MAIN("kept", all_of_one_or_who_holds_the_thread, what_began_before_is_left_out,
          what_a_kept_one_begins_is_kept, a_share_is_one, it_comes_and_goes,
          one_is_handed_to_a_kept_one, one_is_left_out_as_it_begins, from_a_share_to_everything,
          a_flight_of_a_share, fast_events_tell_the_same, bad_shares_of_a_flight)
