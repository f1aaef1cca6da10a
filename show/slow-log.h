/* SPDX-License-Identifier: MIT */
/*
 * A log of slow requests: a line for each as it ends, logfmt or JSON.
 *
 * In: views of one live process, one after the other, whose log is on. Out: the requests that are
 * new there, and how many were left out: one line too many in a second, or no longer in the log
 * when it was looked at. Cost: linear in what the log has room for. Locking: none.
 */
#ifndef APROF_SHOW_SLOW_LOG_H
#define APROF_SHOW_SLOW_LOG_H

#include "read/view.h"

#include <stdio.h>

struct slow_log {
  const char *kind; /* pattern (glob(7)); NULL: all */
  uint64_t over;    /* ns */
  uint64_t most;    /* lines a second; 0: any number */
  bool json;
  FILE *out;

  /* Its own. */
  bool started;
  uint64_t next;   /* number of the first request that is not looked at yet */
  uint64_t logged; /* as of the last view */
  uint64_t left_out;
  uint64_t second, lines; /* the second of the last lines, and how many it had */
};

/* `now`: ns, of any clock that goes on. What the first view has was before. */
void slow_log_look(struct slow_log *, const struct view *, uint64_t now);
/* At the end: what was left out since it was last said. */
void slow_log_end(struct slow_log *);

#endif
