/* SPDX-License-Identifier: MIT */
/*
 * Governed overhead: when a thread sheds detail, and when it takes it back.
 *
 * What events cost is known beforehand: measured at start, at each step (cost.c). So a
 * window of a thread's events and time tells what they cost now, and what they would
 * have cost at any other step.
 *
 *   more than the ceiling in one window:   at once to the first step that fits
 *   less would do, for CALM in a row:      back to the highest that any of the windows
 *                                          in that time would have needed
 *
 * A step fits only with room to spare, more so when taking back; a thread that has to shed
 * again soon after taking back waits twice as long the next time. So a load at the edge
 * of a step changes it a few times a minute at most.
 */
#include "govern.h"

#define STRIDE 64u /* events between looks at the clock */
#define WINDOW_NS 100000000u
#define CALM_NS 1000000000u
#define CALM_MOST_NS 64000000000u
#define RELAPSE_NS 10000000000u /* so soon after taking back it was too early */
#define SHED_PERCENT 90u        /* of the ceiling: what fits when shedding, ... */
#define RELIEF_PERCENT 70u      /* ... and when taking back */

/* -- when events are timed ---------------------------------------------------------- */

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
  if (unlikely(t->finishing != 0)) { /* its events are none of the usual */
    t->time_at = t->block->sequence + 2;
    return;
  }
  t->to_time = TIMED_ROW;
  t->row_events = t->row_ticks = 0;
  t->row_most = clock_ticks(TIMED_MOST_NS);
  t->usual = 0;
  uint64_t events = t->block->sequence / 2, next = 4 * events;
  t->time_at = 2 * (next < events + TIMED_EVERY ? next : events + TIMED_EVERY);
}

/* -- what was done when, for the reader ------------------------------------------- */

static struct aprof_period *period(struct aprof_block *b, uint32_t number) {
  return &b->periods[number % APROF_PERIODS];
}

static void change(struct thread *t, enum aprof_step step, uint64_t now) {
  struct aprof_block *b = t->block;
  bool last_event = step == APROF_STEP_NONE; /* of its thread, which nothing counts after it */
  uint64_t events = (b->sequence + last_event) / 2;
  uint64_t passed = now > b->step_tick ? now - b->step_tick : 0;
  b->at_step[b->step].ticks += passed;
  b->at_step[b->step].events += events - b->step_event;
  b->at_step[b->step].general += b->general_events - b->step_general;
  if (b->step != APROF_STEP_NONE) {
    struct aprof_period *last = period(b, b->changes - 1);
    last->events = events - b->step_event;
    last->end_tick = now;
  }
  b->step_tick = now;
  b->step_event = events;
  b->step_general = b->general_events;
  if (step != APROF_STEP_NONE)
    *period(b, b->changes++) = (struct aprof_period){.begin_tick = now, .step = step};
  b->step = step;
  t->shed = step;
  t->stood = now;
  t->coarse = step == APROF_STEP_COARSE ? clock_coarse() : 0;
}

/* -- what to do ------------------------------------------------------------------- */

/* The cost of such events at a step, in ticks. */
static uint64_t cost_at(enum aprof_step step, uint64_t events, uint64_t general) {
  const struct aprof_header *h = rt.header;
  return (events * h->step_cost_mticks[step] + general * h->general_cost_mticks) / 1000;
}

/* Is `cost` within so many percent of the ceiling, of `time`? */
static bool fits(uint64_t cost, uint64_t time, uint32_t percent) {
  unsigned __int128 ceiling = (unsigned __int128)time * rt.header->overhead_ppm * percent;
  return (unsigned __int128)cost * 100000000u <= ceiling;
}

/* The first step at which these events would have cost so little. A thread that is
   busy all the time would have had less of it for the same work. */
static enum aprof_step first_fitting(enum aprof_step now, uint64_t events, uint64_t general,
                                     uint64_t passed, uint32_t percent) {
  uint64_t spent = cost_at(now, events, general);
  for (enum aprof_step step = APROF_STEP_NONE; step < APROF_STEP_COUNTS; step++) {
    uint64_t cost = cost_at(step, events, general), time = passed;
    if (cost < spent)
      time = passed > spent ? passed - spent + cost : cost;
    if (fits(cost, time, percent))
      return step;
  }
  return APROF_STEP_COUNTS;
}

