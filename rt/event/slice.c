/* SPDX-License-Identifier: MIT */
/*
 * Long slices: whether the thread was on a processor, what of the time it was not is its
 * own doing, and whom they delayed.
 *
 * A slice holds the loop while it computes, and while it blocks in the kernel. While others have
 * the processor (preemption) nobody's code is to blame: what is known to be that is taken off the
 * slice, and added up in the thread's block.
 *
 * The kernel tells a thread's time on a processor, and how often it has let go of it, or lost it.
 * It is asked on rare paths: when a long slice ends, and when the thread comes out of its poller
 * and the last answer is READ_NS old. Of a slice of length L that ends C of processor time and U of
 * other time (idle, too) after the last answer:
 *
 *   on a processor   at most C (what ran before it has a part of that), at least C - U
 *   off it           at least L - C
 *
 * Off it by preemption alone if the thread lost its processor since, and let go of it no more often
 * than it polled. Else nobody can tell, and all of it stays the slice's.
 *
 * A thread remembers its last few long slices. A future that has been ready during one of them, by
 * the time that it goes on here or is over, was delayed by it: that is counted beneath the function
 * whose slice it was. Slices of a thread do not overlap, nor do the times that a future is ready,
 * so no moment of a future counts twice. What was preemption in a slice delayed nobody for certain.
 */
#include <sys/resource.h>
#include <sys/syscall.h>

#include "slice.h"

#include "rt/count/govern.h"
#include "rt/file/clock.h"
#include "rt/sys/confine.h"
#include "rt/sys/vdso.h"

#define LOOK_NS 50000u   /* longer slices go by the general events, ... */
#define LONG_NS 1000000u /* ... and for these the kernel is asked, and they are remembered */
#define READ_NS 1000000u
#define POLL_NS 5000u /* a shorter one has found something to do at once */

/* False: the kernel may not be asked, or does not say. */
static bool read_processor(struct processor *p, uint64_t now) {
  struct rusage usage;
  if (rt.clock == APROF_CLOCK_VIRTUAL || was_confined_lately() ||
      sys_call(SYS_getrusage, RUSAGE_THREAD, &usage) != 0)
    return false;
  *p = (struct processor){
      .tick = now,
      .ns = vdso_clock(CLOCK_THREAD_CPUTIME_ID),
      .blocked = (uint64_t)usage.ru_nvcsw,
      .preempted = (uint64_t)usage.ru_nivcsw,
  };
  return p->ns != 0;
}

static void keep_reading(struct thread *t, uint64_t now) {
  uint64_t before = t->processor.ns;
  if (!read_processor(&t->processor, now))
    t->processor = (struct processor){.tick = now};
  struct aprof_block *b = t->block;
  b->cpu_tick = t->processor.ns != 0 ? now : 0;
  b->cpu_ns += before != 0 ? elapsed(before, t->processor.ns) : 0;
}

void slice_thread_starts(struct thread *t, uint64_t now) {
  t->long_count = t->slice_count - 1;
  t->processor.ns = 0;
  keep_reading(t, now);
}

bool slice_polled(struct thread *t, uint64_t idle, uint64_t now) {
  bool reads = now - t->processor.tick >= clock_ticks(READ_NS);
  if (reads)
    keep_reading(t, now);
  else if (now - idle >= clock_ticks(POLL_NS))
    t->processor.polls++;
  return reads;
}

