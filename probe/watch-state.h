/* SPDX-License-Identifier: MIT */
/*
 * Watching, between its files: watch-go.c goes on until it is time to end, watch-hit.c looks at
 * each hit. Cost, locking: see watch.h.
 */
#ifndef APROF_PROBE_WATCH_STATE_H
#define APROF_PROBE_WATCH_STATE_H

#include "breakpoint.h"
#include "tally.h"
#include "watch.h"

#include <signal.h>

/* A call whose return is to come. */
struct open_call {
  uint64_t frame;
  struct probe_hit hit;
};

struct watching {
  struct debug *debug;
  const struct places *places;
  const struct watch *watch;
  struct probe_result *result;
  struct breakpoints *breakpoints;
  struct expression *shown[PROBE_SHOWN], *condition;
  struct open_call *open;
  size_t opens;
  uint64_t returns[PROBE_ADDRESSES];
  size_t return_count;
  struct tally tally;
  uint64_t looked, looked_hits;
  int ends;            /* pidfd; -1 */
  bool armed, is_copy; /* is_copy: what the kernel fills is the other process's */
  struct sigaction before[2];
};

/* watch-hit.c */
void watch_hit(struct watching *, const struct breakpoint_hit *);
/* The return of that call is not seen: how long it took is not known. */
void watch_unpaired(struct watching *, struct probe_hit *);

#endif
