/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the trace share: a ring, read as text; the trace, switched as a recorder does.
 *
 * Purpose: a test says which events there must be, in one line. Cost, locking: as unit.h.
 */
#ifndef TESTS_UNIT_TRACED_H
#define TESTS_UNIT_TRACED_H

#include "unit.h"

FUNCTION_SITE(body);
AWAIT_SITE(nap);

/* -- the ring ---------------------------------------------------------------- */

static inline struct aprof_header *header(void) {
  return (struct aprof_header *)(uintptr_t)profile();
}

static inline const struct aprof_block *block_at(const struct aprof_header *h, uint32_t number) {
  for (uint64_t at = h->header_size; at < h->used;) {
    const struct aprof_chunk *c = (const void *)((const char *)h + at);
    if (c->type == APROF_CHUNK_BLOCK && c->first == number)
      return (const void *)(c + 1);
    at += c->size;
  }
  return NULL;
}

static inline struct aprof_trace_event event_at(const struct aprof_header *h,
                                                const struct aprof_block *b, uint64_t number) {
  const struct aprof_trace_event *ring = (const void *)((const char *)h + b->ring);
  return ring[number & (((uint64_t)1 << b->ring_bits) - 1)];
}

static const char *const kind_names[APROF_TRACE_KINDS] = {
    "none",  "more",   "THREAD", "gone", "epoch", "gap",    "other", "idle", "out",   "stolen",
    "born",  "unborn", "named",  "done", "fail",  "cancel", "ready", "wake", "runs",  "polled",
    "waits", "again",  "aside",  "ran",  "node",  "join",   "BEGIN", "END",  "token", "tier",
    "held",
};

/* The kinds from that event of the block on, with the ns since the one before, but for what MORE
   has. */
static inline const char *told(uint32_t block, uint64_t from) {
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

static inline uint64_t head(void) {
  return block_at(profile(), 1)->ring_head;
}

/* As a recorder does from another process. */
static inline void record(uint64_t until, uint64_t size) {
  struct aprof_header *h = header();
  h->trace_size = size;
  h->mode |= APROF_TRACE_RECORD;
  __atomic_store_n(&h->trace_until, until, __ATOMIC_RELAXED);
  aprof_trace_switch(h, 1);
}

static inline void a_call(void) {
  token b, a;
  enter(&body, &b);
  pass(1);
  suspend(&nap, &a);
  pass(10);
  resume(&a);
  pass(2);
  leave(&b);
}

#endif
