/* SPDX-License-Identifier: MIT */
/*
 * From a ring to a story: record/drain.c, recorder.c, trace-write.c, trace-read.c, streams.c,
 * replay-*.c, balance.c. The ring is written here, event by event, in a profile made to measure.
 */
#include "read/util.h"
#include "record/balance.h"
#include "record/drain.h"
#include "record/recorder.h"
#include "record/replay-state.h"
#include "record/switch.h"
#include "suite.h"
#include "synthetic.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BITS = 6, GET_FUTURE = 1, PUT_FUTURE = 2, BLOCK = 1, START = 10000 };

static struct synthetic *made;
static struct aprof_block *block;
static struct aprof_trace_event *ring;
static uint32_t get, pool, put, span;
static char path[64];
static int file;

static void setup(void) {
  made = synthetic_new();
  uint32_t site[] = {synthetic_site(made, APROF_SITE_FUNCTION, "get", "item.c", 5, 1),
                     synthetic_site(made, APROF_SITE_AWAIT, "pool_get", "db.c", 77, 3),
                     synthetic_site(made, APROF_SITE_FUNCTION, "put", "item.c", 50, 1),
                     synthetic_site(made, APROF_SITE_SPAN, "parse", "item.c", 60, 1)};
  get = synthetic_node(made, 0, site[0], APROF_NODE_FUNCTION);
  pool = synthetic_node(made, get, site[1], APROF_NODE_AWAIT);
  put = synthetic_node(made, 0, site[2], APROF_NODE_FUNCTION);
  span = synthetic_node(made, get, site[3], APROF_NODE_SPAN);
  block = synthetic_block(made, BLOCK);
  block->tid = 4242;
  strcpy(block->name, "loop");
  ring = synthetic_chunk(made, APROF_CHUNK_RING, BLOCK, 0, 1u << BITS, sizeof *ring);
  block->ring = (uint64_t)((unsigned char *)ring - made->bytes);
  block->ring_bits = BITS;
  block->last = START + 1000;
  file = memfd_create("recording", MFD_CLOEXEC);
  ck_assert_int_ge(file, 0);
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
}

static void teardown(void) {
  close(file);
  free(made);
}

/* -- events -------------------------------------------------------------------------- */

static void event(uint32_t kind, uint32_t future, uint32_t node, uint64_t tick) {
  uint64_t number = block->ring_head++;
  aprof_trace_put(ring + (number & ((1u << BITS) - 1)), aprof_trace_lap(number, BITS), kind, tick,
                  aprof_trace_what(future, node));
}

static void more(uint64_t a, uint64_t b) {
  uint64_t number = block->ring_head++;
  aprof_trace_put(ring + (number & ((1u << BITS) - 1)), aprof_trace_lap(number, BITS),
                  APROF_TRACE_MORE, a, b);
}

static void thread_begins(void) {
  event(APROF_TRACE_THREAD, 0, 0, START);
  more(1 | (uint64_t)APROF_THREAD_IDLE << 32 | (uint64_t)APROF_THREAD_IDLE << 40, 0);
  more(1, 0);
}

static void born(uint32_t future, uint32_t node, uint32_t creator, uint64_t tick) {
  event(APROF_TRACE_BORN, future, node, tick);
  more(future, creator);
}

static void request(uint32_t kind, uint32_t future, uint32_t node, uint64_t b, uint64_t tick) {
  event(kind, future, node, tick);
  more(aprof_trace_request(1, 7), b);
}

static const uint64_t trace_id[2] = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736};
enum { SPAN = 0x1234 };
#define PARENT_SPAN 0x00f067aa0ba902b7

static void traceparent(uint64_t tick) {
  uint64_t ab[4], parent[2];
  aprof_trace_token(trace_id, SPAN, ab);
  aprof_trace_parent(PARENT_SPAN, parent);
  event(APROF_TRACE_TOKEN, GET_FUTURE, 0, tick);
  more(ab[0], ab[1]);
  more(ab[2], ab[3]);
  more(parent[0], parent[1]);
}

/* get waits in pool_get until put wakes it; that is a request. */
static void tell_a_request(uint64_t at) {
  request(APROF_TRACE_REQUEST_BEGIN, GET_FUTURE, get, 0, at);
  born(GET_FUTURE, get, 0, at);
  request(APROF_TRACE_JOIN, GET_FUTURE, 0, APROF_TRACE_ROOT, at);
  event(APROF_TRACE_RUNNING, GET_FUTURE, get, at + 100);
  event(APROF_TRACE_NODE, GET_FUTURE, span, at + 150);
  event(APROF_TRACE_NODE, GET_FUTURE, get, at + 170);
  event(APROF_TRACE_WAITING, GET_FUTURE, pool, at + 300);
  born(PUT_FUTURE, put, GET_FUTURE, at + 400);
  event(APROF_TRACE_RUNNING, PUT_FUTURE, put, at + 400);
  event(APROF_TRACE_WAKE, GET_FUTURE, 0, at + 450);
  event(APROF_TRACE_DONE, PUT_FUTURE, 0, at + 500);
  event(APROF_TRACE_READY, GET_FUTURE, 0, at + 450);
  event(APROF_TRACE_RUNNING, GET_FUTURE, get, at + 500);
  event(APROF_TRACE_DONE, GET_FUTURE, 0, at + 700);
  request(APROF_TRACE_REQUEST_END, GET_FUTURE, 0, 0, at + 700);
}

