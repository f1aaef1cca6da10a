/* SPDX-License-Identifier: MIT */
/*
 * Histograms: the writer's log-linear buckets, added up and read.
 *
 * Purpose: merges the stored histograms of many leaves (in ticks) and turns
 * them into percentiles and [lower_ns, count] pairs.
 * Cost: an addition for each count that is not 0. Locking: none.
 */
#ifndef APROF_READ_HISTOGRAM_H
#define APROF_READ_HISTOGRAM_H

#include "arena.h"
#include "profile.h"

#include <aprof/profile.h>
#include <stdbool.h>
#include <stdint.h>

#define HISTOGRAM_NO_MAX UINT64_MAX

/* An empty one is all zeros. */
struct histogram {
  uint64_t count[APROF_HISTOGRAM_BUCKETS];
  uint64_t total;
  uint32_t first, end; /* counts are from there to there, and few of all */
};

/* One bucket of converted values; what the totals hold. */
struct bucket {
  uint64_t lower, count;
};

void histogram_clear(struct histogram *h);
void histogram_count(struct histogram *, uint64_t value);
/* Of a profile, by its reference. */
void histogram_add(struct histogram *h, const struct profile *, uint32_t reference);
void histogram_add_counts(struct histogram *h, const struct profile_counts *);

/*
 * The value below which `permille` of the counts lie (rank rounded up), as the
 * middle of its bucket and no more than `max` (HISTOGRAM_NO_MAX: none known).
 * Buckets in rising order. 0 without counts.
 */
uint64_t buckets_percentile(const struct bucket *buckets, size_t count, unsigned permille,
                            uint64_t max);

/* Values that were counted, in ns. The percentiles lie behind each other. */
struct distribution {
  struct bucket *bucket; /* in rising order */
  size_t count;          /* of them; 0: not measured */
  uint64_t p50, p90, p95, p99, p999, max;
};
enum { DISTRIBUTION_POINTS = 6 }; /* with max */
extern const char *const distribution_points[DISTRIBUTION_POINTS];

/*
 * A histogram in ticks as one in ns at `rate`, in the arena. `max` is the exact maximum in ns;
 * without one the upper edge of the highest bucket stands in.
 */
struct distribution histogram_convert(struct arena *, const struct histogram *h, uint64_t rate,
                                      uint64_t max);
/* Percentiles of buckets that were subtracted or added up. `max`: none passes it; or
   HISTOGRAM_NO_MAX. */
void distribution_settle(struct distribution *, uint64_t max);

#endif
