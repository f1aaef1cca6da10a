/* SPDX-License-Identifier: MIT */
/*
 * The model's books: futures, waits, slices and paths, each one remembered.
 *
 * Purpose: what model.c writes into event by event, and what the rows are made
 * of in the end. Time is stamped here twice: as segments, and as walls and
 * elapsed times, which must agree (ledger_check).
 * Cost: everything is kept. Locking: none.
 */
#ifndef TESTS_RANDOM_LEDGER_H
#define TESTS_RANDOM_LEDGER_H

#include "program.h"
#include "rows.h"

/* A path: root > function > ... or, at its end, an await. */
struct path {
  struct path *above; /* NULL: a root */
  const char *name;
  bool is_await, is_span;
};

enum state { TENTATIVE, QUEUED, RUNNING, WAITING, OVER, NEVER, DETACHED };
enum aside { NOT_ASIDE, FOR_CALLEE, FOR_IDLE, FOR_CREATE };

/* An open span, or tiered await, of a future. */
struct inside {
  unsigned number;     /* of all that were begun */
  struct path *before; /* where it was until then, and in which tier */
  unsigned tier_before;
  unsigned tier;  /* its own; 0: none */
  bool outermost; /* nothing on its stack is in that tier */
  uint64_t begin; /* or since it counts for the request that it is in */
};

/* What a future has had since that was last booked into its request. */
struct share {
  uint64_t exec[TIERS], waiting[TIERS], wall[TIERS], queued;
  unsigned calls[TIERS];
  bool touched[TIERS]; /* it was in that tier, for however short a time */
};

enum { LEDGER_INSIDE = 64 };

struct request; /* requests.h */

struct future {
  enum state state, detached;    /* what it was when its epoch ended */
  const struct aprof_site *site; /* its function; of the create while nameless */
  const char *birth;             /* where it waits for its next run when nobody says where */
  struct path *path;
  struct path *at;              /* or the span that it is in */
  uint64_t created, last, over; /* stamps */
  uint64_t exec, waiting, queued;
  bool nameless;
  bool adopted;      /* a body is it */
  bool called;       /* ... that has no key, nor will have one */
  unsigned brackets; /* run brackets open around it */
  bool waited;       /* for real, at any time */

  /* Waiting, or in an await bracket. */
  struct path *await;
  bool implicit; /* at a create or a return: no bracket holds it there */
  bool woken;
  uint64_t woken_at;
  bool timed;   /* by the clock: woken_at may be still to come */
  uint64_t due; /* rearmed while it runs: when, in the wait that follows; 0: at no time */

  struct future *enclosing; /* tentative: of the create bracket around its own, ... */
  uint32_t cell;            /* ... and that one's token */

  /* Put aside. */
  enum aside aside;
  struct future *callee, *caller;
  bool opened_aside; /* the await was opened for this */

  /* Key. */
  bool keyed;
  uint32_t ns;
  uint64_t key0, key1;

  enum { NO_END, END_ASKED, REARMED, KEY_GONE } ending;
  int how;         /* of END_ASKED, and in the end */
  unsigned thread; /* that last ran it */

  /* Requests. */
  bool borrows;            /* a called body: it is where its caller is */
  struct request *request; /* of others */
  bool background;         /* waits for new work */
  struct share share;
  uint64_t leaf_from; /* stamp: up to there its segment is in its share, or in nobody's */
  uint64_t ran_until; /* stamp; 0: it has not run in this request */
  uint64_t ran_at;    /* stamp: it last ran, in whichever */
  bool was_running;   /* until its last segment ended */
  unsigned tier, base_tier, create_tier;
  struct inside inside[LEDGER_INSIDE];
  unsigned depth;
};

struct ledger;

enum { LEDGER_HOLDS = 8, LEDGER_LONG = 1000000 };

