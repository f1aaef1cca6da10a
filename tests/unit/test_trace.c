/* SPDX-License-Identifier: MIT */
/*
 * The trace: what is in a ring, when there is one, and what is said of what is not in it. That its
 * events add up to what is counted, over all transitions, the other tests ask: each runs once more
 * with the trace on (UNIT_TRACED_MAIN), and so do half of the random programs.
 */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "rt/rt.h"

enum { NS = 7, KEY = 0xabc0, CAPACITY = APROF_TRACE_LEAST / sizeof(struct aprof_trace_event) };
FUNCTION_SITE(body);
FUNCTION_SITE(child);
SITE_(serve, APROF_SITE_FUNCTION, APROF_MODEL_STACK, APROF_ROOT, 0);
CALLBACK_SITE(on_done);
AWAIT_SITE(nap);
AWAIT_SITE(inner);
IDLE_SITE(poller);
CREATE_SITE(once, APROF_ONCE, NS);
RUN_SITE(call, 0, NS);
RUN_SITE(poll, APROF_POLLING, NS);
WAKE_SITE(waker, NS);

/* -- the ring ---------------------------------------------------------------- */

static struct aprof_header *header(void) {
  return (struct aprof_header *)(uintptr_t)profile();
}

static const struct aprof_block *block_at(const struct aprof_header *h, uint32_t number) {
  for (uint64_t at = h->header_size; at < h->used;) {
    const struct aprof_chunk *c = (const void *)((const char *)h + at);
    if (c->type == APROF_CHUNK_BLOCK && c->first == number)
      return (const void *)(c + 1);
    at += c->size;
  }
  return NULL;
}

static struct aprof_trace_event event_at(const struct aprof_header *h, const struct aprof_block *b,
                                         uint64_t number) {
  const struct aprof_trace_event *ring = (const void *)((const char *)h + b->ring);
  return ring[number & (((uint64_t)1 << b->ring_bits) - 1)];
}

static const char *const kind_names[APROF_TRACE_KINDS] = {
    "none",  "more",   "THREAD", "gone", "epoch", "gap",    "other", "idle", "out",   "stolen",
    "born",  "unborn", "named",  "done", "fail",  "cancel", "ready", "wake", "runs",  "polled",
    "waits", "again",  "aside",  "ran",  "node",  "join",   "BEGIN", "END",  "token", "tier",
};

/* The kinds from that event of the block on, with the ns since the one before, but for what MORE
   has. */
static const char *told(uint32_t block, uint64_t from) {
  static char text[4096];
  const struct aprof_block *b = block_at(profile(), block);
  uint64_t last = 0;
  size_t length = 0;
  text[0] = '\0';
  for (uint64_t n = from; n < b->ring_head; n++) {
    struct aprof_trace_event e = event_at(profile(), b, n);
    ck_assert(aprof_trace_whole(&e, n, b->ring_bits, b->ring_head));
    ck_assert_uint_lt(aprof_trace_kind(&e), APROF_TRACE_KINDS);
    if (aprof_trace_kind(&e) == APROF_TRACE_MORE)
      continue;
    uint64_t tick = aprof_trace_tick(&e, last ? last : profile()->tick0);
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", length ? " " : "",
                               kind_names[aprof_trace_kind(&e)]);
    if (last && tick != last)
      length +=
          (size_t)snprintf(text + length, sizeof text - length, "%+lld", (long long)(tick - last));
    last = tick;
  }
  return text;
}

static uint64_t head(void) {
  return block_at(profile(), 1)->ring_head;
}

/* As a recorder does from another process. */
static void record(uint64_t until, uint64_t size) {
  struct aprof_header *h = header();
  h->trace_size = size;
  h->mode |= APROF_TRACE_RECORD;
  __atomic_store_n(&h->trace_until, until, __ATOMIC_RELAXED);
  aprof_trace_switch(h, 1);
}

