/*
 * Totals read back: what reports are made from.
 *
 * Purpose: JSON totals as structs, whether they come from a file, from a
 * profile or from a live process; and the interval between two of them.
 * Cost: the parsed JSON stays in memory, strings point into it.
 * Locking: none.
 */
#ifndef APROF_READ_READING_H
#define APROF_READ_READING_H

#include "histogram.h"

#include <aprof/profile.h>
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNKNOWN UINT64_MAX /* null in the JSON */

struct distribution {
  struct bucket *bucket;
  size_t count; /* 0: not measured */
  uint64_t p50, p99;
};

struct view_await {
  const char *file, *callee, *kind;
  uint64_t line; /* 0: unknown */
  bool background;
  uint64_t count, immediate, waiting, max;
  uint64_t ended; /* of waiting: in waits that are counted, as they have ended */
  struct distribution waits;
};

/* A call that blocked the loop. */
struct view_blocking {
  const char *file, *callee;
  uint64_t line, count, held, max;
};

/* Who woke futures of a function, and how long they were queued then. */
struct view_waker {
  const char *file, *name, *in; /* in: the function that the place lies in, or NULL */
  uint64_t line, count, queued, max;
  bool clock; /* nobody: it was due */
  struct distribution queued_of;
};

struct view_function {
  const char *name, *file;
  uint64_t line, column; /* 0: not known */
  bool instrumented;
  uint64_t created, done, failed, cancelled, detached, live, born_done, slices;
  uint64_t live_before; /* at the beginning of an interval; UNKNOWN: it was not there */
  uint64_t wall, queued, exec, waiting, children_exec;
  uint64_t loop_exec; /* of exec, what held a loop: not on a thread of a pool */
  uint64_t exec_max, wall_max, slice_max;
  const char *slice_from, *slice_to;           /* places, or NULL */
  const char *slice_from_name, *slice_to_name; /* or NULL */
  const char *mostly;                          /* ran for most of the longest slice; or NULL */
  uint64_t mostly_max;                         /* its longest run: */
  bool mostly_at_once;                         /* in one slice for sure */
  bool slice_at_start;                         /* slice_from is where it was created */
  struct distribution exec_of, slice_of, wall_of, queued_of;
  struct view_await *await;
  size_t awaits;
  struct view_blocking *blocking;
  size_t blockings;
  struct view_waker *waker;
  size_t wakers;
  unsigned shed;   /* 1 << enum aprof_step: what its numbers lack */
  bool unmeasured; /* mostly: then its times say nothing (governed_settle) */
};

struct view_path {
  size_t parent; /* index of an earlier one; SIZE_MAX: a root */
  uint64_t id;
  bool is_await, background;
  size_t function; /* index; SIZE_MAX: unknown */
  const char *name, *place, *kind;
  const struct view_await *await; /* of the function there; NULL where it has none */
  uint64_t count, immediate, created, exec, waiting, max;
  uint64_t ended; /* as view_await's */
};

struct view_live {
  size_t function;
  const struct view_await *await; /* that it is in; or NULL */
  const char *state, *place, *callee, *kind;
  const char *created_at, *created_by; /* or NULL */
  bool started, background;
  bool aside;  /* it waits for what it called, on its own stack; older totals do not say */
  int64_t tid; /* of the thread that ran it last; 0: none has */
  uint64_t id, parent, age, since, count;
  unsigned shed;               /* what its times lack: its function's, and its thread's */
  uint64_t age_min, since_min; /* of several: the youngest's */
  bool not_due;                /* it waits for a time that is still to come */
  uint64_t holds;              /* for how long its loop is held without a pause; 0: it holds none */
  const char *held_by, *held_from; /* the outermost on its stack, and what let that go on;
                                      or NULL */
};

struct view_thread {
  uint64_t block, exec, idle, other, elapsed;
  uint64_t cost; /* of its events, ns; UNKNOWN: not measured, or totals do not say */
  const char *name;
  int64_t tid;
  bool is_pool; /* it has run futures, none of which held a loop: all were workers */
  struct {
    uint64_t elapsed, events;
  } at_step[APROF_STEPS]; /* zeros where the overhead is not governed */
  unsigned shed;          /* 1 << enum aprof_step: what its numbers lack */
};

struct view_loop {
  const struct view_thread *thread; /* or NULL */
  int64_t tid;
  const char *name;
  uint64_t block, hold_max, open;   /* open: of the hold that goes on; or UNKNOWN */
  const char *from, *to, *function; /* or NULL */
  const char *open_from, *open_function;
};

/* Events of one place that found nothing to act on. */
struct view_miss {
  const char *kind, *name, *file, *in; /* name, file, in: NULL where unknown */
  uint64_t line, count;
  bool matched; /* what was called has found a future here or elsewhere */
};

struct view {
  cJSON *json;
  char *what; /* for messages */
  const char *name, *command, *host, *started_at, *dumped_at, *reason;
  uint64_t pid, elapsed, epoch, reset_epoch;
  uint64_t reset;    /* ns after the start; UNKNOWN: never */
  uint64_t measured; /* of elapsed: since the last reset, while profiling was on; or UNKNOWN */
  uint64_t events, event_cost, lost_futures, lost_events, lost_histograms, missed_events,
      nested_events, other_nodes, torn_threads, reused_keys;
  double overhead; /* percent; negative: unknown */
  unsigned shed;   /* by any thread; as view_thread's */
  bool consistent;
  bool confined; /* it had given up system calls */
  bool is_interval;
  struct view_function *function;
  size_t functions;
  struct view_path *path;
  size_t paths;
  struct view_live *live;
  size_t lives;
  struct view_thread *thread;
  size_t threads;
  struct view_loop *loop;
  size_t loops;
  struct view_miss *miss;
  size_t misses;
};

/* `target`: totals, a profile, or a PID. NULL after a message. load.c */
struct view *view_load(const char *target);
/* Text from anywhere: NULL after a message where it is no totals, or where its numbers
   cannot be (verify.h). load.c */
struct view *view_parse(const char *text, size_t length, const char *what);
/* What has passed verify_fields, or was just made: takes the JSON. */
struct view *view_new(cJSON *json, const char *what);
void view_free(struct view *);
/* Of view_new: what its parts refer to, and who holds which loop. reading-join.c */
void view_join(struct view *);

/* The directory, slash included, that all names of the functions' files
   share; "" where there is none. The caller frees it. */
char *view_directory(const struct view *);
/* Takes it off every name of a file and place. */
void view_shorten(struct view *, const char *directory);

/* Turns `later` into what happened between the two. A maximum is kept only if it
   has changed, so is new. False after a message where they do not belong together. */
bool view_subtract(struct view *later, const struct view *earlier);

#endif
