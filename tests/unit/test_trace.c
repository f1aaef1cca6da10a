/* SPDX-License-Identifier: MIT */
/*
 * The trace: which events a call, a callback, a request are. That events add up to what is counted,
 * over all transitions, the other tests ask: each runs once more with the trace on
 * (UNIT_TRACED_MAIN), and so do half of the random programs.
 */
#include "traced.h"

enum { NS = 7, KEY = 0xabc0 };
FUNCTION_SITE(child);
SITE_(serve, APROF_SITE_FUNCTION, APROF_MODEL_STACK, APROF_ROOT, 0);
CALLBACK_SITE(on_done);
AWAIT_SITE(inner);
IDLE_SITE(poller);
CREATE_SITE(once, APROF_ONCE, NS);
RUN_SITE(call, 0, NS);
RUN_SITE(poll, APROF_POLLING, NS);
WAKE_SITE(waker, NS);

/* -- what is told ---------------------------------------------------------------- */

START_TEST(words_come_back) {
  struct aprof_trace_event e;
  const uint64_t tick = ((uint64_t)1 << 56) - 5, number = 4096 * 300 + 7;
  aprof_trace_put(&e, aprof_trace_lap(number, 12), APROF_TRACE_WAITING, tick + 20,
                  aprof_trace_what(0xabcdef1, 0xfedcb));
  ck_assert_uint_eq(aprof_trace_kind(&e), APROF_TRACE_WAITING);
  ck_assert_uint_eq(aprof_trace_future(&e), 0xabcdef1);
  ck_assert_uint_eq(aprof_trace_node(&e), 0xfedcb);
  ck_assert_uint_eq(aprof_trace_tick(&e, tick), tick + 20); /* over the edge */
  ck_assert_uint_eq(aprof_trace_tick(&e, tick + 40), tick + 20);
  ck_assert(aprof_trace_whole(&e, number, 12, number + 1));
  ck_assert(aprof_trace_whole(&e, number, 12, number + 4096));
  ck_assert(!aprof_trace_whole(&e, number, 12, number + 4097)); /* overwritten */
  ck_assert(!aprof_trace_whole(&e, number, 12, number));        /* not yet there */
  ck_assert(!aprof_trace_whole(&e, number + 4096, 12, number + 4097));
  struct aprof_trace_event torn = e;
  aprof_trace_put(&e, aprof_trace_lap(number + 4096, 12), APROF_TRACE_DONE, 0, 0);
  torn.w[1] = e.w[1];
  ck_assert(!aprof_trace_whole(&torn, number, 12, number + 1));
  ck_assert(!aprof_trace_whole(&torn, number + 4096, 12, number + 4097));
  const uint64_t trace[2] = {0x0123456789abcdef, 0xfedcba9876543210}, span = 0x1122334455667788;
  uint64_t ab[4], again[2], span_again;
  aprof_trace_token(trace, span, ab);
  for (int i = 0; i < 4; i++)
    ck_assert_uint_eq(ab[i] >> (i % 2 ? 48 : 56), 0);
  aprof_trace_token_read(ab, again, &span_again);
  ck_assert_uint_eq(again[0], trace[0]);
  ck_assert_uint_eq(again[1], trace[1]);
  ck_assert_uint_eq(span_again, span);
  aprof_trace_parent(span, ab);
  ck_assert_uint_eq(ab[0] >> 56, 0);
  ck_assert_uint_eq(aprof_trace_parent_read(ab), span);
}
END_TEST

START_TEST(a_call_as_events) {
  attach();
  a_call();
  record(UINT64_MAX, APROF_TRACE_LEAST);
  token b, c, a;
  enter(&body, &b);
  pass(1);
  enter(&child, &c);
  pass(2);
  suspend(&nap, &a);
  pass(30);
  resume(&a);
  pass(4);
  leave(&c);
  leave(&b);
  ck_assert_str_eq(told(1, 0),
                   "THREAD born runs aside+1 born runs waits+2 runs+30 done+4 runs done");
  ck_assert_uint_eq(block_at(profile(), 1)->ring_bits, 12);
  ck_assert_uint_eq(block_at(profile(), 1)->ring_lost, 0);
}
END_TEST

