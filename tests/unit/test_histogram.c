/* SPDX-License-Identifier: MIT */
/* Histograms: the buckets, and what falls into them. */
#include <stdint.h>

#include "unit.h"

FUNCTION_SITE(work);
AWAIT_SITE(nap);

/* Beyond 2^52 ticks (26 days at 2 GHz) a value just below a bucket may count in it. */
#define EXACT_BITS 52u
#define EXACT_BUCKETS (EXACT_BITS * 16u)

static void each_value(void (*check)(uint64_t)) {
  for (uint64_t v = 0; v < 5000; v++)
    check(v);
  for (unsigned shift = 12; shift < EXACT_BITS; shift++)
    for (int near = -3; near <= 3; near++)
      check((1ull << shift) + (uint64_t)near);
}

static void value_is_in_its_bucket(uint64_t v) {
  uint32_t b = aprof_bucket_of(v);
  ck_assert_uint_lt(b, APROF_HISTOGRAM_BUCKETS);
  ck_assert_msg(aprof_bucket_lower(b) <= v, "%llu below its bucket %u", (unsigned long long)v, b);
  if (b + 1 < APROF_HISTOGRAM_BUCKETS)
    ck_assert_msg(v < aprof_bucket_lower(b + 1), "%llu above its bucket", (unsigned long long)v);
}

START_TEST(values_lie_in_their_buckets) {
  each_value(value_is_in_its_bucket);
}
END_TEST

/* Below 16 some buckets are empty: they begin where the next one does. */
START_TEST(buckets_follow_each_other) {
  for (uint32_t b = 0; b + 1 < EXACT_BUCKETS; b++) {
    uint64_t lower = aprof_bucket_lower(b), next = aprof_bucket_lower(b + 1);
    ck_assert_uint_le(lower, next);
    if (lower == next)
      continue;
    ck_assert_uint_eq(aprof_bucket_of(lower), b);
    ck_assert_uint_eq(aprof_bucket_of(next - 1), b);
  }
}
END_TEST

/* The middle of a bucket is off by at most 1/32 of any value in it. */
START_TEST(relative_error) {
  for (uint32_t b = 1; b + 1 < EXACT_BUCKETS; b++) {
    uint64_t lower = aprof_bucket_lower(b), next = aprof_bucket_lower(b + 1);
    if (lower < next)
      ck_assert_msg((next - lower - 1) * 32 <= lower * 2, "bucket %u is too wide", b);
  }
}
END_TEST

START_TEST(there_is_a_bucket_for_every_amount) {
  ck_assert_uint_eq(aprof_bucket_of(0), 0);
  ck_assert_uint_eq(aprof_bucket_of(1ull << 49), 50 * 16);
  ck_assert_uint_eq(aprof_bucket_of((1ull << 62) - (1ull << 57)), 63 * 16 - 1);
  ck_assert_uint_lt(aprof_bucket_of(APROF_MOST), APROF_HISTOGRAM_BUCKETS);
}
END_TEST

static void one(uint64_t exec, uint64_t wait) {
  token t, w;
  enter(&work, &t);
  pass(exec);
  suspend(&nap, &w);
  pass(wait);
  resume(&w);
  leave(&t);
}

START_TEST(each_end_counts_once) {
  attach();
  one(5, 100);
  one(5, 101);
  one(1000, 5);
  one(1000000, 5);
  expect("work", "exec histogram from 5", 2);
  expect("work", "exec histogram from 992", 1);
  expect("work", "exec histogram from 983040", 1);
  expect("work", "wall histogram from 104", 2);
  expect("work @ nap", "histogram from 100", 2);
  expect("work @ nap", "histogram from 5", 2);
  expect("work", "slice histogram from 0", 4);
  expect("work", "slice histogram from 5", 2);
}
END_TEST

START_TEST(switched_off) {
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",histograms:no", 1);
  attach();
  one(5, 100);
  expect("work", "exec histogram from 5", 0);
  expect("work", "exec", 5);
  expect("health", "lost", 0);
}
END_TEST

UNIT_MAIN("histogram", values_lie_in_their_buckets, buckets_follow_each_other, relative_error,
          there_is_a_bucket_for_every_amount, each_end_counts_once, switched_off)