static uint64_t less(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static uint32_t microseconds(uint64_t ns) {
  return (uint32_t)less(ns / 1000, UINT32_MAX);
}

/* Of a slice of that length, ns, which ends now. */
struct judged {
  uint64_t preempted, on_least, on_most; /* on_most 0: not known */
};

static struct judged judge(struct thread *t, uint64_t length, uint64_t now) {
  struct processor before = t->processor;
  struct judged j = {0, 0, 0};
  keep_reading(t, now);
  const struct processor *p = &t->processor;
  if (before.ns == 0 || p->ns == 0)
    return j;
  uint64_t on = elapsed(before.ns, p->ns), since = clock_ns(elapsed(before.tick, now));
  uint64_t outside = elapsed(length, since);
  j.on_most = less(length, on);
  j.on_least = less(elapsed(outside, on), j.on_most);
  if (p->preempted > before.preempted && p->blocked - before.blocked <= before.polls)
    j.preempted = length - j.on_most;
  return j;
}

static struct hold *last_hold(struct thread *t) {
  return &t->holds[(t->holds_next + HOLDS - 1) % HOLDS];
}

static void hold_remember(struct thread *t, uint64_t now, uint64_t preempted) {
  struct hold *h = &t->holds[t->holds_next];
  t->holds_next = (t->holds_next + 1) % HOLDS;
  if (h->node != 0)
    t->forgot_until = h->end;
  *h = (struct hold){.begin = t->block->slice_tick,
                     .end = now,
                     .preempted = preempted,
                     .slice = t->slice_count,
                     .node = t->block->slice_node};
  t->held_until = now;
}

void hold_forget(struct thread *t) {
  struct hold *h = last_hold(t);
  if (h->node == 0 || h->slice != t->slice_count)
    return;
  *h = (struct hold){.node = 0};
  t->holds_next = (t->holds_next + HOLDS - 1) % HOLDS;
  t->held_until = last_hold(t)->end;
}

void holds_forget(struct thread *t) {
  memset(t->holds, 0, sizeof t->holds);
  t->held_until = t->forgot_until = 0;
}

uint64_t slice_long(struct thread *t, struct aprof_counters *c, uint64_t now, uint32_t site) {
  struct aprof_block *b = t->block;
  uint64_t own = now - b->slice_tick, most = c->function.slice_max;
  struct judged j = {0, 0, 0};
  if (b->slice_node != 0 && own > clock_ticks(LONG_NS))
    j = judge(t, clock_ns(own), now);
  uint64_t preempted = less(clock_ticks(j.preempted), own);
  own -= preempted;
  b->preempted += preempted;
  raise_max(t, &b->preempted_max, preempted);
  t->long_count = t->slice_count;
  t->long_own = own;
  if (raise_max(t, &most, own)) {
    c->function.slice_max = most;
    c->function.slice_from = b->slice_from;
    c->function.slice_to = site;
    c->function.on_cpu_least_us = microseconds(j.on_least);
    c->function.on_cpu_most_us = microseconds(j.on_most);
  }
  uint32_t looked_at = rt.clock == APROF_CLOCK_VIRTUAL ? LONG_NS : LOOK_NS;
  c->function.slice_limit = less(less(most, clock_ticks(looked_at)) + 1, histogram_slice_limit(c));
  if (b->slice_node != 0 && own > clock_ticks(LONG_NS))
    hold_remember(t, now, preempted);
  return own;
}

/* -- whom it delayed ------------------------------------------------------- */

static void hold_delayed(struct thread *t, const struct hold *h, const struct aprof_future *f,
                         uint64_t overlap) {
  struct node_entry *e = node_beneath(t, h->node, node_function(f->node), APROF_NODE_DELAYED);
  if (e == NULL) {
    __atomic_fetch_add(&rt.header->lost_delays, 1, __ATOMIC_RELAXED);
    return;
  }
  e->counters->await.count++;
  e->counters->await.waiting += overlap;
  raise_max(t, &e->counters->await.max, overlap);
}

void future_delayed(struct thread *t, const struct aprof_future *f, uint64_t since, uint64_t now) {
  uint64_t least = clock_ticks(LONG_NS);
  if (elapsed(since, now) <= least)
    return;
  if (elapsed(since, t->forgot_until) > least)
    __atomic_fetch_add(&rt.header->lost_delays, 1, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < HOLDS; i++) {
    const struct hold *h = &t->holds[i];
    uint64_t from = h->begin > since ? h->begin : since;
    uint64_t overlap = elapsed(h->preempted, elapsed(from, less(h->end, now)));
    if (overlap > least)
      hold_delayed(t, h, f, overlap);
  }
}
