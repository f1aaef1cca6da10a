/* SPDX-License-Identifier: MIT */
/*
 * What differs inside the slowest: the critical paths of the slow requests against those of the
 * rest, path by path.
 *
 * In: a story, and which requests are slow. Out: rows whose sums are the requests' wall, exactly:
 * time running and waiting by its path, queued time by who held the loop then, and what was not
 * seen. So mean of the slow less mean of the rest, row by row, adds up to the whole difference.
 *
 * Cost: that of the critical paths. Locking: none.
 */
#ifndef APROF_ASK_TAIL_H
#define APROF_ASK_TAIL_H

#include "critical.h"
#include "slowest.h"

enum tail_side { TAIL_REST, TAIL_SLOW, TAIL_SIDES };

struct tail_row {
  uint8_t what;  /* enum critical_what */
  uint32_t path; /* QUEUED: of the function it was queued behind; NONE: see `none` */
  int none;      /* enum blame_none; 0: see `path` */
  uint64_t time[TAIL_SIDES];
  uint64_t times[TAIL_SIDES];    /* pieces: how often */
  uint64_t requests[TAIL_SIDES]; /* that had any of it */
};

/* How the row that explains most is different. */
enum tail_how {
  TAIL_LONGER, /* each time */
  TAIL_OFTENER,
  TAIL_ONLY, /* most of the slow ones come by, most others do not */
};

struct tail_cause {
  const struct tail_row *row; /* the first of them; NULL: it is spread, see `path` */
  struct tail_row all; /* of it, or of its name wherever it stands: sums; requests: at least */
  size_t places;       /* so many rows */
  size_t apart;        /* others of that name, which are no part of it */
  uint32_t path;       /* function of most of it, and of what it waits for; NONE: neither */
  enum tail_how how;
  double more; /* ns of a request's mean */
};

struct tail {
  struct tail_row *row; /* what makes most difference first */
  size_t rows;
  uint64_t count[TAIL_SIDES], wall[TAIL_SIDES];
  struct tail_cause cause;
};

/* Of one kind. All are slow, or none: then that side has no mean. tail_free() it. */
struct tail *tail_of(const struct story *, struct critical *, const struct slowest_kind *);
/* Of rows that are there, of paths of that story: their order, and the cause. */
void tail_settle(const struct story *, struct tail *);
void tail_free(struct tail *);

/* ns of a request's mean; 0 of none. `time`: of the side. */
static inline double tail_mean(const struct tail *t, const uint64_t *time, enum tail_side side) {
  return t->count[side] ? (double)time[side] / (double)t->count[side] : 0;
}
static inline double tail_more(const struct tail *t, const uint64_t *time) {
  return tail_mean(t, time, TAIL_SLOW) - tail_mean(t, time, TAIL_REST);
}

#endif