struct thread {
  struct ledger *ledger;
  unsigned number;
  bool began;
  uint64_t begin, last;
  uint64_t exec, idle, other;
  uint64_t other_open; /* of `other`: since anything ran here, or idled, or a span outside futures
                          began or ended */
  struct future *current;
  bool seen;                /* in an event of this epoch: else its time in that is in no number */
  bool was_idle;            /* when an epoch ended, and nothing has run since */
  bool idling;              /* the poller's bracket is the innermost where no future runs */
  struct future *idler;     /* put aside for it */
  struct future *suspended; /* its suspend was the last thing here */
  uint32_t suspended_cell;
  const struct aprof_site *call; /* announced just before */
  struct future *tentative;      /* innermost create bracket that no body adopted */
  struct path *outside;          /* the span that it is in where no future runs */
  struct future *polled;         /* ran a stackless child that is pending, nothing since */
  struct path *polled_at;
  bool slice_open;
  uint64_t slice_begin;
  struct path *slice_owner; /* the outermost future when it began */
  const char *slice_from;   /* the place where that was */
  unsigned slices;          /* ended here */
  /* Those that ended here and were long, the last ones. */
  struct held {
    struct path *path;
    uint64_t begin, end;
  } held[LEDGER_HOLDS];
  unsigned holds;      /* so many ever */
  unsigned last_slice; /* its number in the ledger */
};

#define LEDGER_FUTURES (PROGRAM_MAX + 64)
#define LEDGER_PATHS (8 * PROGRAM_MAX)

struct ledger {
  uint64_t now;
  unsigned epoch; /* so many times it was switched off, on, or began from zero */
  bool late;      /* there was a time before this one */
  unsigned spans; /* begun so far on futures */
  bool off;
  struct future futures[LEDGER_FUTURES];
  unsigned future_count;
  struct path paths[LEDGER_PATHS];
  unsigned path_count;
  struct segment {
    struct path *path;
    uint64_t length;
    bool immediate;
    enum {
      SEGMENT_EXEC,
      SEGMENT_WAIT,
      SEGMENT_QUEUE,
      SEGMENT_SLICE,
      SEGMENT_DELAY,
      SEGMENT_OUTSIDE,
      SEGMENT_SPANNED
    } kind;
    const char *delayed; /* of a delay: by a slice of `path` */
    uint64_t from;       /* of a span outside futures */
    unsigned thread;
  } segments[24 * PROGRAM_MAX];
  unsigned segment_count;
  /* The first of the longest slices of each thread and path. */
  struct longest {
    struct path *path;
    unsigned thread;
    uint64_t length;
    const char *from, *to;
  } longest[LEDGER_PATHS];
  unsigned longest_count;
  struct thread threads[PROGRAM_THREADS];
  uint64_t missed, reused, unmatched, migrations;
  bool ambiguous;
  struct requests *requests;
};

/* A new future under what runs on `t`, or under nothing. TENTATIVE. */
struct future *ledger_future(struct thread *t, const struct aprof_site *site, bool root);
/* It has a name now: paths that begin at it from here on have it too. */
void ledger_named(struct thread *t, struct future *f, const struct aprof_site *site);
struct path *ledger_await(struct ledger *ledger, struct path *function, const char *site);
/* A span inside `above` (NULL: outside futures); one of its own that is open already is the same.
 */
struct path *ledger_span(struct ledger *ledger, struct path *above, const char *name);
/* It was left. */
void ledger_spanned(struct ledger *ledger, struct path *span);

/* The thread's time until now goes where it was spent. First thing in an event. */
void ledger_time(struct thread *t);
/* What was outside futures last was idle after all, in which spans have no part. */
void ledger_was_idle(struct thread *t);

/* f's segment ends now, and is booked. What comes next is said by one of: */
void ledger_close(struct thread *t, struct future *f, bool immediate);
/* ... from: the place, for the slice that begins if nothing ran here. */
void ledger_runs(struct thread *t, struct future *f, const char *from);
void ledger_waits(struct thread *t, struct future *f); /* at f->await */
void ledger_over(struct thread *t, struct future *f, int how);

/* The loop is let go of, at a place. */
void ledger_slice_end(struct thread *t, const char *to);
/* It was not: what seemed a suspension of f went on until now, which is one. */
void ledger_charge_back(struct thread *t, struct future *f, const char *to);

/* Profiling goes off or on; or starts from zero. */
void ledger_switch(struct ledger *ledger, bool off);
void ledger_reset(struct ledger *ledger);

void ledger_rows(struct ledger *ledger, struct rows *rows);
bool ledger_check(const struct ledger *ledger);

#endif
