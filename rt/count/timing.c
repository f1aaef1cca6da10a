/* SPDX-License-Identifier: MIT */
/* When a thread's events are timed; see timing.h. */
#include "timing.h"

#include "rt/file/clock.h"

#define TIMED_MOST_NS 10000u /* the thread has lost its processor meanwhile */

void timing_start(struct thread *t) {
  bool timed = rt.header->event_cost_mticks != 0;
  t->usual = t->epoch;
  t->to_time = 0;
  t->row_from = t->block->sequence / 2;
  t->time_at = timed ? t->block->sequence + 2 * TIMED_FIRST : UINT64_MAX;
  if (t->check_at > t->time_at)
    t->check_at = t->time_at;
}

void timing_row(struct thread *t) {
  t->to_time = TIMED_ROW;
  t->row_events = t->row_ticks = 0;
  t->row_most = clock_ticks(TIMED_MOST_NS);
  t->usual = 0;
  uint64_t events = t->block->sequence / 2, next = 4 * events;
  t->time_at = 2 * (next < events + TIMED_EVERY ? next : events + TIMED_EVERY);
}