static void a_call(void) {
  token b, a;
  enter(&body, &b);
  pass(1);
  suspend(&nap, &a);
  pass(10);
  resume(&a);
  pass(2);
  leave(&b);
}

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
}
END_TEST

START_TEST(nothing_while_it_is_off) {
  attach();
  for (int i = 0; i < 10; i++)
    a_call();
  ck_assert_uint_eq(block_at(profile(), 1)->ring, 0);
  ck_assert_uint_eq(head(), 0);
  ck_assert_uint_eq(profile()->usual, profile()->epoch);
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

/* -- on and off ------------------------------------------------------------------- */

START_TEST(on_while_something_runs) {
  attach();
  token b, a;
  a_call();
  enter(&body, &b);
  pass(7);
  record(UINT64_MAX, 0);
  pass(5);
  suspend(&nap, &a);
  const struct aprof_block *ring = block_at(profile(), 1);
  struct aprof_trace_event e = event_at(profile(), ring, 0), more = event_at(profile(), ring, 1);
  ck_assert_str_eq(told(1, 0), "THREAD waits+12");
  ck_assert_uint_eq(aprof_trace_future(&e), index_of(record_of(b.word[1])));
  ck_assert_uint_eq(aprof_trace_a(&more), profile()->epoch | (uint64_t)APROF_THREAD_OTHER << 32 |
                                              (uint64_t)APROF_THREAD_RUNNING << 40);
  resume(&a);
  leave(&b);
}
END_TEST

START_TEST(off_and_on_again) {
  attach();
  a_call();
  record(UINT64_MAX, 0);
  a_call();
  aprof_trace_switch(header(), 0);
  uint64_t before = head();
  for (int i = 0; i < 3; i++)
    a_call();
  ck_assert_uint_eq(head(), before);
  record(UINT64_MAX, 0);
  a_call();
  ck_assert_str_eq(told(1, before), "gap THREAD born runs waits+1 runs+10 done+2");
  struct aprof_trace_event e = event_at(profile(), block_at(profile(), 1), before + 1);
  ck_assert_uint_eq(aprof_trace_a(&e), 3 * 4);
  /* Off and on between two events of the thread, as it seems to it. */
  before = head();
  aprof_trace_switch(header(), 0);
  a_call();
  aprof_trace_switch(header(), 1);
  a_call();
  ck_assert_msg(strstr(told(1, before), "THREAD") != NULL, "%s", told(1, before));
}
END_TEST

START_TEST(a_recorder_that_died) {
  attach();
  a_call();
  record(profile()->virtual_now + 100, 0);
  a_call();
  ck_assert_uint_ne(profile()->usual & APROF_TRACED, 0);
  uint64_t before = head();
  pass(200);
  a_call(); /* its first event finds out how late it is */
  a_call();
  ck_assert_str_eq(told(1, before), "born runs");
  ck_assert_uint_eq(profile()->usual, profile()->epoch);
  ck_assert_uint_eq(profile()->mode, 0);
}
END_TEST

START_TEST(a_flight_goes_on_without_a_recorder) {
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",trace:flight=128K", 1);
  attach();
  a_call();
  ck_assert_str_eq(told(1, 0), "THREAD born runs waits+1 runs+10 done+2");
  ck_assert_uint_eq(block_at(profile(), 1)->ring_bits, 13);
  record(profile()->virtual_now + 5, 0);
  pass(100);
  a_call();
  a_call();
  ck_assert_uint_ne(profile()->usual & APROF_TRACED, 0);
  ck_assert_uint_eq(profile()->trace_until, UINT64_MAX);
}
END_TEST

