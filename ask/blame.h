/* SPDX-License-Identifier: MIT */
/*
 * Who made it late: what a thread ran while futures that it ran next were queued.
 *
 * In: a story. Out: the queued time, each nanosecond of it under the function that held the loop
 * then, or under the loop itself where no future ran. Of a pool of k threads each is to blame for
 * one k-th. The sums are the queued time, always.
 * A callback of I/O goes from waiting to running, and nobody says when it became ready: that is
 * since the poller returned, at least. Such time is told apart, as `polled`.
 *
 * Cost: logarithmic in the slices; of a queued stretch linear in the functions that its thread
 * runs, or, where it overlaps few slices, in these. Locking: none.
 */
#ifndef APROF_ASK_BLAME_H
#define APROF_ASK_BLAME_H

#include "blame-sums.h"
#include "slowest.h"

/* Where no future is to blame: */
enum blame_none {
  BLAME_LOOP = -1,  /* the loop itself, and what else its thread does */
  BLAME_NEVER = -2, /* no thread ran it: it ended as it was queued, or the recording did */
  BLAME_SHORT = -3  /* of totals: runs too short to be told of one by one */
};

/* Of one slice that overlaps the stretch, or of all slices of a function in whole blocks. */
struct blame_part {
  const struct story_slice *slice; /* the first one; NULL: see `none` */
  uint32_t slices;                 /* 1; those of the blocks, of whatever function */
  uint32_t function;               /* path: of the blocks' slices that are meant; 1 slice: any */
  uint64_t count;                  /* of these that have a share */
  struct on_cpu held;              /* blocks: what the thread had of them, if it was asked for */
  enum blame_none none;
  uint64_t time;
  uint64_t begin, end; /* of the overlap, of which `time` is a share */
};
typedef void blame_visit(const struct blame_part *, void *context);
/* All of a stretch that was queued for `thread`; the parts add up to it. Without sums they are
   slices in order. */
void blame_stretch(const struct story *, const struct blame_sums *, uint32_t thread, uint64_t begin,
                   uint64_t end, blame_visit *, void *context);
/* Path of the function of a part that has a slice. */
uint32_t blame_function(const struct story *, const struct blame_sums *, const struct blame_part *);

/*
 * A wait that a poller ended, just before its future ran: when that was ready at the latest. The
 * wait's end for all others, and where nobody saw the poller return.
 */
uint64_t blame_ready(const struct story *, const struct story_segment *);

/* -- all of it ------------------------------------------------------------------------- */

struct blame_victim {
  uint32_t function;    /* path of its function */
  uint64_t time, count; /* `polled` in both */
};

struct blame_row {
  uint32_t function; /* path of the culprit's; NONE: see `none` */
  enum blame_none none;
  uint64_t time;               /* that others were queued behind it, */
  uint64_t polled;             /* and behind the poller */
  uint64_t own;                /* of both: by futures of the same request */
  uint64_t count;              /* stretches that were made longer by it */
  uint64_t longest;            /* one slice of it, while others were queued */
  struct on_cpu held;          /* of `time` and `polled`: what its thread did then */
  struct blame_victim *victim; /* those that it made latest first */
  size_t victims;
};

struct blamed {
  struct blame_row *row; /* most time first */
  size_t rows;
  uint64_t time, polled;        /* sums of the rows' */
  uint64_t count, polled_count; /* stretches: of several rows, many of them */
  uint64_t unknown; /* waits that a poller may have ended, on threads where none was seen */
  struct arena arena;
};

/* `of`: only of these requests, or only of their slow ones; NULL: whatever was queued. */
struct blamed *blame_all(const struct story *, const struct slowest *of, bool only_slow);
void blame_free(struct blamed *);

#endif