/* -- recording --------------------------------------------------------------------------- */

/* What is in the ring, into the file. */
static void record(void) {
  int fd = synthetic_file(made, made->header->used);
  struct recorder *r = recorder_of_rings(fd, "made", file, (uint64_t)1 << 32, true);
  ck_assert_ptr_nonnull(r);
  recorder_end(r, true);
  recorder_free(r);
  close(fd);
}

static struct story *story_recorded(void) {
  struct story_error why = {""};
  struct story *s = story_open(path, &why);
  ck_assert_msg(s != NULL, "%s", why.text);
  return s;
}

/* -- what is checked ----------------------------------------------------------------------- */

static uint64_t origin(const struct story *s) {
  return s->segments[0].begin;
}

static void expect_segment(const struct story *s, uint32_t number, enum story_what what,
                           const char *text, uint64_t begin, uint64_t end) {
  const struct story_segment *g = &s->segments[number];
  ck_assert_uint_ne(number, STORY_NONE);
  ck_assert_uint_eq(g->what, what);
  ck_assert_str_eq(s->paths[g->path].text, text);
  ck_assert_uint_eq(g->begin - origin(s), begin);
  ck_assert_uint_eq(g->end - origin(s), end);
}

START_TEST(a_request_is_told_segment_by_segment) {
  thread_begins();
  tell_a_request(START);
  record();
  struct story *s = story_recorded();
  ck_assert_uint_eq(s->futures_count, 2);
  ck_assert_uint_eq(s->lost, 0);
  ck_assert(!s->truncated);
  const struct story_segment *g = s->segments;
  uint32_t at = s->futures[0].first;
  expect_segment(s, at, STORY_QUEUED, "get", 0, 100);
  expect_segment(s, at = g[at].next, STORY_EXEC, "get", 100, 150);
  ck_assert_int_eq(s->threads[g[at].thread].tid, 4242);
  expect_segment(s, at = g[at].next, STORY_EXEC, "get > parse", 150, 170);
  expect_segment(s, at = g[at].next, STORY_EXEC, "get", 170, 300);
  expect_segment(s, at = g[at].next, STORY_WAITING, "get > pool_get", 300, 450);
  ck_assert_uint_eq(g[at].waker, 1);
  expect_segment(s, at = g[at].next, STORY_QUEUED, "get > pool_get", 450, 500);
  ck_assert_uint_eq(g[at].thread, 0);
  expect_segment(s, at = g[at].next, STORY_EXEC, "get", 500, 700);
  ck_assert_uint_eq(g[at].next, STORY_NONE);
  ck_assert_uint_eq(s->futures[0].how, STORY_DONE);
  ck_assert_uint_eq(s->futures[0].whole, 1);
  ck_assert_uint_eq(s->futures[1].creator, 0);

  ck_assert_uint_eq(s->requests_count, 1);
  const struct story_request *r = &s->requests[0];
  ck_assert_uint_eq(r->whole, 1);
  ck_assert_uint_eq(r->root, 0);
  ck_assert_str_eq(r->function, "get");
  ck_assert_uint_eq(r->end - r->begin, 700);
  ck_assert_uint_eq(r->exec, 400);
  ck_assert_uint_eq(r->queued, 150);
  ck_assert_uint_eq(r->waiting, 150);
  ck_assert_uint_eq(s->slices_count, 3);
  ck_assert_uint_eq(s->slices[1].future, 1);
  ck_assert_uint_eq(s->slices[1].end - s->slices[1].begin, 100);
  story_free(s);
}
END_TEST

START_TEST(a_request_has_its_token) {
  thread_begins();
  request(APROF_TRACE_REQUEST_BEGIN, GET_FUTURE, get, 0, START);
  born(GET_FUTURE, get, 0, START);
  request(APROF_TRACE_JOIN, GET_FUTURE, 0, APROF_TRACE_ROOT, START);
  event(APROF_TRACE_DONE, GET_FUTURE, 0, START + 10);
  traceparent(START + 10);
  request(APROF_TRACE_REQUEST_END, GET_FUTURE, 0, 0, START + 10);
  record();
  struct story *s = story_recorded();
  ck_assert_uint_eq(s->requests_count, 1);
  ck_assert(!memcmp(s->requests[0].trace, trace_id, sizeof trace_id));
  ck_assert_uint_eq(s->requests[0].span, SPAN);
  ck_assert_uint_eq(s->requests[0].parent_span, PARENT_SPAN);
  story_free(s);
}
END_TEST

