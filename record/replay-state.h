/* SPDX-License-Identifier: MIT */
/*
 * The replay, between its files: what is known of each future, thread and request while events are
 * played.
 *
 * replay-play.c plays events; replay-base.c begins with an image; replay-lives.c moves futures,
 * replay-threads.c says who holds which loop, replay-requests.c who is part of what;
 * replay-paths.c names nodes; replay-finish.c ends. Cost, locking: see replay.h.
 */
#ifndef APROF_RECORD_REPLAY_STATE_H
#define APROF_RECORD_REPLAY_STATE_H

#include "read/names.h"
#include "replay.h"
#include "streams.h"

/* A future's record, by its index: the future that it is at the moment. */
struct life {
  uint32_t index;            /* of the record */
  uint32_t future;           /* in the story; NONE: nothing is known of it */
  uint32_t segment;          /* that is open; NONE: what it does is not known */
  uint32_t waited;           /* its last WAITING; NONE */
  uint32_t function;         /* node */
  uint32_t thread;           /* that it runs on; NONE: it does not run */
  uint32_t waker;            /* future of the story that has woken it, once `woken` */
  uint32_t caller, callee;   /* indices: of whom it lies above, and beneath; 0: none */
  uint32_t above;            /* future of the story that ran above it; NONE */
  uint32_t doubt;            /* replay_state.doubt when it was born */
  uint8_t woken, tier, born; /* born: seen */
  uint16_t block;            /* of its id, with its serial: 0, 0 where that is not known */
  uint32_t serial;
  uint32_t gone;      /* the future that it was until its epoch was over; NONE */
  uint32_t epoch;     /* 0: not known */
  uint32_t stays;     /* it is of a later epoch than that one, which is over, ... */
  uint32_t looked;    /* ... as was asked so often */
  struct life *older; /* that are known, in the order in which they became that */
  struct life *younger;
};

enum { LIVES = 256 }; /* to a page of them */

/* A thread: a block of the profile. */
struct runner {
  uint32_t thread;    /* in the story */
  uint32_t current;   /* index of the future that runs; 0: none */
  uint32_t slice;     /* that is open, or may go on; NONE */
  uint64_t stopped;   /* when what ran last stopped */
  uint64_t last;      /* its last event */
  uint32_t put_aside; /* index: that the last event put aside; 0: none */
  uint64_t turn;      /* when its poller returned last */
  uint64_t lease;
  uint32_t epoch;   /* that it has told of; 0: of none */
  bool told;        /* it has had an event */
  bool aside;       /* ... as it was put aside for what comes next */
  bool held;        /* by what is left out */
  bool idle, known; /* its poller is where it is when nothing runs; it has told what runs */
};

/* A live request, by its number. */
struct part {
  uint32_t request; /* in the story; NONE */
  uint32_t doubt;
  uint64_t id; /* the last bits of it */
  bool begun;  /* its begin was seen */
};

struct replay_state {
  struct replay *r;
  struct story *story;
  struct names *names;
  struct life **lives; /* pages */
  uint32_t pages;
  struct life *youngest; /* of those that are known */
  struct runner *runner; /* by block */
  uint32_t runners;
  struct part *part; /* by request number */
  uint32_t parts;
  uint32_t doubt;      /* grows with each loss of events: what lived then may not be whole */
  uint64_t whole_from; /* from this tick on every thread's events are here */
  uint64_t trace[2], span, parent_span; /* of TOKEN, for the REQUEST_END that follows */
  struct replay_marks *marks;           /* or NULL */
  uint32_t *held; /* by path: the future that stands for all that are left out; made late */
  bool *undone;   /* requests of the story that never were, made on demand */
  uint32_t undone_room;
  bool any_undone, any_unborn;
};

/* replay-paths.c */
void replay_make_paths(struct replay_state *);
const char *replay_site_name(struct replay_state *, uint32_t site);
/* Of a node: that of its function; itself where that is not known. */
uint32_t replay_function_node(const struct replay_state *, uint32_t node);

