/* SPDX-License-Identifier: MIT */
/*
 * Watches places of a process until it is time to end, and sums up what came by.
 *
 * Cost: this process's, and some microseconds of the other one's at each hit. Locking: none; SIGINT
 * and SIGTERM end it before its time.
 */
#ifndef APROF_PROBE_WATCH_H
#define APROF_PROBE_WATCH_H

#include "expression.h"
#include "place.h"
#include "probe.h"

/* One hit that matched. */
struct watch_hit {
  uint64_t at; /* ns since the beginning */
  int tid;
  const struct probe_place *place;
  uint64_t duration;  /* ns; or UINT64_MAX: it is of none */
  char *const *value; /* of each expression; NULL: unknown */
  size_t values;
};

struct watch {
  const char *what, *asked;       /* the process, the place; for people */
  const char *shown[PROBE_SHOWN]; /* expressions */
  size_t showns;
  const char *condition; /* or NULL */
  bool stack, duration;
  uint64_t over;                  /* ns */
  uint64_t span;                  /* ns; 0: until it ends, or somebody ends it */
  uint64_t most;                  /* hits that match; 0: any number */
  uint64_t ceiling;               /* hits a second, at most */
  void (*started)(void *context); /* it is armed; or NULL */
  void (*tell)(const struct watch_hit *, void *context); /* of each hit that matches; or NULL */
  /* Some times a second; or NULL. True in a copy of the process that watches, as fork makes them:
     it watches no more, and has what there is so far. The other one goes on and does not notice. */
  bool (*look)(void *context);
  void *context;
};

/* False after a message, where nothing was watched. */
bool watch_run(struct debug *, const struct places *, const struct watch *, struct probe_result *);
void watch_release(struct probe_result *);

#endif
