/* SPDX-License-Identifier: MIT */
/*
 * Long slices: whether the thread was on a processor, and what of the time it was not is its
 * own doing.
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
 */
#include <sys/resource.h>
#include <sys/syscall.h>

#include "slice.h"

#include "rt/count/govern.h"
#include "rt/file/clock.h"
#include "rt/sys/confine.h"
#include "rt/sys/raw.h"
#include "rt/sys/vdso.h"

#define LOOK_NS 50000u   /* longer slices go by the general events, ... */
#define LONG_NS 1000000u /* ... and for these the kernel is asked */
#define READ_NS 1000000u
#define POLL_NS 5000u /* a shorter one has found something to do at once */

/* False: the kernel may not be asked, or does not say. */
static bool read_processor(struct processor *p, uint64_t now) {
  struct rusage usage;
  if (rt.clock == APROF_CLOCK_VIRTUAL || was_confined_lately() ||
      raw_call(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0) != 0)
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

void slice_polled(struct thread *t, uint64_t idle) {
  uint64_t now = clock_read();
  if (now - t->processor.tick >= clock_ticks(READ_NS))
    keep_reading(t, now);
  else if (now - idle >= clock_ticks(POLL_NS))
    t->processor.polls++;
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

uint64_t slice_long(struct thread *t, struct aprof_counters *c, uint64_t now, uint32_t site) {
  struct aprof_block *b = t->block;
  uint64_t own = now - b->slice_tick, most = c->function.slice_max;
  struct judged j = {0, 0, 0};
  if (b->slice_node != 0 && own >= clock_ticks(LONG_NS))
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
    c->function.slice_limit =
        rt.clock == APROF_CLOCK_VIRTUAL ? most : less(most, clock_ticks(LOOK_NS));
  }
  return own;
}