/* replay-lives.c: NULL where there can be no such record. */
struct life *replay_life(struct replay_state *, uint32_t index);
/* Makes one known of which no birth was seen. */
void replay_meet(struct replay_state *, struct life *, uint32_t node, uint32_t epoch,
                 uint64_t tick);
void replay_born(struct replay_state *, const struct stream_event *, uint32_t epoch);
void replay_unborn(struct replay_state *, struct life *);
void replay_named(struct replay_state *, struct life *, uint32_t function, uint32_t await);
void replay_over(struct replay_state *, struct life *, enum story_end, uint64_t tick);
/* Closes what it has open, and opens that. */
uint32_t replay_open(struct replay_state *, struct life *, enum story_what, uint32_t path,
                     uint64_t tick);
void replay_close(struct replay_state *, struct life *, uint64_t tick);
void replay_ready(struct replay_state *, struct life *, uint64_t tick);
/* Whether it is gone already, and was queued since then. */
bool replay_was_ready(struct replay_state *, const struct life *, uint64_t tick);
/* What it waits for was there by then, as its record in the last image says: no event tells of that
   before it runs. */
void replay_ready_unseen(struct replay_state *, struct life *, uint64_t end);
void replay_wake(struct replay_state *, struct life *, uint32_t waker);
void replay_waits(struct replay_state *, struct life *, enum story_what, uint32_t node,
                  uint64_t tick);
/* Whether it was put aside for what nobody comes back from: that wait goes on, at an await's node.
 */
bool replay_waits_on(struct replay_state *, struct life *, uint32_t node);
/* It is another stay from then on: of that request. */
void replay_move(struct replay_state *, struct life *, uint32_t request, uint64_t tick);
void replay_tier(struct replay_state *, struct life *, uint8_t tier, uint64_t tick);
/* Nothing more is told of it. */
void replay_left(struct replay_state *, struct life *, uint64_t tick);
/* That epoch is over (0: which is not known), and with it all that lived in it. */
void replay_detach_all(struct replay_state *, uint32_t epoch, uint64_t tick);

/* replay-threads.c */
struct runner *replay_runner(struct replay_state *, uint32_t block);
void replay_runs(struct replay_state *, struct runner *, uint32_t index, uint32_t node,
                 uint64_t tick);
/* What runs there stops; `aside`: for what it calls, or what called it. */
void replay_stops(struct replay_state *, struct runner *, uint64_t tick, bool aside);
/* Nothing runs there from now on. */
void replay_rests(struct replay_state *, struct runner *, uint64_t tick, bool idle);
void replay_thread(struct replay_state *, struct runner *, const struct stream_event *);
void replay_ran(struct replay_state *, struct runner *, uint32_t index, uint32_t node,
                uint64_t tick);
void replay_stolen(struct replay_state *, struct runner *);
/* What is left out holds it from now on. */
void replay_held(struct replay_state *, struct runner *, uint32_t node, uint64_t tick);
/* That one lies above a future that is put aside, of which nothing was known. */
void replay_lies_above(struct replay_state *, struct runner *, uint32_t index, uint64_t tick);

/* replay-requests.c */
struct part *replay_part(struct replay_state *, uint32_t number);
void replay_join(struct replay_state *, const struct stream_event *);
void replay_request_begin(struct replay_state *, const struct stream_event *);
void replay_request_end(struct replay_state *, const struct stream_event *);
/* Makes a request known that had begun before: NONE where it has no record. */
uint32_t replay_request_met(struct replay_state *, uint32_t number, uint64_t id, uint64_t tick);

/* replay-shares.c */
void replay_shares(struct replay_state *, struct trace *);
/* Whether recording was stopped somewhere between these ticks. */
bool replay_stood_still(const struct replay_state *, uint64_t from, uint64_t until);

/* replay-base.c */
void replay_from_base(struct replay_state *);

/* replay-hits.c */
void replay_hits(struct replay_state *, struct trace *);

/* replay-finish.c */
void replay_close_all(struct replay_state *);

#endif
