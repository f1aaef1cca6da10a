/* SPDX-License-Identifier: MIT */
/*
 * Requests of several processes that belong together: those with one trace.
 *
 * In: a view of several processes. Out: traces that more than one of them knows, each with its
 * requests: the longest, which called the others, and these in the order in which they began.
 * Clocks of hosts differ: who was asked began behind, and was done before, who asked, so each request narrows
 * down how far its clock is off. trace-clocks.c
 * Cost: n log n in the requests that are kept. Locking: none.
 */
#ifndef APROF_ASK_TRACES_H
#define APROF_ASK_TRACES_H

#include "read/view.h"

/* One that has ended, or that goes on. */
struct trace_part {
  const char *trace, *kind;
  bool labelled, live;
  uint64_t process; /* index in view.merged */
  uint64_t wall;    /* of one that goes on: so far */
  uint64_t exec, queued, waiting;
  const struct view_slow *slow; /* NULL: it goes on */
  bool placed;
  int64_t at;     /* ns behind the first one's begin, by that one's clock */
  uint64_t error; /* so much less or more */
};

/* How far the clock of a process is behind that of one whose requests it has served. */
struct trace_clock {
  uint64_t of, to; /* processes */
  int64_t behind;
  uint64_t error;
  uint64_t requests; /* by so many */
  bool one_host;     /* theirs is one clock */
  bool fits;         /* all of them; else some went on behind their answers, or a clock was set */
  int64_t least, most;
};

struct trace {
  const char *id;
  const struct trace_part *part;
  size_t parts;
};

struct traces {
  struct trace *of; /* the longest first */
  size_t count;
  struct trace_part *part;
  struct trace_clock *clock;
  size_t clocks;
};

struct traces ask_traces(const struct view *);
void traces_release(struct traces *);
/* ask_traces does it. */
void traces_align(struct traces *, const struct view *);

#endif
