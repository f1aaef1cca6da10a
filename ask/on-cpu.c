/* SPDX-License-Identifier: MIT */
/* On a processor or not; see on-cpu.h. */
#include "on-cpu.h"

/* The first switch of the thread behind `at`, or where it would stand. */
static uint32_t switch_after(const struct story_kernel *k, uint32_t thread, uint64_t at) {
  uint32_t low = 0, high = k->switches_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const struct story_switch *x = &k->switches[middle];
    if (x->thread < thread || (x->thread == thread && x->at <= at))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void add(struct on_cpu *sum, uint32_t state, uint64_t time) {
  if (state == STORY_ON_CPU)
    sum->on += time;
  else if (state == STORY_PREEMPTED)
    sum->preempted += time;
  else if (state == STORY_BLOCKED)
    sum->blocked += time;
  else
    sum->unknown += time;
}

void on_cpu_add(struct on_cpu *sum, const struct story *s, uint32_t thread, uint64_t begin,
                uint64_t end) {
  const struct story_kernel *k = &s->kernel;
  uint32_t next = switch_after(k, thread, begin);
  bool before = next > 0 && k->switches[next - 1].thread == thread;
  uint32_t state = before ? k->switches[next - 1].to : STORY_ON_UNKNOWN;
  for (uint64_t at = begin; at < end;) {
    bool there = next < k->switches_count && k->switches[next].thread == thread;
    uint64_t until = there && k->switches[next].at < end ? k->switches[next].at : end;
    add(sum, state, until - at);
    at = until;
    if (there)
      state = k->switches[next++].to;
  }
}
