/* SPDX-License-Identifier: MIT */
/*
 * The view: all numbers about a process, or several, over one interval, in memory.
 *
 * In: a profile, totals (JSON), two views of one process, or views of several. Out: these
 * structs; whatever asks or shows takes a view and nothing else. read/fields.c says of
 * each member what it is called, how it is read, tested, subtracted and merged.
 * Cost: linear in what it is made of; all of it lies in one arena. Locking: none.
 */
#ifndef APROF_READ_VIEW_H
#define APROF_READ_VIEW_H

#include "arena.h"
#include "histogram.h"
#include "profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNKNOWN UINT64_MAX    /* a number that was not measured: null in totals */
#define VIEW_LIVE_LIMIT 1000u /* futures listed one by one */

enum { FLAG_UNKNOWN = 2 }; /* of a flag that may be null */

/* What a number may lack where detail was shed. Counts are whole at each step. */
enum lack {
  LACK_HISTOGRAMS = 1, /* they have fewer values than counts say */
  LACK_PATHS = 2,      /* what is booked by path, and what children ran */
  LACK_TIMES = 4,      /* they come in steps of the kernel's tick, or say nothing for a while */
  LACK_MAXIMA = 8,     /* there may have been a longer one */
};

/* A list is a pointer and, right behind it, how many there are: fields.c counts on that. */

struct view_process {
  int64_t pid, parent_pid;
  const char *name, *command, *host, *reason;
  const char *started_at, *dumped_at, *profile;     /* or NULL */
  const char *container, *build_id, *aprof_version; /* or NULL */
  const char *labels;                               /* of its host: "zone=a,rack=7"; or NULL */
  uint64_t elapsed, sequence, epoch, reset_epoch;
  uint64_t processors; /* 0: not known */
  uint64_t measured;   /* of elapsed: since the last reset, while profiling was on; or UNKNOWN */
  uint64_t reset;      /* ns after the start; UNKNOWN: never */
  uint8_t enabled;
};

struct view_clock {
  const char *source;
  uint64_t hz;
};

struct view_health {
  uint64_t events, general_events, event_cost, lost_futures, folded_nodes, other_nodes,
      lost_histograms, lost_events, missed_events, nested_events, unmatched_awaits, reused_keys,
      migrations, torn_threads, lost_delays, lost_requests, lost_shares, slow_missed, cost, memory;
  uint64_t event_cost_least; /* at start; event_cost: of those timed, if any were */
  uint8_t event_cost_timed;
  double overhead;            /* percent of what the loops worked; negative: unknown */
  uint8_t consistent;         /* else it is torn: its parts may be of slightly different moments */
  uint8_t confined;           /* it had given up system calls */
  uint64_t refused_modules;   /* of another version of the plugin, so not profiled */
  const char *refused_module; /* one of them, or NULL */
};

/* What one of enum aprof_step is about: of the process, and of a thread. */
struct view_step {
  const char *step;
  uint64_t event_cost, elapsed, events;
};

struct view_governed {
  bool is;
  double ceiling;
  struct view_step at_step[APROF_STEPS];
};

struct view_period {
  const char *step;
  uint64_t begin, end, events; /* end UNKNOWN: it goes on */
};

struct view_thread {
  uint64_t process, block; /* process: index in view.merged */
  int64_t tid;
  const char *name;
  uint64_t events, exec, idle, other, elapsed, missed_events, reused_keys;
  uint64_t cost;      /* of its events, ns; UNKNOWN: not measured, or totals do not say */
  uint64_t worked;    /* without its sleep; UNKNOWN: not known, or no loop */
  uint64_t run_delay; /* ready while others had the processors, ns; UNKNOWN: it has ended */
  double overhead;
  bool governed; /* then also: */
  const char *step;
  uint64_t changes;
  struct view_step at_step[APROF_STEPS]; /* zeros where the overhead is not governed */
  struct view_period *period;
  size_t periods;
  /* made by view_settle */
  bool is_pool;   /* it has run futures, none of which held a loop: all were workers */
  unsigned shed;  /* 1 << enum aprof_step */
  unsigned lacks; /* enum lack: what its numbers do */
};

