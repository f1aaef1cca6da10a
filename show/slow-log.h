/* SPDX-License-Identifier: MIT */
/*
 * A log of slow requests: a line for each as it ends, logfmt or JSON.
 *
 * In: views of one live process, one after the other. Out: those of its kept slowest that are new,
 * and how many that took as long are not among them.
 * Cost: linear in what is kept. Locking: none.
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
  struct slow_key {
    uint64_t name, begin, wall;
  } *known; /* those of the last view */
  size_t knowns;
  uint64_t longer; /* that took so long, as of the last view */
  uint64_t left_out;
  uint64_t second, lines; /* the second of the last lines, and how many it had */
};

/* `now`: ns, of any clock that goes on. The first view is what was before. */
void slow_log_look(struct slow_log *, const struct view *, uint64_t now);
/* At the end: what was left out since it was last said. */
void slow_log_end(struct slow_log *);

#endif
