/* SPDX-License-Identifier: MIT */
/* The rings of the trace: when there is one, and what is said of what is not in it. */
#include "traced.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "rt/rt.h"

enum { CAPACITY = APROF_TRACE_LEAST / sizeof(struct aprof_trace_event) };

/* -- on and off ------------------------------------------------------------------- */

START_TEST(nothing_while_it_is_off) {
  attach();
  for (int i = 0; i < 10; i++)
    a_call();
  ck_assert_uint_eq(block_at(profile(), 1)->ring, 0);
  ck_assert_uint_eq(head(), 0);
  ck_assert_uint_eq(profile()->usual, profile()->epoch);
}
END_TEST

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

enum { CROWD = 24 };
static pthread_barrier_t all_have;

static void *calls_in_a_crowd(void *arg) {
  token b;
  enter(&body, &b);
  leave(&b);
  pthread_barrier_wait(&all_have);
  return arg;
}

START_TEST(rings_leave_room_for_threads) {
  pthread_t thread[CROWD];
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",memory:4M", 1);
  attach();
  a_call();
  record(UINT64_MAX, 1u << 30);
  pthread_barrier_init(&all_have, NULL, CROWD);
  for (int i = 0; i < CROWD; i++)
    ck_assert_int_eq(pthread_create(&thread[i], NULL, calls_in_a_crowd, NULL), 0);
  for (int i = 0; i < CROWD; i++)
    ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
  uint64_t rings = 0;
  for (uint32_t i = 1; i <= 1 + CROWD; i++) {
    const struct aprof_block *b = block_at(profile(), i);
    ck_assert_ptr_nonnull(b);
    rings += b->ring != 0 ? sizeof(struct aprof_trace_event) << b->ring_bits : 0;
  }
  ck_assert_uint_eq(profile()->lost_events, 0);
  ck_assert_uint_gt(rings, 1u << 20);
  ck_assert_uint_le(rings, (4u << 20) / 8 * 5);
}
END_TEST

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

/* What the process had before somebody traced is not taken for rings. */
START_TEST(a_ring_of_what_futures_left) {
  token call;
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",memory:4M", 1);
  attach();
  a_call();
  while (profile()->used < 3u << 20)
    enter(&body, &call);
  record(UINT64_MAX, 1u << 30);
  on_a_thread();
  const struct aprof_block *b = block_at(profile(), 2);
  ck_assert_ptr_nonnull(b);
  ck_assert_uint_ne(b->ring, 0);
  ck_assert_uint_le(sizeof(struct aprof_trace_event) << b->ring_bits, 256u << 10);
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

UNIT_MAIN("ring", nothing_while_it_is_off, on_while_something_runs, off_and_on_again,
          a_recorder_that_died, a_flight_goes_on_without_a_recorder, off_on_and_reset_of_profiling,
          a_ring_that_wraps, a_ring_leaves_room_for_the_rest, rings_leave_room_for_threads,
          a_ring_of_what_futures_left, no_room_for_a_ring, a_block_leased_again,
          a_child_has_a_trace_of_its_own, a_process_that_is_killed, with_a_callback,
          bad_sizes_of_a_flight)