/* What a function ran on a loop. */
struct view_ran {
  const char *name, *file;
  uint64_t line; /* 0: unknown */
  uint64_t slices, exec;
};

enum { VIEW_RAN_LIMIT = 16 }; /* of each loop are told */

struct view_loop {
  uint64_t process, block;
  int64_t tid;
  const char *name;
  uint64_t elapsed, busy;
  double busy_share;
  uint64_t preempted, preempted_max; /* in slices: all; in one, UNKNOWN: none */
  uint64_t slice_max;                /* the longest that is over */
  const char *slice_between[2], *slice_names[2], *slice_function;
  uint64_t open; /* of the hold that goes on; or UNKNOWN */
  const char *open_from, *open_function;
  struct view_ran *ran; /* where there are several loops: most exec first */
  size_t rans;
  /* made by view_settle */
  const struct view_thread *thread; /* or NULL */
  uint64_t hold_max;                /* the longest, one that goes on included */
  const char *from, *to, *function; /* or NULL */
};

/* Events of one place that found nothing to act on. */
struct view_miss {
  const char *kind, *name, *file, *in; /* name, file, in: NULL where unknown */
  uint64_t line, count;
  uint8_t matched; /* what was called has found a future here or elsewhere; or FLAG_UNKNOWN */
};

struct view_await {
  const char *file, *callee, *kind;
  uint64_t line; /* 0: unknown */
  uint8_t background;
  uint64_t count, immediate, waiting, open, max;
  uint64_t ended; /* of waiting: in waits that are counted, as they have ended */
  struct distribution waits;
  const char *waits_for; /* "outside", "child" or "new_work"; made by view_settle */
};

/* A call that blocked the loop. */
struct view_blocking {
  const char *file, *callee;
  uint64_t line, count, held, max;
  struct distribution held_of;
};

/* Who woke futures of a function, and how long they were queued then. */
struct view_waker {
  const char *file, *name, *in; /* in: the function that the place lies in, or NULL */
  uint64_t line, count, queued, max;
  uint8_t clock; /* nobody: it was due */
  struct distribution queued_of;
};

/* A function whose futures were ready while this one held their loop for long. */
struct view_delayed {
  const char *name, *file;
  uint64_t line;    /* 0: unknown */
  uint64_t count;   /* times that one hold delayed one future */
  uint64_t delayed; /* ns that these were ready during those holds; part of its queued */
  uint64_t max;     /* the most of one future in one hold */
};

struct view_lateness {
  bool is;
  uint64_t count, total, max;
  struct distribution late;
};

struct view_function {
  uint64_t process; /* index in view.merged; UNKNOWN: of all of them */
  const char *name, *file, *model;
  uint64_t line, column; /* 0: not known */
  uint8_t instrumented;
  uint64_t created, done, failed, cancelled, detached, live, born_done, slices;
  uint64_t wall, queued, exec, pool_exec, waiting, children_exec;
  uint64_t exec_max, wall_max, slice_max;
  uint64_t on_cpu_least, on_cpu_most; /* of that slice; UNKNOWN: not known */
  const char *slice_between[2];       /* places, or NULL */
  const char *slice_names[2];         /* or NULL */
  const char *mostly;                 /* ran for most of the longest slice; or NULL */
  uint64_t mostly_max;                /* its longest run: */
  uint8_t mostly_at_once;             /* in one slice for sure */
  uint8_t slice_at_start;             /* slice_between begins where it was created */
  struct distribution exec_of, slice_of, wall_of, queued_of;
  struct view_await *await;
  size_t awaits;
  struct view_waker *waker;
  size_t wakers;
  struct view_lateness lateness;
  struct view_blocking *blocking;
  size_t blockings;
  struct view_delayed *delayed;
  size_t delays;
  unsigned shed;  /* 1 << enum aprof_step */
  uint8_t shared; /* two threads ran one of its futures at once: one of the two counts nowhere */
  /* made by view_settle */
  unsigned lacks;       /* enum lack: what its numbers do */
  uint64_t loop_exec;   /* of exec, what held a loop: not on a thread of a pool */
  uint64_t live_before; /* at the beginning of an interval; UNKNOWN: it was not there */
  bool unmeasured;      /* mostly: then its times say nothing */
};

