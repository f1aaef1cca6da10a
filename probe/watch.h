/* SPDX-License-Identifier: MIT */
/*
 * Watches places of a process until it is time to end, and sums up what came by.
 *
 * Cost: this process's, and some microseconds of the other one's at each hit. Locking: none; one at
 * a time; SIGINT and SIGTERM end it before its time, from watch_arm to watch_stop.
 */
#ifndef APROF_PROBE_WATCH_H
#define APROF_PROBE_WATCH_H

#include "expression.h"
#include "place.h"
#include "probe.h"

struct watch {
  const char *what, *asked;       /* the process, the place; for people */
  const char *shown[PROBE_SHOWN]; /* expressions */
  size_t showns;
  const char *condition; /* or NULL */
  bool stack, duration;
  bool instructions; /* breakpoint instructions, see uprobe.h */
  bool later;        /* code that is loaded later may have the place, were it nowhere by now */
  bool keep;         /* hits are added up by watch_count alone */
  uint64_t over;     /* ns */
  uint64_t span;     /* ns; 0: until it ends, or somebody ends it */
  uint64_t most;     /* hits that match; 0: any number */
  uint64_t ceiling;  /* hits a second, at most */
  /* Each hit that matches, of a duration once that is known; or NULL. Those that are kept are told
     in the order in which they are. */
  void (*tell)(const struct probe_result *, const struct probe_hit *, void *context);
  void *context;
};

/* Addresses at once. */
static inline size_t watch_most(const struct watch *w) {
  return w->instructions ? PROBE_ADDRESSES : PROBE_HARDWARE;
}

struct watching;

/* What is asked is understood; nothing is armed yet. NULL after a message. */
struct watching *watch_new(struct debug *, const struct places *, const struct watch *,
                           struct probe_result *);
/* False after a message, where nothing is watched. */
bool watch_arm(struct watching *);
/* For so many ns, or less; false: it is over. */
bool watch_go(struct watching *, uint64_t ns);
/* Nothing is armed any more; what was left is looked at. */
void watch_stop(struct watching *);
/* A hit that is kept counts, or (`watch_settle`) does not; see tally_hit. */
void watch_count(struct watching *, size_t hit, const char *above);
void watch_settle(struct watching *);
/* In a copy of the process that watches, as fork makes them: what there is so far is settled here;
   the other one goes on and does not notice. */
void watch_so_far(struct watching *);
void watch_free(struct watching *);
void watch_release(struct probe_result *);

#endif
