/* SPDX-License-Identifier: MIT */
/*
 * A look at processes, one or all that fit, as one view.
 *
 * In: which processes, and over how long. Out: their view: of several one in which they are put
 * together. Cost: a look at each, and of memory their sum some times. Locking: none.
 */
#ifndef APROF_CLI_SERVE_LOOK_H
#define APROF_CLI_SERVE_LOOK_H

#include "serve-agents.h"
#include "serve-directory.h"
#include "serve-stream.h"
#include "serve-watch.h"

/* Where processes are known from: one of these. */
struct origin {
  struct agents *agents;      /* other servers; or NULL */
  struct directory directory; /* if it has a path */
  struct watch watch;         /* else: live ones */
  const char *labels;         /* of this host; or NULL */
};

struct look {
  struct view *view; /* the caller's to change until look_end */
  struct looked is;
  struct moments moments; /* of the range, of all of them */
  size_t left_out;        /* fit, and are not in it */
  struct look_part *part; /* sums of some each, while it begins */
  size_t parts;
};

/* False: there is none that fits. To be ended before the next one. */
bool look_begin(struct origin *, const struct feed_key *, struct look *);
void look_end(struct look *);

#endif
