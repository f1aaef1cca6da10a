/* SPDX-License-Identifier: MIT */
/*
 * A process whose profile is read again and again: what `aprof top` and `aprof serve` share.
 *
 * Purpose: the profile stays open, and each reading goes into a history, over which windows are.
 * Cost: that of read/follow.h for a reading; memory as history.h is given it. Locking: none.
 */
#ifndef APROF_CLI_FOLLOWED_H
#define APROF_CLI_FOLLOWED_H

#include "find.h"
#include "read/history.h"

#include <stdbool.h>

struct followed {
  int fd;   /* the profile */
  long pid; /* as we see it; 0: the number it has for itself */
  bool ended, stopped;
  bool log; /* readings have the slow requests of the profile's log: to be set by who wants them */
  struct aprof_header header;
  struct follow *follow;
  struct history *history;
};

/* Keeps a descriptor of its own. `longest`, `memory`: of history_new. False after a message; to be
   closed all the same. */
bool followed_open(struct followed *, const struct found *, uint64_t longest, size_t memory);
void followed_close(struct followed *);
/* The number by which we see it. */
long followed_pid(const struct followed *);
/* Adds a reading, the last one where the process has `ended`; windows that were given out are to be
   freed before. */
void followed_read(struct followed *, bool ended);

#endif
