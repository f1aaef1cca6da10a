/* SPDX-License-Identifier: MIT */
/*
 * One of several against the others: which host is slow, and what differs there.
 *
 * In: views, each of one process, and by what they are told apart: host, build, process, or a label
 * of their host. Out: for each kind of requests what one took in each group, the group that stands
 * out, and rows of where its time went, there and in the others: so their differences add up.
 * Rows are of all that the futures of a request had, by path; what is queued is so behind whom the
 * totals name, or behind runs that are too short to be told. Where several kinds begin in one
 * function, rows are of all of these.
 * A group stands out whose mean is a tenth above that of the others, and further above it than
 * chance would have it (three standard errors, where distributions are there).
 * Cost: linear in the paths of all views. Locking: none.
 */
#ifndef APROF_ASK_APART_H
#define APROF_ASK_APART_H

#include "read/view.h"
#include "requests.h"
#include "tail.h"

/* What tells them apart: "host", "build", "process", or the key of a label. */
#define APART_HOST "host"
#define APART_BUILD "build"
#define APART_PROCESS "process"

struct apart_group {
  const char *name;
  uint64_t processes;
  const char *host, *build, *version; /* that all its processes have; or NULL */
  double busy;                        /* its loops, 0 to 1; negative: not known */
};

/* What a kind of requests took in a group. */
struct apart_part {
  const struct apart_group *group;
  uint64_t count, failed, wall;
  uint64_t p50, p99, max; /* UNKNOWN: not measured */
  double mean, error;     /* ns; error: of the mean, 0: not known */
};

struct apart_kind {
  const char *name;
  struct apart_part *part; /* the slowest first; of groups that had any */
  size_t parts;
  bool stands_out;      /* the first one does */
  double others;        /* mean of all but the first, ns */
  double more;          /* ns that the first one's mean is above that */
  struct tail *tail;    /* the first one's (TAIL_SLOW) against the others'; NULL: there are none */
  const char *together; /* the function in which others begin, too; NULL: rows are of it alone */
};

struct apart {
  struct apart_kind *kind; /* where one stands out first, by what that costs */
  size_t kinds;
  struct apart_group *group; /* by name */
  size_t groups;
  struct story *paths; /* that rows are of; it has nothing else */
  struct arena arena;
};

/* NULL after a message: there are no such requests, or nothing tells the views apart. The views
   have to stay. apart_free() it. */
struct apart *apart_of(const struct view *const *, size_t views, const char *by,
                       const struct request_filter *);
void apart_free(struct apart *);

/* apart-rows.c: fills `tail` of the kind. */
struct apart_rows;
struct apart_rows *apart_rows_new(struct story *, const struct view *const *, size_t views);
void apart_rows_free(struct apart_rows *);
/* `side`: by view; TAIL_SIDES: it has none of them. `together`: see above. */
struct tail *apart_rows_of(struct apart_rows *, const char *kind, const char *function,
                           const enum tail_side *side, const char **together);

#endif