START_TEST(off_on_and_reset_of_profiling) {
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",trace:flight=128K", 1);
  attach();
  a_call();
  token b;
  enter(&body, &b);
  uint64_t before = head();
  pass(3);
  gate.api_enable(0);
  pass(50);
  gate.api_enable(1);
  ck_assert_uint_eq(profile()->usual, profile()->epoch | APROF_TRACED);
  pass(4);
  leave(&b); /* of an epoch that is over */
  ck_assert_str_eq(told(1, before), "epoch THREAD+50");
  before = head();
  pass(5);
  gate.api_reset();
  a_call();
  ck_assert_str_eq(told(1, before), "epoch THREAD born runs waits+1 runs+10 done+2");
}
END_TEST

/* -- what there is no room for ------------------------------------------------------ */

START_TEST(a_ring_that_wraps) {
  attach();
  a_call();
  record(UINT64_MAX, APROF_TRACE_LEAST);
  for (int i = 0; i < CAPACITY; i++)
    a_call();
  const struct aprof_block *b = block_at(profile(), 1);
  ck_assert_uint_gt(b->ring_head, 5 * CAPACITY);
  for (uint64_t n = 0; n < b->ring_head; n++) {
    struct aprof_trace_event e = event_at(profile(), b, n);
    ck_assert_int_eq(aprof_trace_whole(&e, n, b->ring_bits, b->ring_head),
                     n + CAPACITY >= b->ring_head);
  }
}
END_TEST

START_TEST(a_ring_leaves_room_for_the_rest) {
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",memory:2M", 1);
  attach();
  a_call();
  record(UINT64_MAX, 1u << 30);
  a_call();
  const struct aprof_block *b = block_at(profile(), 1);
  ck_assert_uint_ne(b->ring, 0);
  ck_assert_uint_le(sizeof(struct aprof_trace_event) << b->ring_bits, 512u << 10);
  ck_assert_uint_eq(b->ring_lost, 0);
}
END_TEST

START_TEST(no_room_for_a_ring) {
  attach();
  a_call();
  rt.confined = true; /* the program has given up system calls */
  record(UINT64_MAX, 16u << 20);
  for (int i = 0; i < 3; i++)
    a_call();
  rt.confined = false;
  const struct aprof_block *b = block_at(profile(), 1);
  ck_assert_uint_eq(b->ring, 0);
  ck_assert_uint_eq(b->ring_lost, 3 + 3 * 6); /* THREAD, and six events of each */
  expect("body", "done", 4);
  aprof_trace_switch(header(), 0);
  a_call();
  record(UINT64_MAX, 0);
  a_call();
  ck_assert_uint_eq(b->ring_lost, 3 + 3 * 6);
  ck_assert_str_eq(told(1, 0), "gap THREAD born runs waits+1 runs+10 done+2");
}
END_TEST

/* -- threads and processes -------------------------------------------------------------- */

static void *calls_once(void *unused) {
  (void)unused;
  a_call();
  return NULL;
}

static void on_a_thread(void) {
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, calls_once, NULL), 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

START_TEST(a_block_leased_again) {
  attach();
  a_call();
  record(UINT64_MAX, 0);
  on_a_thread();
  on_a_thread();
  const struct aprof_block *b = block_at(profile(), 2);
  ck_assert_str_eq(told(2, 0), "THREAD born runs waits+1 runs+10 done+2 gone THREAD born runs "
                               "waits+1 runs+10 done+2 gone");
  struct aprof_trace_event second = event_at(profile(), b, 2);
  ck_assert_uint_eq(aprof_trace_a(&second), 1); /* the lease */
  ck_assert_uint_eq(b->leases, 2);
}
END_TEST

START_TEST(a_child_has_a_trace_of_its_own) {
  attach();
  a_call();
  record(UINT64_MAX, 0);
  a_call();
  uint64_t before = head();
  pid_t other = fork();
  if (other == 0) {
    a_call();
    _exit(profile()->usual & APROF_TRACED ? 2 : head() != 0);
  }
  int status;
  ck_assert_int_eq(waitpid(other, &status, 0), other);
  ck_assert_int_eq(status, 0);
  ck_assert_uint_eq(head(), before);
  a_call();
  ck_assert_str_eq(told(1, before), "born runs waits+1 runs+10 done+2");
}
END_TEST

