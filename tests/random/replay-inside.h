/* SPDX-License-Identifier: MIT */
/*
 * The inside of the replay: what it knows of threads, futures and requests, and what was counted
 * when it began.
 *
 * Purpose: shared by replay.c and replay-counted.c. Cost, locking: as replay.h.
 */
#ifndef TESTS_RANDOM_REPLAY_INSIDE_H
#define TESTS_RANDOM_REPLAY_INSIDE_H

#include "replay.h"

#include "aprof/abi.h"

#define BLOCKS_MAX 64u
#define NODES_MAX 4096u
#define GIVEN_MAX 64u
#define REQUESTS_MAX 4096u

enum state { OVER, QUEUED, RUNNING, WAITING, ASIDE };

/* What is counted of a node, function or await. */
enum what { EXEC, QUEUED_FOR, WAITED, WAITS, ENDED, WHATS = ENDED + 3 };
struct replay_future {
  enum state state;
  uint32_t node, await, polled; /* polled: await of a wait that may go on */
  uint32_t request;
  bool called;
  uint32_t detached;     /* its number among those, and 1; 0: its epoch is not over */
  uint64_t id;           /* 0: none yet */
  uint64_t since, ready; /* ready: queued since then, if it waits; counted when that ends; 0: no */
};

/* What a future was at when its epoch ended. The runtime counts that when it needs the record, on
   whichever thread, and tells of it only since when it was queued. */
struct replay_detached {
  uint32_t index, node, await;
  uint64_t id, waited, queued;
};

struct replay_thread {
  const struct aprof_block *block;
  uint64_t seen; /* events */
  bool known, idle;
  uint32_t runs, node, span; /* runs: a future, 0: none */
  uint64_t since;
  uint32_t rest, epoch, now; /* epoch: that its counters began in; now: that it is in */
  uint64_t other_time, idle_time;
  struct {
    uint32_t span;
    uint64_t ticks;
  } given[GIVEN_MAX]; /* since its last WAITING */
  unsigned given_count;
  bool given_before; /* time was taken back that spans had before the replay began */
  uint64_t (*sums)[WHATS], (*before)[WHATS]; /* by node: replayed; counted then */
  uint64_t other_before, idle_before;
};

struct replay_kind {
  uint64_t count, failed, wall;
};
struct replay_request {
  uint64_t id, begin; /* id: as in events; 0: none */
};

/* Of the one replay that there is. */
struct replay {
  struct aprof_header *header; /* NULL: it has not begun */
  struct replay_future *futures;
  uint32_t future_room, future_end; /* end: behind the last that was met */
  struct replay_detached *detached;
  uint32_t detached_count;
  struct replay_thread threads[BLOCKS_MAX];
  struct replay_kind kinds[APROF_KINDS], kinds_before[APROF_KINDS];
  uint32_t kinds_epoch;
  struct replay_request requests[REQUESTS_MAX];
  uint64_t began; /* tick; 0: all is replayed */
  unsigned odd;   /* events that cannot be */
  const char *odd_why;
};
extern struct replay replay;

const void *replay_at(uint64_t offset);
void replay_each_chunk(void (*visit)(const struct aprof_chunk *));
struct replay_thread *replay_thread_at(uint32_t block);
const struct aprof_node *replay_node(uint32_t number); /* NULL: there is none */
uint32_t replay_function(uint32_t node);
/* A thread is in that epoch: those before are over. */
void replay_detach(uint32_t epoch);
/* After a reset kinds are counted from zero. */
void replay_kinds_current(void);

#endif