/* Of requests, of each how much: the sum, the most, all. */
struct view_amount {
  uint64_t sum, max; /* max UNKNOWN: of none */
  struct distribution of;
};

/* A tier of a kind of requests: what those spent in it that were in it at all. */
struct view_tier {
  const char *name;
  uint64_t count;                                /* requests */
  struct view_amount calls, exec, waiting, wall; /* exec, waiting: its own */
};

struct view_slow_tier {
  const char *name;
  uint64_t calls, exec, waiting, wall;
};

/* One of the slowest requests of the last minutes. */
struct view_slow {
  uint64_t process;            /* index in view.merged */
  const char *began_at;        /* or NULL */
  const char *trace, *span_id; /* of its token, hexadecimal; NULL: it had none */
  const char *parent_span_id;  /* that its token came with; NULL: none did, or of totals */
  const char *function;        /* it began with */
  uint64_t begin;              /* ns after the start of the profile */
  uint64_t wall, exec, queued, waiting;
  uint8_t failed;
  struct view_slow_tier *tier; /* those with the most time */
  size_t tiers;
  uint64_t number; /* of one of the log, from 0: as they ended */
  /* made by view_settle */
  uint64_t member; /* exec, queued and waiting of all that was a part of it */
};

/* A kind of requests: of one label and function. */
struct view_kind {
  const char *kind; /* its label; of one that has none the function's name */
  uint8_t labelled; /* it is a label */
  const char *function, *file;
  uint64_t line;
  uint8_t implicit; /* began behind a background wait: nothing says "root" */
  uint64_t count, failed, live, after, after_exec;
  struct view_amount wall, queued, exec, waiting;
  struct view_tier *tier; /* the most member time first */
  size_t tiers;
  struct view_slow *slow; /* the longest first */
  size_t slows;
  struct view_slow *logged; /* of a profile, where wished for: those in its log, in no order */
  size_t loggeds;
  uint64_t other_exec,
      other_waiting; /* made by view_settle: of no tier. All that is queued is, too */
  uint64_t member;   /* made by view_settle: exec, queued and waiting */
};

/* A request that has not ended. */
struct view_pending {
  uint64_t process, id, parent; /* parent: of the request that ran where it began; 0: none */
  const char *kind, *function, *file;
  uint64_t line;
  const char *trace; /* as of struct view_slow */
  uint64_t age, members;
  uint64_t root;    /* id of the future that ends it; 0: it has none, or that is over */
  uint8_t rootless; /* it ends with its last future */
  uint64_t exec, queued, waiting; /* booked so far */
};

/* A plain function or call whose time is told apart. */
struct view_span {
  const char *name, *file, *tier; /* tier: or NULL */
  uint64_t line;
  const char *detail; /* time, count or off */
  uint64_t calls;     /* that are over */
  uint64_t exec;      /* its own, in futures */
  uint64_t waiting;   /* in awaits right beneath it */
  uint64_t other;     /* its own, outside of any future: of the threads' other */
};

struct view_path {
  uint64_t id, parent_id, function; /* function: index */
  bool is_await;
  const char *name, *place, *kind; /* of an await: callee, place, kind; of a span: its name, place,
                                      "span"; else the function's name */
  uint64_t calls;                  /* of a span, that are over */
  uint8_t background;
  uint64_t created, done, failed, cancelled, detached, live, born_done, slices;
  uint64_t wall, queued, exec, waiting, children_exec, count, immediate, open, max;
  uint64_t ended; /* as view_await's */
  uint8_t shared; /* of a function's, as there */
  uint64_t cpu;   /* ns on a processor, by samples: of recordings that have them */
  uint8_t whose;  /* of a native frame: enum view_whose */
  /* made by view_settle */
  const char *waits_for;          /* as view_await's; of a function's NULL */
  size_t parent;                  /* index of an earlier one; SIZE_MAX: a root */
  const struct view_await *await; /* of the function there; NULL where it has none */
};