static void calm_from(struct govern *g, uint64_t now) {
  g->calm_since = now;
  g->calm_step = APROF_STEP_NONE;
}

static void shed_more(struct thread *t, enum aprof_step fitting, uint64_t now) {
  struct govern *g = &t->govern;
  bool relapse = g->relieved != 0 && now - g->relieved < clock_ticks(RELAPSE_NS) + g->calm_for;
  uint64_t most = clock_ticks(CALM_MOST_NS);
  if (!relapse)
    g->calm_for = clock_ticks(CALM_NS);
  else if (g->calm_for < most)
    g->calm_for *= 2;
  change(t, fitting > t->shed ? fitting : (enum aprof_step)(t->shed + 1), now);
  calm_from(g, now);
}

/* A window has ended: sheds, takes back, or leaves it. */
static void decide(struct thread *t, uint64_t events, uint64_t general, uint64_t passed,
                   uint64_t now) {
  struct govern *g = &t->govern;
  enum aprof_step step = t->shed, needed;
  if (!fits(cost_at(step, events, general), passed, 100)) {
    if (step < APROF_STEP_COUNTS)
      shed_more(t, first_fitting(step, events, general, passed, SHED_PERCENT), now);
    calm_from(g, now);
    return;
  }
  if (step == APROF_STEP_NONE)
    return;
  needed = first_fitting(step, events, general, passed, RELIEF_PERCENT);
  if (needed >= step) {
    calm_from(g, now);
    return;
  }
  if (needed > g->calm_step)
    g->calm_step = needed;
  if (now - g->calm_since >= g->calm_for) {
    change(t, g->calm_step, now);
    g->relieved = now;
    calm_from(g, now);
  }
}

static void open_window(struct thread *t, uint64_t now) {
  t->govern.begin = now;
  t->govern.events = t->block->sequence / 2;
  t->govern.general = t->block->general_events;
}

void govern(struct thread *t) {
  struct aprof_block *b = t->block;
  struct govern *g = &t->govern;
  if (b->sequence >= t->time_at)
    timing_row(t);
  if (rt.header->overhead_ppm == 0) {
    t->check_at = t->time_at;
    return;
  }
  uint64_t now = clock_read(), events = b->sequence / 2 - g->events;
  if (now < b->last)
    now = b->last;
  if (t->shed == APROF_STEP_COUNTS)
    t->stood = now;
  /* Where few events come, each is looked at: what was shed comes back with the first. */
  uint64_t passed = now - g->begin, stride = events < STRIDE && t->shed ? 1 : STRIDE;
  t->check_at = b->sequence + 2 * stride;
  if (t->check_at > t->time_at)
    t->check_at = t->time_at;
  if (passed < clock_ticks(WINDOW_NS))
    return;
  if (t->suspended != NULL) { /* slice_reopen relies on this step */
    t->check_at = b->sequence + 1;
    return;
  }
  decide(t, events, b->general_events - g->general, passed, now);
  open_window(t, now);
}

uint64_t govern_time(struct thread *t) {
  if (t->shed == APROF_STEP_COARSE) {
    uint64_t coarse = clock_coarse();
    if (coarse != t->coarse) {
      t->coarse = coarse;
      t->stood = clock_read();
      t->check_at = t->block->sequence + 1; /* a good moment to look */
    }
  }
  return t->stood;
}

void govern_start(struct thread *t, uint64_t now) {
  struct aprof_block *b = t->block;
  t->shed = APROF_STEP_NONE;
  t->check_at = rt.header->overhead_ppm != 0 ? b->sequence + 2 * STRIDE : UINT64_MAX;
  b->step_tick = now;
  b->step_event = b->sequence / 2;
  b->step_general = b->general_events;
  t->govern = (struct govern){.calm_for = clock_ticks(CALM_NS)};
  open_window(t, now);
}

/* Also without a ceiling: the next thread of this block counts its own events only. */
void govern_stop(struct thread *t, uint64_t now) {
  change(t, APROF_STEP_NONE, now);
}