/* The profile of another process, which has it open without a name. */
static const struct aprof_header *profile_of(pid_t pid) {
  char path[64], target[64];
  for (int fd = 3; fd < 1024; fd++) {
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0 || strncmp(target, "/memfd:aprof", 12) != 0)
      continue;
    int own = open(path, O_RDONLY | O_CLOEXEC);
    struct aprof_header h;
    ck_assert_int_eq(pread(own, &h, sizeof h, 0), sizeof h);
    void *all = mmap(NULL, h.capacity, PROT_READ, MAP_SHARED, own, 0);
    ck_assert_ptr_ne(all, MAP_FAILED);
    close(own);
    if (h.pid == pid)
      return all;
  }
  return NULL;
}

START_TEST(a_process_that_is_killed) {
  int ready[2];
  ck_assert_int_eq(pipe(ready), 0);
  pid_t other = fork();
  if (other == 0) {
    setenv("APROF_OPTIONS", UNIT_OPTIONS ",trace:flight=128K", 1);
    attach();
    a_call();
    token b;
    enter(&body, &b);
    ck_assert_int_eq(write(ready[1], "!", 1), 1);
    for (;;)
      pause();
  }
  char byte;
  ck_assert_int_eq(read(ready[0], &byte, 1), 1);
  const struct aprof_header *h = profile_of(other);
  ck_assert_ptr_nonnull(h);
  ck_assert_int_eq(kill(other, SIGKILL), 0);
  ck_assert_int_eq(waitpid(other, NULL, 0), other);
  const struct aprof_block *b = block_at(h, 1);
  struct aprof_trace_event last = event_at(h, b, b->ring_head - 1);
  ck_assert(aprof_trace_whole(&last, b->ring_head - 1, b->ring_bits, b->ring_head));
  ck_assert_uint_eq(aprof_trace_kind(&last), APROF_TRACE_RUNNING);
  ck_assert_uint_ne(h->mode & APROF_TRACE_FLIGHT, 0);
}
END_TEST

/* -- with others --------------------------------------------------------------------------- */

static unsigned heard;
static void hear(const struct aprof_user_event *event, void *unused) {
  (void)event;
  (void)unused;
  heard++;
}

START_TEST(with_a_callback) {
  attach();
  a_call();
  gate.api_callback(hear, NULL);
  record(UINT64_MAX, 0);
  a_call();
  ck_assert_uint_eq(heard, 5);
  ck_assert_str_eq(told(1, 0), "THREAD born runs waits+1 runs+10 done+2");
  aprof_trace_switch(header(), 0);
  a_call();
  ck_assert_uint_eq(heard, 10);
  gate.api_callback(NULL, NULL);
  record(UINT64_MAX, 0);
  a_call();
  ck_assert_uint_eq(heard, 10);
  expect("body", "done", 4);
}
END_TEST

START_TEST(bad_sizes_of_a_flight) {
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",trace:flight=10,trace:flight=9G,trace:4M", 1);
  attach();
  a_call();
  ck_assert_uint_eq(profile()->mode, 0);
  ck_assert_uint_eq(head(), 0);
}
END_TEST

UNIT_MAIN("trace", words_come_back, nothing_while_it_is_off, a_call_as_events, a_callback_as_events,
          an_await_within_an_await, a_poll_as_events, a_request_as_events, on_while_something_runs,
          off_and_on_again, a_recorder_that_died, a_flight_goes_on_without_a_recorder,
          off_on_and_reset_of_profiling, a_ring_that_wraps, a_ring_leaves_room_for_the_rest,
          no_room_for_a_ring, a_block_leased_again, a_child_has_a_trace_of_its_own,
          a_process_that_is_killed, with_a_callback, bad_sizes_of_a_flight)
