/* SPDX-License-Identifier: MIT */
/*
 * The story of a recording: which future did what when, and whose that was.
 *
 * In: a recording, replayed (replay.h), or what a test adds by hand (story-build.h). Out: these
 * arrays; whatever asks about single requests, or draws them, takes a story and nothing else.
 *
 * All numbers of others are indices into the arrays; STORY_NONE is none. All times are ns since
 * the recording began; each moment is converted on its own, so what meets in ticks meets here.
 * Cost: 40 bytes a segment, 56 a future. Locking: none.
 *
 * What began before the recording, or goes on behind its end, is cut there and not `whole`.
 * A future that moves from one request to another (a connection and its requests) is several
 * futures here, one for each stay, linked by `earlier` and `later`: so all segments of a future
 * are its request's.
 */
#ifndef APROF_RECORD_STORY_H
#define APROF_RECORD_STORY_H

#include "read/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORY_NONE UINT32_MAX
#define STORY_TIERS 64u
#define STORY_PROBES 64u

enum story_what {
  STORY_EXEC,
  STORY_QUEUED,
  STORY_WAITING,
  STORY_ASIDE, /* waits for what runs above it on its stack: nothing of its own */
};

/* A stretch of one future. Those of a future follow each other by `next`, without gaps while it
   was seen; in the array they lie as they began. */
struct story_segment {
  uint64_t begin, end;
  uint32_t future;
  uint32_t path;   /* EXEC: of the function, or span; WAITING, ASIDE: the await; QUEUED: what it
                      was queued behind: the await, or the function where that was its create */
  uint32_t thread; /* that ran it (EXEC), or then ran it (QUEUED) */
  uint32_t waker;  /* WAITING: future that ended it (a wake, an end, a hand); QUEUED: that made
                      it ready; ASIDE: that ran above it, and let it go on. NONE: the clock, a
                      poller, something outside */
  uint32_t next;
  uint8_t what;  /* enum story_what */
  uint8_t tier;  /* that it was in; 0: none */
  uint8_t flags; /* enum story_flags */
  uint8_t pad;
};

enum story_flags {
  STORY_CUT_BEGIN = 1, /* had begun before the recording, or before events that were lost */
  STORY_CUT_END = 2,   /* goes on behind its end */
  STORY_IMMEDIATE = 4, /* ASIDE: what was called did not suspend */
  STORY_POLLED = 8, /* WAITING, ASIDE: it went on: looked at, or in another request. The wait counts
                       with the last one */
};

enum story_path_kind {
  STORY_FUNCTION,
  STORY_SPAN,
  STORY_AWAIT,
};

struct story_path {
  uint32_t parent;        /* a lower number than its own; NONE: a root */
  uint32_t function;      /* path of the function that it is of: of a function its own */
  const char *name;       /* "pool_get"; never NULL */
  const char *file;       /* or NULL */
  const char *text;       /* "get_item > db_get > pool_get" */
  uint32_t line;          /* 0: not known */
  uint8_t kind, is_await; /* enum story_path_kind */
  bool background;        /* an await where new work is waited for */
  uint8_t pad;
};

struct story_future {
  uint64_t born, over;     /* of this stay; over: the recording's end for one that lives */
  uint32_t path;           /* of its function */
  uint32_t request;        /* that it is part of; NONE */
  uint32_t creator;        /* what ran where it was made */
  uint32_t first, last;    /* segments; NONE: it has none */
  uint32_t earlier, later; /* the same future in another request */
  uint8_t how;             /* how it ended: enum story_end */
  uint8_t whole;           /* born and over (or moved on) inside the recording, nothing lost */
  uint8_t pad[2];
  uint32_t epoch; /* of the process that it lived in; 0: not known */
};

enum story_end { STORY_LIVES, STORY_DONE, STORY_FAILED, STORY_CANCELLED, STORY_MOVED };

struct story_request {
  uint64_t begin, end;
  uint32_t root;        /* future that it began with; NONE: not seen */
  const char *kind;     /* its label, else its function; never NULL; with marks of probes behind */
  const char *unmarked; /* the same without these */
  const char *function; /* of its root; never NULL */
  uint64_t number;      /* the runtime's id of it */
  uint8_t failed;
  uint8_t whole;                        /* begun and ended inside, and nothing of it was lost */
  uint8_t implicit;                     /* of no root: it began behind a background wait */
  uint8_t over;                         /* it has ended inside */
  uint64_t trace[2], span, parent_span; /* W3C trace context; trace 0: none */
  uint64_t probes;                      /* bits: that it came by */
  uint32_t *futures;                    /* its parts, in order of birth; story_finish makes it */
  uint32_t futures_count;
  uint64_t exec, queued, waiting; /* member time: of all its futures, until its end. waiting: of
                                     leaves, none that is ASIDE */
};

/* A thread holds its loop for one future, and what that calls: the outermost one's. */
struct story_slice {
  uint64_t begin, end;
  uint64_t
      turn; /* when the thread's poller had last returned; UINT64_MAX: no idling was seen yet */
  uint32_t future, thread;
};

struct story_thread {
  int32_t tid;
  const char *name;             /* never NULL */
  uint32_t first_slice, slices; /* in story.slices, in order */
  uint64_t events, lost;        /* in the recording; that happened and are not in it */
  bool is_pool;                 /* its slices hold no loop */
};

