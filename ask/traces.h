/* SPDX-License-Identifier: MIT */
/*
 * Requests of several processes that belong together: those with one trace.
 *
 * In: a view of several processes. Out: traces that more than one of them knows, each with its
 * requests: the one that called the others, mostly the longest, and these as a tree, by the span
 * that each came from, and in the order in which they began. Only recordings have that span: of
 * totals all others are the first one's. Clocks of hosts differ: who was asked began behind who
 * asked, and was done before, but for what is left to do behind an answer, so each request narrows
 * down how far its clock is off. trace-clocks.c
 *
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
  size_t parent;                /* who asked for it, in its trace; SIZE_MAX: it is the first one */
  bool by_span;   /* its parent's span says so; else it is the first one's, as far as one knows */
  unsigned depth; /* 0: the first one */
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
  bool fits; /* but for an eighth of them at most; else many went on behind their answers, or a
                clock was set */
  int64_t least, most;
  int64_t *done; /* of each request: so far it is behind at most if that was done in time */
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
/* ask_traces does these. trace-clocks.c, trace-tree.c */
void traces_align(struct traces *, const struct view *);
void traces_nest(struct traces *);
/* Who asked may have been done before the one that was asked: then it is not the longest. */
void traces_root(struct traces *);

/* What ask_traces needs of recordings, in their order: all requests that have a trace and are whole
   as a view's slowest. They have to stay, as their texts are the view's. trace-recorded.c */
struct story;
struct view *traces_recorded(struct story *const *, size_t stories);

#endif