START_TEST(a_call_is_one_slice_and_its_waker_the_callee) {
  thread_begins();
  born(GET_FUTURE, get, 0, START);
  event(APROF_TRACE_RUNNING, GET_FUTURE, get, START);
  event(APROF_TRACE_ASIDE, GET_FUTURE, pool, START + 10);
  born(PUT_FUTURE, put, GET_FUTURE, START + 10);
  event(APROF_TRACE_RUNNING, PUT_FUTURE, put, START + 10);
  event(APROF_TRACE_DONE, PUT_FUTURE, 0, START + 30);
  event(APROF_TRACE_RUNNING, GET_FUTURE, get, START + 30);
  event(APROF_TRACE_WAITING, GET_FUTURE, pool, START + 35);
  event(APROF_TRACE_RUNNING, GET_FUTURE, get, START + 35);
  event(APROF_TRACE_WAITING, GET_FUTURE, pool, START + 40);
  record();
  struct story *s = story_recorded();
  uint32_t aside = s->segments[s->futures[0].first].next;
  expect_segment(s, s->futures[0].first, STORY_EXEC, "get", 0, 10);
  expect_segment(s, aside, STORY_ASIDE, "get > pool_get", 10, 30);
  ck_assert_uint_eq(s->segments[aside].waker, 1);
  /* What is let go and taken up at the same tick is a slice more. */
  ck_assert_uint_eq(s->slices_count, 2);
  ck_assert_uint_eq(s->slices[0].end - s->slices[0].begin, 35);
  ck_assert_uint_eq(s->slices[0].future, 0);
  ck_assert_uint_eq(s->futures[0].how, STORY_LIVES);
  ck_assert_uint_eq(s->segments[s->futures[0].last].flags, STORY_CUT_END);
  story_free(s);
}
END_TEST

START_TEST(a_future_is_one_in_each_of_its_requests) {
  thread_begins();
  born(GET_FUTURE, get, 0, START);
  event(APROF_TRACE_RUNNING, GET_FUTURE, get, START);
  request(APROF_TRACE_REQUEST_BEGIN, GET_FUTURE, get, 0, START + 50);
  request(APROF_TRACE_JOIN, GET_FUTURE, 0, 0, START + 50);
  event(APROF_TRACE_WAITING, GET_FUTURE, pool, START + 80);
  event(APROF_TRACE_JOIN, GET_FUTURE, 0, START + 80);
  more(0, 0);
  request(APROF_TRACE_REQUEST_END, GET_FUTURE, 0, 0, START + 80);
  event(APROF_TRACE_DONE, GET_FUTURE, 0, START + 90);
  record();
  struct story *s = story_recorded();
  ck_assert_uint_eq(s->futures_count, 3);
  expect_segment(s, s->futures[0].first, STORY_EXEC, "get", 0, 50);
  ck_assert_uint_eq(s->futures[0].how, STORY_MOVED);
  ck_assert_uint_eq(s->futures[0].later, 1);
  ck_assert_uint_eq(s->futures[1].request, 0);
  expect_segment(s, s->futures[1].first, STORY_EXEC, "get", 50, 80);
  ck_assert_uint_eq(s->segments[s->futures[1].first].next, STORY_NONE);
  expect_segment(s, s->futures[2].first, STORY_WAITING, "get > pool_get", 80, 90);
  ck_assert_uint_eq(s->futures[2].request, STORY_NONE);
  ck_assert_uint_eq(s->futures[2].how, STORY_DONE);
  ck_assert_uint_eq(s->requests[0].exec, 30);
  ck_assert_uint_eq(s->requests[0].waiting, 0);
  story_free(s);
}
END_TEST

START_TEST(what_never_was_is_in_no_story) {
  thread_begins();
  request(APROF_TRACE_REQUEST_BEGIN, PUT_FUTURE, put, 0, START);
  born(PUT_FUTURE, put, 0, START);
  event(APROF_TRACE_UNBORN, PUT_FUTURE, 0, START + 5);
  request(APROF_TRACE_REQUEST_END, PUT_FUTURE, 0, APROF_TRACE_UNDONE, START + 5);
  born(GET_FUTURE, get, PUT_FUTURE, START + 10);
  event(APROF_TRACE_DONE, GET_FUTURE, 0, START + 20);
  record();
  struct story *s = story_recorded();
  ck_assert_uint_eq(s->futures_count, 1);
  ck_assert_uint_eq(s->segments_count, 1);
  ck_assert_uint_eq(s->requests_count, 0);
  ck_assert_str_eq(s->paths[s->futures[0].path].text, "get");
  ck_assert_uint_eq(s->futures[0].creator, STORY_NONE);
  story_free(s);
}
END_TEST

