/* SPDX-License-Identifier: MIT */
/*
 * The model: a profile's numbers in nanoseconds, by path, function and thread.
 *
 * Purpose: the reader's half of the ledger (the partition in
 * <aprof/profile.h>). Every stored leaf (a counters record) is converted on its
 * own; all else is an integer sum of converted leaves and open segments, so the
 * equations hold to the nanosecond:
 *     created = done + failed + cancelled + detached + live
 *     wall    = queued + exec + waiting        waiting = sum over awaits
 *     elapsed = exec + idle + other            (threads)
 * Cost: linear in the profile's size; a few hundred bytes a path.
 * Locking: none; works on the private copy.
 */
#ifndef APROF_READ_MODEL_H
#define APROF_READ_MODEL_H

#include "names.h"
#include "profile.h"

#define MODEL_NONE UINT32_MAX
#define MODEL_OTHER 0u /* node (other): paths beyond the cap, or unreadable */

enum { MODEL_KINDS = APROF_NODE_SPAN + 1 };

struct model_leaf {
  const struct aprof_counters *counters;
  uint32_t block;
  uint32_t next; /* leaf of the same node, MODEL_NONE: last */
};

/* A path. Parents come before their children. */
struct model_node {
  uint32_t parent; /* MODEL_NONE: a root */
  uint32_t name;   /* index in names */
  uint32_t
      function;  /* index; of an await: the one that waits; MODEL_NONE: of a span outside futures */
  uint32_t next; /* node of the same function and sort */
  uint32_t leaves;
  uint8_t kind; /* enum aprof_node_kind */
  bool shared;  /* two threads ran one of its futures at once */
  /* a function's path; waiting: sum over its awaits */
  uint64_t done, failed, cancelled, detached, live, born_done, slices; /* done: of a span, too */
  uint64_t exec, queued, waiting, children_exec;
  uint64_t pool_exec; /* of exec, on threads that hold no loop */
  uint64_t exec_max, wall_max, slice_max;
  uint32_t slice_from, slice_to;      /* names */
  uint64_t on_cpu_least, on_cpu_most; /* of the longest slice; most 0: not known */
  uint32_t mostly; /* path beneath it that took most of the longest slice; MODEL_NONE: none */
  /* of the other kinds, which have waiting, too: an await's wait, what was queued
     after a waker (part of the function's queued), how long a call blocked (part of
     its exec), how long others were queued meanwhile (part of their queued) */
  uint64_t count, immediate, max;
  uint64_t open; /* of waiting: in waits of what lives, which count has not */
};

struct model_function {
  uint32_t name;
  uint32_t list[MODEL_KINDS]; /* its nodes by kind, linked by model_node.next */
};

/* A slice of a thread: its longest, or the one that goes on. */
struct model_hold {
  uint64_t time;               /* ns; 0: none */
  uint32_t from, to, function; /* names; `to` only of one that is over */
  uint64_t slices;             /* so many that the thread has had; not of one that goes on */
};

struct model_thread {
  uint32_t block;
  int32_t tid;
  char name[17];
  uint64_t events, cost, exec, idle, other, missed_events, reused_keys; /* cost: ns */
  uint64_t cpu;                      /* ns on a processor; 0: not known */
  uint64_t preempted, preempted_max; /* in slices of which that is known, in one of them: ns */
  struct model_hold hold, open;
};

struct model_live {
  uint64_t id, parent, age, since; /* ns */
  uint64_t due;                    /* ns until it is; 0: it waits for no time, or that has come */
  uint32_t function;               /* index */
  uint32_t await;                  /* name, or NAME_UNKNOWN */
  uint32_t create;                 /* name of the site that created it */
  bool started;                    /* it has run */
  bool aside;                      /* it waits for what it called, on its own stack */
  uint8_t state;                   /* enum aprof_future_state */
  int32_t tid;                     /* of the thread that ran it last; 0: none has */
  uint64_t request;                /* id; 0: of none */
};

/* Events of one place that could not be placed, or found nothing. */
struct model_miss {
  uint32_t name;
  uint8_t kind; /* enum aprof_miss */
  bool matched; /* of one that has a key: what is called there has found a future */
  uint64_t count;
};

struct model_health {
  uint64_t events, general_events, cost, missed_events, reused_keys, migrations, nested_events,
      unmatched_awaits;
  uint64_t torn_threads;
};

struct model {
  const struct profile *profile;
  const struct names *names;
  uint64_t rate, now; /* ns per tick << 32; tick */
  bool ended;         /* the process has */
  uint32_t only;      /* block; MODEL_NONE: all of them */
  struct model_node *node;
  uint32_t nodes, node_room;
  uint32_t *node_of; /* by node number; MODEL_NONE: not there */
  uint32_t node_of_count;
  uint32_t *slot, slots; /* hash table over node */
  struct model_function *function;
  uint32_t functions;
  uint32_t *function_of; /* by name */
  struct model_leaf *leaf;
  uint32_t leaves;
  uint64_t *block_exec;          /* ns, by block number: stored, of all functions */
  struct model_hold *block_hold; /* by block number */
  uint32_t *thread_of;           /* by block number; MODEL_NONE: never used */
  uint32_t block_count;
  struct model_thread *thread;
  uint32_t threads;
  struct model_live *live; /* oldest first */
  uint32_t lives;
  struct model_health health;
  struct model_miss *miss; /* most of them first */
  uint32_t misses;
};

/* The function waits there for new work: a line says so of the place, or of the function. A
   callback then waits for its next run there. */
bool model_background(const struct model *, uint32_t function, const struct name *place);

/* `now`: the tick at which open segments end; `ended`: no thread runs on. */
struct model *model_new(const struct profile *, const struct names *, uint64_t rate, uint64_t now,
                        bool ended);
/* The model of one thread: what it ran, counted and has alive. `block` is the number of its
   block. */
struct model *model_of_block(const struct profile *, const struct names *, uint64_t rate,
                             uint64_t now, bool ended, uint32_t block);
void model_free(struct model *);

/* model-tree.c: paths, functions and stored counters. */
void model_build_tree(struct model *);
void model_add_pools(struct model *); /* what ran there; after the threads */
uint32_t model_add_node(struct model *, uint32_t parent, uint32_t name, uint8_t kind);
/* What runs, or ran: has exec, and paths beneath it. */
static inline bool model_is_body(const struct model_node *n) {
  return n->kind == APROF_NODE_FUNCTION || n->kind == APROF_NODE_SPAN;
}
/* The path of a stored node number: MODEL_OTHER where it is not there. */
uint32_t model_node_of(const struct model *, uint32_t number);

/* A pool's: it has run futures, and none of them began a slice, so all were workers. The
   first thread may be in its first slice. Not before model_add_threads. */
bool model_is_pool(const struct model *, uint32_t block);

/* model-open.c: what is going on at `now`: live futures and threads. */
void model_add_futures(struct model *);
void model_add_threads(struct model *);
/* model-miss.c */
void model_add_misses(struct model *);
/* An end, wake or switch: the key it names need not be a future's. */
bool model_miss_has_key(const struct model_miss *);

/* Whether a block is meant, and its counters are of the time since the last reset. */
bool model_counts(const struct model *, uint32_t block);

/* Epoch of a future's id, as the header counts epochs. */
uint32_t model_epoch_of(const struct aprof_header *, uint64_t id);

#endif