/* A stretch of the recording in which not every request was kept. */
struct story_share {
  uint64_t begin, end;
  double share; /* that was asked for, of those that began in it; 0: recording was stopped */
  uint64_t begun, kept; /* that did; of these */
};

/* What the kernel says beside the events: where a thread was at a moment, which stands for so much
   processor time. */
struct story_sample {
  uint64_t at;
  uint32_t thread;
  uint32_t segment; /* EXEC, that ran there then; NONE: no future did */
  uint32_t frame;   /* in story.addresses: where it was, then where each caller goes on */
  uint16_t frames;
  uint8_t kernel, pad; /* kernel: it ran in the kernel */
};

/* From then on the thread is on a processor; off it, and would go on; off it, and waits, or has
   waited and is not on yet; has ended; or nobody knows. */
enum story_on {
  STORY_ON_CPU,
  STORY_PREEMPTED,
  STORY_BLOCKED,
  STORY_OVER,
  STORY_ON_UNKNOWN,
  STORY_ON_STATES
};
struct story_switch {
  uint64_t at;
  uint32_t thread;
  uint32_t to; /* enum story_on */
};

/* Code in memory: a part of a file, or generated. */
struct story_code {
  uint64_t since, start, end, offset; /* offset: of `start`, in the file */
  const char *path;                   /* "": of no file; never NULL */
  uint8_t build_id[20];
  uint32_t build_id_length;
};
struct story_named {
  uint64_t start, end;
  const char *name;
};

/* The kernel's side of a recording; without one all is 0. */
struct story_kernel {
  bool there, user_only, has_switches, throttled;
  uint64_t sample_ns;            /* that a sample stands for; 0: there are no samples */
  uint64_t lost;                 /* records that are missing */
  const char *if_hit;            /* samples are of requests that came by there, from then on; NULL:
                                    of all there was */
  uint64_t left_out;             /* samples of others */
  struct story_sample *samples;  /* by thread, then in order */
  struct story_switch *switches; /* the same */
  struct story_code *codes;      /* as they were found */
  struct story_named *named;
  uint64_t *addresses;
  uint32_t samples_count, switches_count, codes_count, named_count, addresses_count;
};

/* A place of the program that was watched meanwhile. */
struct story_probe {
  const char *label; /* part of the kind of each request that came by; "": none */
  const char *const
      *names; /* as it was asked for, then what else it is called: FILE:LINE, FUNCTION */
  uint32_t names_count;
  bool if_hit; /* samples count in requests that came by, from there on */
};

/* It was come by. Whose that was follows from the time and the thread. */
struct story_hit {
  uint64_t at;
  int32_t tid;
  uint32_t probe;
  uint32_t segment; /* EXEC: what ran there then; NONE: no future did, or it was not seen */
  uint8_t seen;     /* what its thread did then is known */
  uint8_t pad[3];
};

/* A list is a pointer and how many there are. */
struct story {
  struct story_path *paths;
  struct story_future *futures;
  struct story_segment *segments;
  struct story_request *requests; /* in order of begin */
  struct story_slice *slices;     /* by thread, then in order */
  struct story_thread *threads;
  struct story_share *shares;
  struct story_probe *probes;
  struct story_hit *hits; /* as they were found out: those of a thread in order */
  uint32_t paths_count, futures_count, segments_count, requests_count, slices_count, threads_count,
      shares_count, probes_count, hits_count;
  const char *tiers[STORY_TIERS];                  /* NULL: none of that number */
  const char *process, *command, *host, *build_id; /* build_id: or NULL */
  int32_t pid;
  int64_t started_at_ns; /* CLOCK_REALTIME at 0 */
  uint32_t clock_source; /* enum aprof_clock_source; 0: not known */
  uint64_t tick_rate;    /* of that clock: ns per tick << 32 */
  uint64_t begin_ns, end_ns;
  uint64_t events, lost; /* events in it; that happened meanwhile and are not in it */
  bool shared;          /* it has but a share of the requests; of all else, who held which thread */
  uint64_t begun, kept; /* shared: requests that began meanwhile; that it has of these */
  double share;         /* kept / begun; 1: all */
  uint64_t stopped_ns, stopped_events; /* shared: recording was stopped, as loops were late; events
                                          then that are not in it, which are not lost */
  uint64_t over;                       /* ns: kept are only requests that took as long, */
  const char *only;                    /* and of such kinds; NULL: any */
  uint64_t left_out; /* requests that were taken out since, as they are none of these */
  struct story_kernel kernel;
  bool truncated;   /* the file ends in the middle: its recorder was killed, or the disk is full */
  uint32_t partial; /* requests that are not whole */

  /* The builder's. */
  struct arena arena;
  struct {
    uint32_t paths, futures, segments, requests, slices, threads, shares, probes, hits;
  } room;
};

struct story_error {
  char text[256]; /* what is wrong, and what to do */
};

/* Of a recording; NULL: see `why`. */
struct story *story_open(const char *file, struct story_error *why);
void story_free(struct story *);
/* The place of that name, "db.c:77" also of src/db.c:77; NONE. */
uint32_t story_probe_of(const struct story *, const char *name);
/* A recording, by its first bytes. */
bool story_is(const char *file);

#endif
