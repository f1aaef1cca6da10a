/* SPDX-License-Identifier: MIT */
/*
 * Requests of several processes that belong together: those with one trace.
 *
 * In: a view of several processes. Out: traces that more than one of them knows, each with its
 * requests, the longest first: who called comes before who was called.
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
};

struct traces ask_traces(const struct view *);
void traces_release(struct traces *);

#endif
