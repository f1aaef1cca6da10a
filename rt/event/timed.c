/* SPDX-License-Identifier: MIT */
/*
 * What events cost as it happens.
 *
 * Every TIMED_EVERY events of a thread, sooner at first, at its next general
 * event, TIMED_ROW of them in a row are timed, each from outside itself. While that goes on
 * `t->usual` is no epoch, so the fast event goes on in the timed one here, which makes it once more
 * between two looks at the clock. What these cost is not taken off. It stands for what they do not
 * see: the call, registers that the program saves for it, its own data and code that the event's
 * push out of the caches. `bench/deep.sh` compares what comes out with the truth.
 */
#include "timed.h"

#include "gates.h"
#include "rt/count/govern.h"
#include "rt/file/clock.h"

struct aprof_gate timed_usual;

struct timing {
  uint64_t tick, events;
};

static struct timing timing_begin(struct thread *t) {
  t->usual = t->epoch;
  return (struct timing){.events = t->block->sequence / 2, .tick = clock_read()};
}

/* It stands for all events since the last one: the first have much to register. */
static void row_ends(struct thread *t) {
  struct aprof_block *b = t->block;
  uint64_t events = b->sequence / 2 - t->row_from;
  t->row_from += events;
  if (t->row_events == 0)
    return;
  b->timed_ticks += (uint64_t)((double)t->row_ticks / (double)t->row_events * (double)events);
  b->timed_events += events;
}

static void timing_end(struct thread *t, struct timing began) {
  uint64_t passed = clock_read() - began.tick;
  if (aprof_self != t || t->usual != t->epoch || t->to_time == 0)
    return; /* it is another epoch, or thread */
  if (passed < t->row_most) {
    t->row_ticks += passed;
    t->row_events += t->block->sequence / 2 - began.events;
  }
  if (--t->to_time != 0)
    t->usual = 0;
  else
    row_ends(t);
}

/* All but a timed one are tail calls, so that nothing is saved for these. */
#define TIMED(quiet, role, name, parameters, arguments)                                            \
  static SLOW void time_##name parameters {                                                        \
    struct thread *t = aprof_self;                                                                 \
    struct timing began = timing_begin(t);                                                         \
    timed_usual.name arguments;                                                                    \
    timing_end(t, began);                                                                          \
  }                                                                                                \
  static SLOW void pending_##name parameters {                                                     \
    struct thread *t = aprof_self;                                                                 \
    t->usual = t->epoch;                                                                           \
    timed_usual.name arguments;                                                                    \
    if (aprof_self == t && t->finishing != 0)                                                      \
      t->usual = 0;                                                                                \
  }                                                                                                \
  void slow_##name parameters {                                                                    \
    const struct thread *t = aprof_self;                                                           \
    if (unlikely(t->usual != t->epoch) && t->to_time != 0)                                         \
      time_##name arguments;                                                                       \
    else if ((quiet) && unlikely(t->usual != t->epoch) && t->finishing != 0)                       \
      pending_##name arguments;                                                                    \
    else                                                                                           \
      general_##name arguments;                                                                    \
  }                                                                                                \
  void timed_##name parameters {                                                                   \
    const struct aprof_gate *told = aprof_self->told_by;                                           \
    if (unlikely(told != NULL))                                                                    \
      told->name arguments;                                                                        \
    else                                                                                           \
      slow_##name arguments;                                                                       \
  }
QUIET_EVENTS(TIMED, true)
OTHER_EVENTS(TIMED, false)