/* Native frames lie beneath the future that ran them; their kind is "native". */
enum view_whose {
  VIEW_ASYNC,
  VIEW_PROGRAM,
  VIEW_LIBRARY,
  VIEW_GENERATED,
  VIEW_KERNEL,
  VIEW_NOBODY
};

/* What samples say of processor time. */
struct view_sampled {
  const char *if_hit;     /* of requests that came by there, from then on; NULL: of all there was */
  uint64_t samples, each; /* each: ns that one stands for */
  uint64_t outside;       /* of these, as no future ran */
  uint64_t frames, unknown;  /* native frames; of these, without a name */
  uint64_t lost;             /* records that are missing */
  bool user_only, throttled; /* none in the kernel; fewer than were asked for */
};

struct view_live {
  uint64_t process, id, parent, function; /* function: index */
  const char *name;
  const char *state; /* "queued", "running", "waiting"; NULL: it was ready, and no event
                        would tell what came then */
  const char *place, *callee, *kind, *created_at, *created_by; /* or NULL */
  uint64_t age, since, count;
  uint64_t age_min, since_min; /* of several: the youngest's */
  uint64_t due;                /* ns until it is; 0: it waits for no time, or that has come */
  uint8_t started, background;
  uint8_t aside;    /* it waits for what it called, on its own stack */
  int64_t tid;      /* of the thread that ran it last; 0: none has */
  uint64_t request; /* id of the one that it is a part of; 0: of none, or of several entries */
  /* made by view_settle */
  const struct view_await *await; /* that it is in; or NULL */
  unsigned shed;                  /* its function's, and its thread's */
  unsigned lacks;                 /* what its times do */
  uint64_t holds; /* for how long its loop is held without a pause; 0: it holds none */
  const char *held_by, *held_from; /* the outermost on its stack, and what let that go on;
                                      or NULL */
};

struct view {
  struct arena arena;
  const char *what;            /* for messages */
  uint64_t now;                /* tick that it is of; 0: it was not read from a profile */
  struct view_process process; /* of several: what they have in common, and the longest */
  struct view_process *merged; /* of totals that were merged */
  size_t processes;
  struct view_clock clock;
  struct view_health health;
  struct view_governed governed;
  struct view_sampled sampled; /* samples 0: there are none */
  struct view_thread *thread;
  size_t threads;
  struct view_loop *loop;
  size_t loops;
  struct view_miss *miss; /* that are in no number */
  size_t misses;
  struct view_miss *ignored; /* that may well be all right */
  size_t ignores;
  struct view_function *function;
  size_t functions;
  struct view_kind *kind; /* the most member time first */
  size_t kinds;
  uint64_t logged;              /* so many requests the log had so far: see view_kind */
  struct view_pending *pending; /* the oldest first, at most VIEW_LIVE_LIMIT */
  size_t pendings;
  struct view_span *span; /* the longest exec first */
  size_t spans;
  struct view_path *path; /* parents come before their children */
  size_t paths;
  struct view_live *live;
  size_t lives;
  int64_t only;                  /* the thread whose loop this is of; 0: of all */
  const struct checked *checked; /* what a check of its sources has found (checked.h), of who asks
                                    for the view; or NULL */
  bool is_interval;
  bool recorded;       /* of recordings: of requests all that are whole, not the slowest alone */
  bool alive, stopped; /* of a profile: its process is; by a signal, or a debugger */
  unsigned shed;       /* by any thread; as view_thread's */
};

