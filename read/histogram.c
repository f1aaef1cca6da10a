/* SPDX-License-Identifier: MIT */
/* Histograms added up and read; see histogram.h. */
#include "histogram.h"

#include "clock.h"

#include <string.h>

void histogram_clear(struct histogram *h) {
  memset(h, 0, sizeof *h);
}

void histogram_add_counts(struct histogram *h, const struct profile_counts *c) {
  for (uint32_t i = 0; c->whole && i < APROF_HISTOGRAM_BUCKETS; i++) {
    add_to(&h->count[i], c->whole[i]);
    add_to(&h->total, c->whole[i]);
  }
  for (uint32_t i = 0; i < c->counts; i++) {
    uint64_t count = c->count[i * c->step];
    uint32_t bucket = c->numbers ? (uint32_t)count : i;
    if (c->numbers)
      count = 1;
    else if (c->carried)
      count += (uint64_t)c->carried[i * c->step] << 16;
    if (!count || bucket >= APROF_HISTOGRAM_BUCKETS)
      continue;
    add_to(&h->count[bucket], count);
    add_to(&h->total, count);
  }
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

uint64_t buckets_percentile(const struct bucket *buckets, size_t count, unsigned permille,
                            uint64_t max) {
  unsigned __int128 total = 0, seen = 0;
  for (size_t i = 0; i < count; i++)
    total += buckets[i].count;
  unsigned __int128 rank = (total * permille + 999) / 1000;
  for (size_t i = 0; i < count; i++) {
    seen += buckets[i].count;
    if (seen < rank || !buckets[i].count)
      continue;
    uint64_t middle = buckets[i].lower + width(buckets[i].lower) / 2;
    return middle < max ? middle : max;
  }
  return 0;
}

/* Ticks for now: conversion comes last, so that no error is added to the buckets' own. */
static size_t used_buckets(const struct histogram *h, struct bucket *out) {
  size_t count = 0;
  for (uint32_t i = 0; i < APROF_HISTOGRAM_BUCKETS; i++)
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
  unsigned __int128 rank = ((unsigned __int128)h->total * permille + 999) / 1000;
  return h->total <= rank && max >= clock_to_ns(last->lower, rate) &&
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
  for (int i = 0; i < DISTRIBUTION_POINTS - 1; i++) {
    uint64_t value =
        clock_to_ns(buckets_percentile(buckets, count, permille[i], HISTOGRAM_NO_MAX), rate);
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
  for (int i = 0; i < DISTRIBUTION_POINTS - 1; i++)
    point[i] = buckets_percentile(d->bucket, d->count, permille[i], max);
  const struct bucket *last = d->count ? &d->bucket[d->count - 1] : NULL;
  d->max = max != HISTOGRAM_NO_MAX ? max : last ? last->lower + width(last->lower) - 1 : 0;
}
