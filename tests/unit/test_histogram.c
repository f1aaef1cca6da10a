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

/* From few values to buckets, and to more of them, whichever comes first. */
START_TEST(it_grows) {
  attach();
  uint64_t wait = 1;
  for (int i = 0; i < 40; i++, wait *= 2)
    for (int times = 0; times < 3; times++)
      one(1, wait);
  for (int i = 0; i < 40; i++)
    one(1, 6);
  wait = 16;
  for (int i = 4; i < 40; i++, wait *= 2) {
    char row[64];
    snprintf(row, sizeof row, "histogram from %llu", (unsigned long long)wait);
    expect("work @ nap", row, 3);
  }
  expect("work @ nap", "histogram from 6", 40);
  expect("work", "exec histogram from 1", 160);
  expect("work", "wall histogram from 7", 40);
  expect("health", "lost", 0);
}
END_TEST

/* Each count has 16 bits, and carries. */
START_TEST(counts_pass_65535) {
  attach();
  for (int i = 0; i < 70000; i++)
    one(5, 100);
  for (int i = 0; i < 66000; i++)
    one(7, 100);
  one(7, 1 << 20); /* what was carried grows, too */
  expect("work @ nap", "histogram from 100", 136000);
  expect("work", "exec histogram from 5", 70000);
  expect("work", "exec histogram from 7", 66001);
  expect("work", "wall histogram from 104", 136000);
  expect("work", "slice histogram from 5", 70000);
  expect("work", "slice histogram from 0", 136001);
}
END_TEST

FUNCTION_SITE(outer);

/* Those of two paths count into one histogram; the one may have seen it grow, the other not yet. */
START_TEST(paths_share_one_that_grows) {
  token t;
  attach();
  for (int i = 0; i < 20; i++) {
    one(5, 100);
    enter(&outer, &t);
    one(5, 100);
    leave(&t);
  }
  for (uint64_t wait = 100; wait < 1u << 30; wait *= 16)
    one(5, wait);
  expect("work @ nap", "histogram from 100", 41);
  enter(&outer, &t);
  one(5, 100);
  one(5, 1 << 29);
  one(5, 100);
  leave(&t);
  for (int i = 0; i < 5; i++)
    one(5, 1 << 29);
  expect("work @ nap", "histogram from 100", 43);
  expect("work @ nap", "histogram from 536870912", 6);
  expect("work", "exec histogram from 5", 54);
}
END_TEST

/* An await inside another one: what seemed a slice was none. */
START_TEST(slices_are_taken_back) {
  token t, w, again;
  attach();
  for (int i = 0; i < 30; i++) {
    enter(&work, &t);
    pass(3);
    suspend(&nap, &w);
    suspend(&nap, &again);
    pass(10);
    resume(&again);
    resume(&w);
    leave(&t);
  }
  expect("work", "slices", 60);
  expect("work", "slice histogram from 3", 30);
  expect("work", "slice histogram from 0", 30);
}
END_TEST

START_TEST(a_reset_forgets_what_was_carried) {
  attach();
  for (int i = 0; i < 66000; i++)
    one(5, 100);
  gate.api_reset();
  one(5, 100);
  one(5, 100);
  expect("work @ nap", "histogram from 100", 2);
  expect("work", "exec histogram from 5", 2);
}
END_TEST

UNIT_MAIN("histogram", values_lie_in_their_buckets, buckets_follow_each_other, relative_error,
          there_is_a_bucket_for_every_amount, each_end_counts_once, switched_off, it_grows,
          counts_pass_65535, paths_share_one_that_grows, slices_are_taken_back,
          a_reset_forgets_what_was_carried)