START_TEST(a_callback_as_events) {
  attach();
  a_call();
  record(UINT64_MAX, 0);
  token i, r;
  idle(&poller, &i);
  pass(5);
  idled(&i);
  new_future(&once, &on_done, KEY);
  pass(100);
  wake(&waker, KEY);
  pass(20);
  run(&call, &r, KEY, &on_done);
  pass(3);
  ran(&r, APROF_DONE);
  ck_assert_str_eq(told(1, 0), "THREAD idle other+5 born waits wake+100 ready runs+20 done+3");
}
END_TEST

START_TEST(an_await_within_an_await) {
  attach();
  a_call();
  record(UINT64_MAX, 0);
  token b, stack[2]; /* which grows down */
  enter(&body, &b);
  suspend(&nap, &stack[1]);
  pass(3);
  suspend(&inner, &stack[0]);
  pass(50);
  resume(&stack[0]);
  resume(&stack[1]);
  leave(&b);
  ck_assert_str_eq(told(1, 0), "THREAD born runs waits ran+3 runs+50 done");
}
END_TEST

START_TEST(a_poll_as_events) {
  attach();
  a_call();
  record(UINT64_MAX, 0);
  token r;
  new_future(&once, &on_done, KEY);
  pass(10);
  run(&poll, &r, KEY, &on_done);
  pass(1);
  ran(&r, APROF_POLLED);
  pass(20);
  run(&poll, &r, KEY, &on_done);
  pass(2);
  ran(&r, APROF_DONE);
  ck_assert_str_eq(told(1, 0), "THREAD born waits polled+10 again+1 polled+20 done+2");
}
END_TEST

START_TEST(a_request_as_events) {
  attach();
  a_call();
  record(UINT64_MAX, 0);
  token r, c;
  enter(&serve, &r);
  pass(1);
  enter(&child, &c);
  pass(2);
  leave(&c);
  pass(4);
  leave(&r);
  ck_assert_str_eq(told(1, 0), "THREAD BEGIN born join runs aside+1 born join runs done+2 runs "
                               "done+4 END");
  const struct aprof_block *b = block_at(profile(), 1);
  for (uint64_t n = 0; n < b->ring_head; n++) {
    struct aprof_trace_event e = event_at(profile(), b, n), more = event_at(profile(), b, n + 1);
    if (aprof_trace_kind(&e) == APROF_TRACE_JOIN)
      ck_assert_uint_eq(aprof_trace_b(&more), n < 10 ? APROF_TRACE_ROOT : APROF_TRACE_CALLED);
  }
}
END_TEST

/* Its own span and its parent's: what a collector hangs it under. */
START_TEST(a_token_as_events) {
  attach();
  a_call();
  record(UINT64_MAX, 0);
  token r;
  enter(&serve, &r);
  ck_assert_int_eq(gate.api_token_set("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
                   0);
  leave(&r);
  ck_assert_str_eq(told(1, 0), "THREAD BEGIN born join runs done token END");
  const struct aprof_block *b = block_at(profile(), 1);
  for (uint64_t n = 0; n < b->ring_head; n++) {
    struct aprof_trace_event e = event_at(profile(), b, n), more = event_at(profile(), b, n + 3);
    const uint64_t parent[2] = {aprof_trace_a(&more), aprof_trace_b(&more)};
    if (aprof_trace_kind(&e) == APROF_TRACE_TOKEN)
      ck_assert_uint_eq(aprof_trace_parent_read(parent), 0xb7ad6b7169203331);
  }
}
END_TEST

UNIT_MAIN("trace", words_come_back, a_call_as_events, a_callback_as_events,
          an_await_within_an_await, a_poll_as_events, a_request_as_events, a_token_as_events)
