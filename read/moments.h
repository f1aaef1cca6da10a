/* SPDX-License-Identifier: MIT */
/*
 * What a process did as time went on: a row of moments, each as long as the others.
 *
 * In: readings of one process after another (history.h). Out: how busy loops were, how long one was
 * held, how late a run began, how many requests ended, moment by moment, the latest last.
 * What lies between two readings is spread evenly over the moments that it covers. The longest is
 * known where it is the longest ever; else it is at most the edge of the highest bucket that grew.
 * Cost: a reading's sums are linear in its buckets; 12 KB for each process. Locking: none.
 */
#ifndef APROF_READ_MOMENTS_H
#define APROF_READ_MOMENTS_H

#include "view.h"

enum { MOMENTS = 30 };

struct moment {
  double covered;       /* ns that readings tell of, of all processes; 0: nothing is known */
  double busy, elapsed; /* of loops, ns; busy: not in the poller, or where none is known ran */
  double requests;      /* that ended */
  uint64_t hold, late;  /* the longest; 0: none */
};

struct moments {
  uint64_t range, step;      /* ns */
  struct moment of[MOMENTS]; /* the oldest first */
};

/* Of all functions together; of one reading. */
struct moment_sums {
  uint64_t slices[APROF_HISTOGRAM_BUCKETS], late[APROF_HISTOGRAM_BUCKETS];
  uint64_t slice_max, late_max;
};
/* The longest from one to the next, ns; 0: there was none. */
struct moment_most {
  uint64_t hold, late;
};

void moments_sum(struct moment_sums *, const struct view *);
struct moment_most moments_most(const struct moment_sums *before, const struct moment_sums *after);

/* Adds those of a process: the requests of a moment that is known in part as if they went on so. */
void moments_merge(struct moments *, const struct moments *);
/* Adds what lies between two readings, of which the latest is `now`. `kind`: only its requests;
   NULL: all. */
void moments_add(struct moments *, const struct view *before, const struct view *after,
                 const struct view *now, struct moment_most, const char *kind);

#endif