struct view_request {
  const char *reason; /* "exit", "signal", "request", "recovered" */
  uint64_t sequence;  /* of the signal */
  uint64_t at;        /* tick that counts as now; 0: find out */
  uint64_t lived;     /* tick at which its process was seen to live; 0: never before */
  const char *path;   /* of the profile; NULL for a memfd */
  bool without_histograms;
  bool log;       /* with the slow requests of its log */
  uint32_t lives; /* so many futures are listed one by one; 0: VIEW_LIVE_LIMIT */
  int64_t loop;   /* only what this thread ran, counted and has alive; 0: all */
};

/* An empty one that view_free takes. */
struct view *view_new(const char *what);
void view_free(struct view *);

/* Of the profile open as `fd`. NULL after a message where it cannot be read. view-profile.c */
struct view *view_of_profile(int fd, const char *what, enum profile_state state,
                             const struct view_request *request);
/* Of text from anywhere: NULL after a message where it is no totals, or where its numbers
   cannot be (verify.h). view-totals.c */
struct view *view_of_totals(const char *text, size_t length, const char *what);

/* What follows from the members above it, once these are filled. join.c */
void view_settle(struct view *);

/* view-process.c */
/* UTC, of CLOCK_REALTIME; NULL of what no calendar has. */
const char *view_time(struct view *, int64_t ns);
/* An enum aprof_clock_source; `rate`: ns per tick << 32. */
struct view_clock view_clock_of(uint32_t source, uint64_t rate);

/* Turns `later` into what happened between the two. A maximum is kept only if it
   has changed, so is new. False after a message where they do not belong together. */
bool view_subtract(struct view *later, const struct view *earlier);

/* copy.c: one with the numbers of another, whose texts it borrows; and what lies between two that
   stay as they are, with the later one's texts. NULL after a message, as above. */
struct view *view_copy(const struct view *);
struct view *view_between(const struct view *later, const struct view *earlier);

/* No count of `later` is less than it was, where both are of one process and nothing was reset in
   between: of a busy process, which cannot be read as of one moment, they may seem to fall a
   little, and a future may turn out to be of another function than it began with. Whatever reads
   counters over time would take that for a restart. raise.c */
void view_raise(struct view *later, const struct view *earlier);

/* No body of it was ever seen, and its code has no events as far as is known: it never ran, or
   nobody saw it. Its runs, their ends and what is queued are not known then, but its futures. */
static inline bool view_unseen(const struct view_function *f) {
  return f->exec == UNKNOWN;
}

static inline bool view_is_span(const struct view_path *path) {
  return !path->is_await && path->kind;
}

/* The path of the function that called, created or awaits it: spans between are that one's.
   NULL: a root. */
static inline const struct view_path *view_above(const struct view *v,
                                                 const struct view_path *path) {
  do
    path = path->parent == SIZE_MAX ? NULL : &v->path[path->parent];
  while (path && view_is_span(path));
  return path;
}

/* Of a miss's kind: such events are in `ignored`. */
bool view_may_be_right(const char *kind);
/* Of an await's kind: it is not for what the waiting function called or runs. */
bool view_is_outside(const char *kind);

/* False of one whose state is not known, too. */
bool view_is(const struct view_live *, const char *state);

/* Adds the numbers of another process to those of `v`; threads, loops and futures stay of the
   process that they are of. `apart`: so do functions and paths. `other` has to live as long as
   `v`: it lends its texts. merge.c */
void view_merge(struct view *v, struct view *other, bool apart);
/* A process that both have: its numbers would count twice. */
bool view_shares_process(const struct view *, const struct view *);

/* shed.c: by enum aprof_step, in totals and in words. */
struct governed_step {
  const char *name, *shown;
};
extern const struct governed_step governed_steps[APROF_STEPS];
/* What is shed at each of these steps is so at all before it. */
unsigned governed_and_before(unsigned shed);
/* What each thread, and the whole, has shed, once they are read or subtracted. */
void governed_settle(struct view *);
/* What numbers lack for which these steps were shed: enum lack. */
unsigned view_lacks(const struct view *, unsigned shed);
/* For so long of its time the longest hold of the thread could not be seen, ns. */
uint64_t governed_unseen(const struct view *, const struct view_thread *);

#endif