START_TEST(what_was_overwritten_is_known_by_number) {
  thread_begins();
  for (uint64_t i = 0; i < 10; i++)
    tell_a_request(START + 1000 * i);
  uint64_t told = block->ring_head;
  block->last = START + 11000;
  record();
  struct story *s = story_recorded();
  ck_assert_uint_eq(s->events, 1u << BITS);
  ck_assert_uint_eq(s->requests[s->requests_count - 1].whole, 1);
  ck_assert_uint_lt(s->requests_count, 10);
  uint64_t whole = 0;
  for (uint32_t i = 0; i < s->requests_count; i++)
    whole += s->requests[i].whole;
  ck_assert_uint_eq(whole, 3); /* 20 events each, and some of one more */
  ck_assert_uint_gt(told, s->events);
  story_free(s);
}
END_TEST

/* -- a live one ------------------------------------------------------------------------- */

/* The profile as a file that is mapped: what events are added from now on are in that. */
static unsigned char *live;
static struct stat live_stat;

static int begin_live(void) {
  int fd = synthetic_file(made, made->header->used);
  ck_assert_int_eq(fstat(fd, &live_stat), 0);
  live = mmap(NULL, (size_t)live_stat.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ck_assert_ptr_ne(live, MAP_FAILED);
  block = (void *)(live + ((unsigned char *)block - made->bytes));
  ring = (void *)(live + ((unsigned char *)ring - made->bytes));
  return fd;
}

static void end_live(int fd) {
  munmap(live, (size_t)live_stat.st_size);
  close(fd);
}

static struct trace_frame end_of(int of) {
  char name[64];
  struct trace_error why = {""};
  snprintf(name, sizeof name, "/proc/self/fd/%d", of);
  struct trace *t = trace_open(name, &why);
  ck_assert_msg(t != NULL, "%s", why.text);
  struct trace_frame end = t->end;
  end.flags = (uint16_t)t->header.flags;
  trace_close(t);
  return end;
}

START_TEST(a_recording_adds_up_and_says_what_it_lost) {
  int fd = begin_live();
  struct recorder *r = recorder_begin(fd, "made", file, (uint64_t)1 << 32, true);
  ck_assert_ptr_nonnull(r);
  thread_begins();
  tell_a_request(START + 2000);
  recorder_poll(r);
  tell_a_request(START + 3000);
  recorder_poll(r);
  for (uint64_t i = 0; i < 5; i++)
    tell_a_request(START + 4000 + 1000 * i);
  uint64_t events = block->ring_head;
  block->last = START + 12000;
  block->sequence += 2;
  recorder_end(r, true);
  struct recorder_numbers n;
  recorder_numbers(r, &n);
  ck_assert_uint_eq(n.events + n.lost, events);
  ck_assert_uint_gt(n.lost, 0);
  recorder_free(r);
  struct story *s = story_recorded();
  ck_assert_uint_eq(s->lost, n.lost);
  ck_assert_uint_eq(s->events, n.events);
  ck_assert_uint_eq(s->requests[0].whole, 1);
  ck_assert_uint_eq(s->requests[1].whole, 1);
  story_free(s);
  end_live(fd);
}
END_TEST

/* The process goes on while it is read: so often it goes round its ring behind a read of that,
   before the reader looks whether what it has is whole. */
static unsigned rounds;
size_t __real_profile_read_at(int fd, void *to, size_t length, uint64_t offset);
size_t __wrap_profile_read_at(int fd, void *to, size_t length, uint64_t offset);

size_t __wrap_profile_read_at(int fd, void *to, size_t length, uint64_t offset) {
  size_t got = __real_profile_read_at(fd, to, length, offset);
  if (rounds && offset >= block->ring && offset - block->ring < sizeof *ring << BITS) {
    rounds--;
    for (uint64_t i = 0; i < 1u << BITS; i++)
      event(APROF_TRACE_READY, GET_FUTURE, 0, START + 2000 + block->ring_head);
  }
  return got;
}

/* What a recording of the rings has, where the process goes round so often meanwhile. */
static struct recorder_numbers record_rounds(unsigned times) {
  int fd = begin_live();
  struct recorder_numbers n;
  ck_assert_int_eq(ftruncate(file, 0), 0);
  lseek(file, 0, SEEK_SET);
  thread_begins();
  for (uint64_t i = 0; i < 5; i++)
    tell_a_request(START + 1000 * i);
  struct recorder *r = recorder_of_rings(fd, "made", file, (uint64_t)1 << 32, true);
  ck_assert_ptr_nonnull(r);
  rounds = times;
  block->last = START + 12000;
  block->sequence += 2;
  recorder_end(r, true);
  rounds = 0;
  recorder_numbers(r, &n);
  recorder_free(r);
  ck_assert_uint_eq(end_of(file).number, n.events);
  ck_assert_uint_eq(end_of(file).lost, n.lost);
  end_live(fd);
  return n;
}

START_TEST(rings_that_are_overwritten_while_they_are_read_are_read_again) {
  struct recorder_numbers n = record_rounds(3);
  ck_assert_uint_eq(n.events, 1u << BITS);
  ck_assert_uint_eq(n.lost, 3u << BITS);
  struct story *s = story_recorded();
  ck_assert_uint_eq(s->events, n.events);
  story_free(s);
}
END_TEST

START_TEST(rings_that_always_are_overwritten_are_let_be) {
  struct recorder_numbers n = record_rounds(UINT_MAX);
  ck_assert_uint_eq(n.events, 0);
  ck_assert_uint_eq(n.ringless, 0);
  ck_assert_uint_gt(n.lost, 0);
}
END_TEST

/* What was lost before the recording is not its loss. */
START_TEST(each_of_several_files_has_its_own_numbers) {
  int fd = begin_live(), second = memfd_create("second", MFD_CLOEXEC);
  block->ring_lost = 1000;
  thread_begins();
  struct recorder *r = recorder_begin(fd, "made", file, (uint64_t)1 << 32, true);
  ck_assert_ptr_nonnull(r);
  tell_a_request(START + 2000);
  block->last = START + 3000;
  block->ring_lost += 5;
  uint64_t first = block->ring_head;
  ck_assert_int_eq(recorder_rotate(r, second), 0);
  for (uint64_t i = 0; i < 5; i++)
    tell_a_request(START + 4000 + 1000 * i);
  block->last = START + 12000;
  block->sequence += 2;
  recorder_end(r, true);
  struct recorder_numbers n;
  recorder_numbers(r, &n);
  recorder_free(r);
  struct trace_frame a = end_of(file), b = end_of(second);
  ck_assert_uint_eq(a.number, first - 3);
  ck_assert_uint_eq(a.lost, 5);
  ck_assert_uint_eq(b.number + b.lost, block->ring_head - first);
  ck_assert_uint_gt(b.lost, 0);
  ck_assert_uint_eq(n.events, a.number + b.number);
  ck_assert_uint_eq(n.lost, a.lost + b.lost);
  close(second);
  end_live(fd);
}
END_TEST

/* Only the first one of them has no image of its beginning. */
START_TEST(a_file_behind_that_of_the_rings_has_both_images) {
  int fd = begin_live(), second = memfd_create("second", MFD_CLOEXEC);
  struct recorder *r = recorder_of_rings(fd, "made", file, (uint64_t)1 << 32, true);
  ck_assert_ptr_nonnull(r);
  thread_begins();
  block->last = START + 3000;
  ck_assert_int_eq(recorder_rotate(r, second), 0);
  recorder_end(r, true);
  recorder_free(r);
  ck_assert_uint_eq(end_of(file).flags, TRACE_FLIGHT);
  ck_assert_uint_eq(end_of(second).flags, 0);
  close(second);
  end_live(fd);
}
END_TEST

/* So many requests are whole in that file. */
static unsigned whole_in(int other) {
  int before = file;
  snprintf(path, sizeof path, "/proc/self/fd/%d", other);
  struct story *s = story_recorded();
  unsigned whole = 0;
  for (uint32_t i = 0; i < s->requests_count; i++)
    whole += s->requests[i].whole;
  ck_assert_uint_eq(s->lost, 0);
  ck_assert(!s->truncated);
  story_free(s);
  snprintf(path, sizeof path, "/proc/self/fd/%d", before);
  return whole;
}

/* As one process would see it that has another answer: a copy of it ends a copy of the file. */
static void end_copy(struct recorder *r, int to) {
  int status = 0;
  fflush(NULL);
  pid_t child = fork();
  if (!child) {
    recorder_end_copy(r, to, true);
    _exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
}

static void a_moment_later(unsigned char *mapped, uint64_t last) {
  block->last = ((struct aprof_header *)(void *)mapped)->virtual_now = START + last;
  block->sequence += 2;
}

START_TEST(files_lie_over_each_other) {
  made->header->clock_source = APROF_CLOCK_VIRTUAL;
  int fd = synthetic_file(made, made->header->used), next = memfd_create("next", MFD_CLOEXEC),
      first_copy = memfd_create("copy", MFD_CLOEXEC), next_copy = memfd_create("copy", MFD_CLOEXEC);
  struct stat st;
  ck_assert_int_eq(fstat(fd, &st), 0);
  unsigned char *mapped = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ck_assert_ptr_ne(mapped, MAP_FAILED);
  block = (void *)(mapped + ((unsigned char *)block - made->bytes));
  ring = (void *)(mapped + ((unsigned char *)ring - made->bytes));
  struct recorder *r = recorder_begin(fd, "made", file, (uint64_t)1 << 32, true);
  ck_assert_ptr_nonnull(r);
  thread_begins();
  tell_a_request(START + 2000);
  a_moment_later(mapped, 2800);
  recorder_begin_next(r, next);
  tell_a_request(START + 3000);
  a_moment_later(mapped, 3800);
  end_copy(r, first_copy);
  tell_a_request(START + 4000);
  a_moment_later(mapped, 4800);
  recorder_poll(r);
  ck_assert_int_eq(recorder_take_next(r), 0);
  end_copy(r, next_copy);
  tell_a_request(START + 5000);
  a_moment_later(mapped, 5800);
  recorder_end(r, true);
  recorder_free(r);
  ck_assert_uint_eq(whole_in(first_copy), 2);
  ck_assert_uint_eq(whole_in(next_copy), 2);
  ck_assert_uint_eq(whole_in(next), 3);
  uint64_t each = end_of(next).number / 3; /* it has nothing of the first request */
  ck_assert_uint_eq(end_of(next).number, 3 * each);
  ck_assert_uint_eq(end_of(next_copy).number, 2 * each);
  ck_assert_uint_eq(end_of(next).lost, 0);
  munmap(mapped, (size_t)st.st_size);
  close(fd);
  close(next);
  close(first_copy);
  close(next_copy);
}
END_TEST

/* The counters as the runtime would have them. */
START_TEST(events_are_held_against_counters) {
  thread_begins();
  tell_a_request(START);
  struct aprof_counters *c = synthetic_counters(made, BLOCK, get);
  c->function.exec = 380;
  c->function.queued = 150;
  c->function.done = 1;
  synthetic_counters(made, BLOCK, span)->function.exec = 20;
  synthetic_counters(made, BLOCK, pool)->await.waiting = 150;
  synthetic_counters(made, BLOCK, pool)->await.count = 1;
  synthetic_counters(made, BLOCK, put)->function.exec = 100;
  synthetic_counters(made, BLOCK, put)->function.done = 1;
  for (int wrong = 0; wrong < 2; wrong++) {
    c->function.exec += (uint64_t)wrong;
    ck_assert_int_eq(ftruncate(file, 0), 0);
    lseek(file, 0, SEEK_SET);
    record();
    struct trace_error why = {""};
    struct trace *t = trace_open(path, &why);
    struct replay *r = replay_new(t, &why);
    ck_assert_msg(r != NULL, "%s", why.text);
    struct balance *b = balance_new(r);
    uint32_t odd = 0;
    for (uint32_t i = 0; i < r->story->paths_count; i++)
      odd += !balance_holds(&b[i]);
    ck_assert_uint_eq(odd, (uint32_t)wrong);
    free(b);
    replay_free(r);
    trace_close(t);
  }
}
END_TEST

/* A reset empties counters: so they are in the image of the end. */
START_TEST(the_last_image_has_what_was_emptied) {
  int fd = begin_live();
  struct aprof_counters *c =
      (void *)(live + ((unsigned char *)synthetic_counters(made, BLOCK, get) - made->bytes));
  c->function.done = 7;
  struct recorder *r = recorder_begin(fd, "made", file, (uint64_t)1 << 32, true);
  ck_assert_ptr_nonnull(r);
  c->function.done = 0;
  thread_begins();
  block->last = START + 2000;
  block->sequence += 2;
  recorder_end(r, true);
  recorder_free(r);
  struct trace_error why = {""};
  struct trace *t = trace_open(path, &why);
  struct replay *played = replay_new(t, &why);
  ck_assert_msg(played != NULL, "%s", why.text);
  ck_assert_uint_eq(profile_counters(played->base, BLOCK, get)->function.done, 7);
  ck_assert_uint_eq(profile_counters(played->latest, BLOCK, get)->function.done, 0);
  replay_free(played);
  trace_close(t);
  end_live(fd);
}
END_TEST

/* -- damage --------------------------------------------------------------------------------- */

static void try_to_open(bool may_be_whole) {
  struct story_error why = {""};
  struct story *s = story_open(path, &why);
  if (s)
    ck_assert(may_be_whole || s->truncated);
  else
    ck_assert_str_ne(why.text, "");
  story_free(s);
}

START_TEST(a_file_that_ends_early_is_read_up_to_there) {
  thread_begins();
  tell_a_request(START);
  record();
  struct stat st;
  ck_assert_int_eq(fstat(file, &st), 0);
  for (off_t size = st.st_size - 1; size >= 0; size -= size > 400 ? 97 : 13) {
    ck_assert_int_eq(ftruncate(file, size), 0);
    try_to_open(false);
  }
}
END_TEST

START_TEST(whatever_a_file_says_it_is_read_or_refused) {
  thread_begins();
  tell_a_request(START);
  record();
  struct stat st;
  ck_assert_int_eq(fstat(file, &st), 0);
  for (off_t at = 0; at < st.st_size; at += 1 + at / 64) {
    unsigned char byte, other;
    ck_assert_int_eq(pread(file, &byte, 1, at), 1);
    other = byte ^ 0x55;
    ck_assert_int_eq(pwrite(file, &other, 1, at), 1);
    try_to_open(true);
    ck_assert_int_eq(pwrite(file, &byte, 1, at), 1);
  }
}
END_TEST

/* What an end says of its file is believed if its sum is right. */
START_TEST(a_damaged_end_is_none) {
  thread_begins();
  tell_a_request(START);
  record();
  struct stat st;
  struct trace_frame end;
  ck_assert_int_eq(fstat(file, &st), 0);
  off_t at = st.st_size - (off_t)sizeof end;
  ck_assert_int_eq(pread(file, &end, sizeof end, at), sizeof end);
  ck_assert_uint_eq(end.type, TRACE_END);
  ck_assert_uint_ne(end.check, 0);
  for (int damaged = 0; damaged < 2; damaged++) {
    end.first += (uint64_t)damaged << 60;
    ck_assert_int_eq(pwrite(file, &end, sizeof end, at), sizeof end);
    struct story *s = story_recorded();
    ck_assert_int_eq(s->truncated, damaged);
    ck_assert_uint_eq(s->requests[0].whole, 1);
    ck_assert_uint_lt(s->end_ns, (uint64_t)1 << 60);
    story_free(s);
  }
}
END_TEST

/* Each event of the ring in turn is of another kind, future or node. */
START_TEST(events_that_contradict_themselves_make_a_story) {
  thread_begins();
  tell_a_request(START);
  for (uint64_t i = 0; i < block->ring_head; i++)
    for (uint32_t kind = 0; kind <= APROF_TRACE_KINDS; kind += suite_is_slow() ? 7 : 1) {
      struct aprof_trace_event old = ring[i];
      ring[i].w[1] = (uint64_t)kind << 48 | ((old.w[1] + i * kind) & APROF_TRACE_MASK(30));
      ck_assert_int_eq(ftruncate(file, 0), 0);
      lseek(file, 0, SEEK_SET);
      record();
      struct story *s = story_recorded();
      for (uint32_t n = 0; n < s->segments_count; n++) {
        ck_assert_uint_le(s->segments[n].begin, s->segments[n].end);
        ck_assert_uint_lt(s->segments[n].path, s->paths_count);
        ck_assert_uint_lt(s->segments[n].future, s->futures_count);
      }
      story_free(s);
      ring[i] = old;
    }
}
END_TEST

static uint32_t dead_child(void) {
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  ck_assert_int_eq(waitpid(child, NULL, 0), child);
  return (uint32_t)child;
}

static uint64_t memory_of(int fd) {
  struct stat st;
  ck_assert_int_eq(fstat(fd, &st), 0);
  return (uint64_t)st.st_blocks * 512;
}

/* One thread has a ring, one none, and of one the block alone is left. */
START_TEST(memory_of_rings_is_set_aside) {
  enum { SIZE = 1 << 20, LITTLE = SIZE / 8 };
  struct aprof_header *h = made->header;
  synthetic_block(made, 2)->state = APROF_THREAD_OTHER;
  synthetic_block(made, 3)->state = APROF_THREAD_FREE;
  int fd = synthetic_file(made, h->used);
  uint64_t before = memory_of(fd);
  drain_make_room(fd, h, SIZE);
  ck_assert_uint_eq(h->set_aside, 0);
  ck_assert_int_eq(ftruncate(fd, (off_t)h->used + SIZE), 0);
  drain_make_room(fd, h, SIZE); /* of five eighths a quarter */
  ck_assert_uint_eq(h->set_aside, h->used + LITTLE + APROF_PAGE);
  ck_assert_uint_eq(memory_of(fd), before + LITTLE + APROF_PAGE);
  ck_assert_int_eq(ftruncate(fd, 64 << 20), 0);
  drain_make_room(fd, h, SIZE);
  drain_make_room(fd, h, SIZE);
  ck_assert_uint_eq(h->set_aside, h->used + SIZE + APROF_PAGE);
  ck_assert_uint_eq(memory_of(fd), before + SIZE + APROF_PAGE);
  close(fd);
}
END_TEST

/* A number of another PID namespace says nothing about who has it here. */
START_TEST(who_is_elsewhere_keeps_what_it_has) {
  struct stat st;
  ck_assert_int_eq(stat("/proc/self/ns/pid", &st), 0);
  uint32_t dead = dead_child();
  struct aprof_header h = {.clock_source = APROF_CLOCK_VIRTUAL, .virtual_now = 1000};
  h.control_lock = aprof_control_word(dead, st.st_ino);
  ck_assert(switch_lock(&h));
  switch_unlock(&h);
  h.control_lock = aprof_control_word(dead, st.st_ino + 1);
  ck_assert(!switch_lock(&h));
  h.control_lock = 0;

  h.recorder = aprof_control_word((uint32_t)getpid(), st.st_ino + 1);
  h.mode = APROF_TRACE_RECORD;
  h.trace_until = 1001;
  ck_assert(!switch_is_on(&h));
  ck_assert_uint_eq(switch_trace(-1, &h, 0, (uint64_t)1 << 32, NULL), h.recorder);
  ck_assert(!switch_is_near(h.recorder));
  h.virtual_now = 1001; /* it has not prolonged its lease */
  ck_assert_uint_eq(switch_trace(-1, &h, 0, (uint64_t)1 << 32, NULL), SWITCH_DONE);
  ck_assert(switch_is_on(&h));
  ck_assert(switch_is_near(h.recorder));
  switch_off_trace(&h);
  ck_assert_uint_eq(h.recorder, 0);
}
END_TEST

/* A hostile recording: as many ends of epochs as futures. Looking at each future at each of them
   would take hours. */
enum { FUTURES = 300000, PAGE = FUTURES / LIVES + 1, EPOCH = 9 };

static void begin_by_hand(struct replay *r, struct replay_state *s) {
  *r = (struct replay){.story = story_new(), .latest = allocate(1, sizeof *r->latest)};
  *s = (struct replay_state){.r = r, .story = r->story, .pages = PAGE};
  s->lives = allocate(PAGE, sizeof *s->lives);
  story_add_path(r->story, STORY_NONE, STORY_FUNCTION, "get", NULL, 0);
}

static uint32_t left(struct replay_state *s) {
  uint32_t left = 0;
  for (uint32_t i = 1; i < FUTURES; i++)
    left += replay_life(s, i)->future != STORY_NONE;
  return left;
}

static void end_by_hand(struct replay *r, struct replay_state *s) {
  for (uint32_t i = 0; i < PAGE; i++)
    free(s->lives[i]);
  free(s->lives);
  free(r->latest);
  story_free(r->story);
}

static void born_by_hand(struct replay_state *s, uint32_t future, uint32_t epoch, uint64_t tick) {
  replay_born(s, &(struct stream_event){.future = future, .tick = tick, .now = tick}, epoch);
}

START_TEST(ends_of_epochs_cost_what_they_end) {
  struct replay r;
  struct replay_state s;
  begin_by_hand(&r, &s);
  for (uint32_t i = 1; i < FUTURES; i++) {
    born_by_hand(&s, i, EPOCH, START);
    replay_detach_all(&s, EPOCH - 1, START + i); /* those of its threads that notice late */
  }
  ck_assert_uint_eq(left(&s), FUTURES - 1);
  replay_move(&s, replay_life(&s, 3), story_add_request(r.story, NULL, "get", START, START + 9),
              START + 1);
  born_by_hand(&s, 2, EPOCH + 1, START + 5);
  replay_detach_all(&s, EPOCH, START + 5);
  ck_assert_uint_eq(left(&s), 1); /* at that moment, and not of that epoch */
  ck_assert_ptr_eq(s.youngest, replay_life(&s, 2));
  end_by_hand(&r, &s);
}
END_TEST

START_TEST(epochs_that_cannot_be_cost_little) {
  struct replay r;
  struct replay_state s;
  for (uint32_t step = 0; step < 2; step++) {
    begin_by_hand(&r, &s);
    for (uint32_t i = 1; i < FUTURES; i++) {
      born_by_hand(&s, i, UINT32_MAX, START);
      replay_detach_all(&s, step * i, START); /* 0: nobody has told which */
    }
    ck_assert_uint_lt(left(&s), 100);
    end_by_hand(&r, &s);
  }
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("replay");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_request_is_told_segment_by_segment);
  tcase_add_test(tests, a_request_has_its_token);
  tcase_add_test(tests, a_call_is_one_slice_and_its_waker_the_callee);
  tcase_add_test(tests, a_future_is_one_in_each_of_its_requests);
  tcase_add_test(tests, what_never_was_is_in_no_story);
  tcase_add_test(tests, what_was_overwritten_is_known_by_number);
  tcase_add_test(tests, a_recording_adds_up_and_says_what_it_lost);
  tcase_add_test(tests, rings_that_are_overwritten_while_they_are_read_are_read_again);
  tcase_add_test(tests, rings_that_always_are_overwritten_are_let_be);
  tcase_add_test(tests, files_lie_over_each_other);
  tcase_add_test(tests, each_of_several_files_has_its_own_numbers);
  tcase_add_test(tests, a_file_behind_that_of_the_rings_has_both_images);
  tcase_add_test(tests, events_are_held_against_counters);
  tcase_add_test(tests, the_last_image_has_what_was_emptied);
  tcase_add_test(tests, a_file_that_ends_early_is_read_up_to_there);
  tcase_add_test(tests, whatever_a_file_says_it_is_read_or_refused);
  tcase_add_test(tests, a_damaged_end_is_none);
  tcase_add_test(tests, events_that_contradict_themselves_make_a_story);
  tcase_add_test(tests, memory_of_rings_is_set_aside);
  tcase_add_test(tests, who_is_elsewhere_keeps_what_it_has);
  tcase_add_test(tests, ends_of_epochs_cost_what_they_end);
  tcase_add_test(tests, epochs_that_cannot_be_cost_little);
  return suite_run("replay", tests);
}
