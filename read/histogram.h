/*
 * Histograms: the writer's log-linear buckets, added up and read.
 *
 * Purpose: merges the stored histograms of many leaves (in ticks) and turns
 * them into percentiles and [lower_ns, count] pairs.
 * Cost: 704 additions a merge. Locking: none.
 */
#ifndef APROF_READ_HISTOGRAM_H
#define APROF_READ_HISTOGRAM_H

#include <aprof/profile.h>
#include <cjson/cJSON.h>
#include <stdbool.h>

#define HISTOGRAM_NO_MAX UINT64_MAX

struct histogram {
  uint64_t count[APROF_HISTOGRAM_BUCKETS];
  uint64_t total;
};

/* One bucket of converted values; what the totals hold. */
struct bucket {
  uint64_t lower, count;
};

void histogram_clear(struct histogram *h);
void histogram_add(struct histogram *h, const uint64_t *buckets);

/*
 * The value below which `permille` of the counts lie (rank rounded up), as the
 * middle of its bucket and no more than `max` (HISTOGRAM_NO_MAX: none known).
 * Buckets in rising order. 0 without counts.
 */
uint64_t buckets_percentile(const struct bucket *buckets, size_t count, unsigned permille,
                            uint64_t max);

/*
 * The histogram object of the totals, times in ns at `rate`; null where nothing
 * was counted. `max` is the exact maximum in ns; without one the upper edge of
 * the highest bucket stands in.
 */
cJSON *histogram_json(const struct histogram *h, uint64_t rate, uint64_t max);

#endif
