/* SPDX-License-Identifier: MIT */
/*
 * Whether a recording adds up: what its events sum up to, beside what the process counted.
 *
 * In: a replay, in ticks. Out: of each path what the segments of the story have, and by how much
 * the counters grew between the images, with what was open then. Where nothing is lost, and each
 * image is of one moment, the two are equal, in ticks.
 * Cost: linear. Locking: none.
 */
#ifndef APROF_RECORD_BALANCE_H
#define APROF_RECORD_BALANCE_H

#include "replay.h"

struct balance_sums {
  uint64_t exec, queued, waiting; /* ticks */
  uint64_t waits, ended;          /* that are over */
};

struct balance {
  struct balance_sums told, counted; /* by the events; by the counters */
};

/* Of each path of the story; to be freed. Before replay_finish. */
struct balance *balance_new(const struct replay *);
/* Whether the two are equal. */
bool balance_holds(const struct balance *);

#endif
