/* SPDX-License-Identifier: MIT */
/* Histograms added up and read; see histogram.h. */
#include "histogram.h"

#include "clock.h"

#include <string.h>

void histogram_clear(struct histogram *h) {
  memset(h->count + h->first, 0, (h->end - h->first) * sizeof *h->count);
  h->total = h->first = h->end = 0;
}

static inline void add(struct histogram *h, uint32_t bucket, uint64_t count) {
  if (!h->end || bucket < h->first)
    h->first = bucket;
  if (bucket >= h->end)
    h->end = bucket + 1;
  add_to(&h->count[bucket], count);
  add_to(&h->total, count);
}

void histogram_count(struct histogram *h, uint64_t value) {
  add(h, aprof_bucket_of(value), 1);
}

/* Most counts are 0: eight at once are passed over. */
static inline bool are_zero(const uint16_t *count, uint32_t step) {
  return !(count[0] | count[step] | count[2 * step] | count[3 * step] | count[4 * step] |
           count[5 * step] | count[6 * step] | count[7 * step]);
}

static inline void add_low(struct histogram *h, const uint16_t *count, uint32_t counts,
                           uint32_t step) {
  for (uint32_t i = 0, end; i < counts; i = end) {
    end = i + 8;
    if (end <= counts && are_zero(count + i * step, step))
      continue;
    for (end = end < counts ? end : counts; i < end; i++)
      if (count[i * step])
        add(h, i, count[i * step]);
  }
}

void histogram_add_counts(struct histogram *h, const struct profile_counts *c) {
  uint32_t counts = c->counts < APROF_HISTOGRAM_BUCKETS ? c->counts : APROF_HISTOGRAM_BUCKETS;
  if (c->numbers)
    for (uint32_t i = 0; i < c->counts; i++) {
      uint32_t bucket = c->count[i * c->step];
      if (bucket < APROF_HISTOGRAM_BUCKETS)
        add(h, bucket, 1);
    }
  else if (c->step == 1)
    add_low(h, c->count, counts, 1);
  else
    add_low(h, c->count, counts, 2);
  for (uint32_t i = 0; !c->numbers && c->carried && i < counts; i++)
    if (c->carried[i * c->step])
      add(h, i, (uint64_t)c->carried[i * c->step] << 16);
}

void histogram_add(struct histogram *h, const struct profile *p, uint32_t reference) {
  struct profile_counts c = profile_counts(p, reference);
  histogram_add_counts(h, &c);
}

/* Where the bucket that begins at `lower` ends, by the writer's scheme: a 16th
   of its octave wide. Converted buckets keep that proportion. */
static uint64_t width(uint64_t lower) {
  return lower < 32 ? 1 : (uint64_t)1 << (63 - __builtin_clzll(lower) - 4);
}

static unsigned __int128 rank_of(unsigned __int128 total, unsigned permille) {
  return total >> 50 ? (total * permille + 999) / 1000 : ((uint64_t)total * permille + 999) / 1000;
}

/* The middles of the buckets where so many of a thousand lie, which are in rising order. */
static void find_points(const struct bucket *buckets, size_t count, const unsigned *of, int points,
                        uint64_t *point) {
  unsigned __int128 total = 0, seen = 0;
  int at = 0;
  for (size_t i = 0; i < count; i++)
    total += buckets[i].count;
  unsigned __int128 rank = rank_of(total, of[0]); /* of the next one: a division each */
  for (size_t i = 0; i < count && at < points; i++) {
    seen += buckets[i].count;
    if (seen < rank || !buckets[i].count)
      continue;
    uint64_t middle = buckets[i].lower + width(buckets[i].lower) / 2;
    do {
      point[at++] = middle;
      rank = at < points ? rank_of(total, of[at]) : 0;
    } while (at < points && seen >= rank);
  }
  while (at < points)
    point[at++] = 0;
}

uint64_t buckets_percentile(const struct bucket *buckets, size_t count, unsigned permille,
                            uint64_t max) {
  uint64_t point;
  find_points(buckets, count, &permille, 1, &point);
  return point < max ? point : max;
}

/* Ticks for now: conversion comes last, so that no error is added to the buckets' own. */
static size_t used_buckets(const struct histogram *h, struct bucket *out) {
  size_t count = 0;
  for (uint32_t i = h->first; i < h->end; i++)
    if (h->count[i])
      out[count++] = (struct bucket){.lower = aprof_bucket_lower(i), .count = h->count[i]};
  return count;
}

/* In place; two that convert to one value become one. */
static size_t convert(struct bucket *buckets, size_t count, uint64_t rate) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t lower = clock_to_ns(buckets[i].lower, rate);
    if (kept && buckets[kept - 1].lower == lower)
      add_to(&buckets[kept - 1].count, buckets[i].count);
    else
      buckets[kept++] = (struct bucket){.lower = lower, .count = buckets[i].count};
  }
  return kept;
}

/* Of so few that the longest is meant; which may be one without a bucket. */
static bool is_longest(const struct histogram *h, unsigned permille, const struct bucket *last,
                       uint64_t rate, uint64_t max) {
  uint64_t upper = last->lower + width(last->lower) - 1;
  return h->total <= rank_of(h->total, permille) && max >= clock_to_ns(last->lower, rate) &&
         max <= clock_to_ns(upper, rate);
}

const char *const distribution_points[] = {"p50", "p90", "p95", "p99", "p999", "max"};
static const unsigned permille[] = {500, 900, 950, 990, 999};

struct distribution histogram_convert(struct arena *arena, const struct histogram *h, uint64_t rate,
                                      uint64_t max) {
  struct bucket buckets[APROF_HISTOGRAM_BUCKETS];
  size_t count = used_buckets(h, buckets);
  struct distribution d = {0};
  if (!count)
    return d;
  struct bucket last = buckets[count - 1];
  bool exact = max != HISTOGRAM_NO_MAX;
  if (!exact)
    max = clock_to_ns(last.lower + width(last.lower) - 1, rate);
  uint64_t *point = &d.p50;
  find_points(buckets, count, permille, DISTRIBUTION_POINTS - 1, point);
  for (int i = 0; i < DISTRIBUTION_POINTS - 1; i++) {
    uint64_t value = clock_to_ns(point[i], rate);
    if (exact && is_longest(h, permille[i], &last, rate, max))
      value = max;
    point[i] = value < max ? value : max;
  }
  d.max = max;
  d.count = convert(buckets, count, rate);
  d.bucket = arena_get(arena, d.count, sizeof *d.bucket);
  memcpy(d.bucket, buckets, d.count * sizeof *d.bucket);
  return d;
}

void distribution_settle(struct distribution *d, uint64_t max) {
  uint64_t *point = &d->p50;
  find_points(d->bucket, d->count, permille, DISTRIBUTION_POINTS - 1, point);
  for (int i = 0; i < DISTRIBUTION_POINTS - 1; i++)
    point[i] = point[i] < max ? point[i] : max;
  const struct bucket *last = d->count ? &d->bucket[d->count - 1] : NULL;
  d->max = max != HISTOGRAM_NO_MAX ? max : last ? last->lower + width(last->lower) - 1 : 0;
}
