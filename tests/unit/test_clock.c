/* SPDX-License-Identifier: MIT */
/*
 * The first moment of a profile and the rate of its clock, with clocks of the kernel that
 * are read at a bad time, stand still, or go their own way.
 */
#include <check.h>
#include <time.h>

#include "../../rt/sys/bytes.c"
#include "suite.h"

/* -- the clocks that clock.c asks: time passes by being asked for it ------------------- */

#define READING_NS 25u
#define HELD_NS 300000u           /* how long the thread is without a processor */
#define RATE ((10ull << 32) / 27) /* ns per tick << 32, at 2.7 GHz */

static uint64_t passed_ns = 1000000000;
static unsigned reading;            /* how many of the kernel's so far */
static unsigned held_from, held_to; /* of these, none before 1: the thread is held up behind */
static uint64_t stands_at;          /* not 0: all that the kernel's says */

static uint64_t ticks_now(void) {
  passed_ns += READING_NS;
  return passed_ns * 27 / 10;
}

#define __builtin_ia32_rdtsc() ticks_now()
#include "../../rt/file/clock.c"

#include "../../rt/rt.c"

void vdso_find(void) {}

uint64_t vdso_clock(clockid_t clock) {
  (void)clock;
  uint64_t now = passed_ns += READING_NS;
  if (stands_at != 0)
    return stands_at;
  if (++reading >= held_from && reading <= held_to)
    passed_ns += HELD_NS;
  return now;
}

/* -- what it should find ------------------------------------------------------------ */

static bool within(uint64_t rate, uint64_t wanted, unsigned part) {
  return rate > wanted - wanted / part && rate < wanted + wanted / part;
}

static struct aprof_header header, before;

static void start_on(uint32_t source) {
  reading = 0;
  header = before = (struct aprof_header){0};
  rt.header = &before;
  rt.options.clock = source;
  clock_start(&header);
}

/* How far the first moment is off, in ns. */
static uint64_t pair_error(void) {
  uint64_t by_counter = header.tick0 * 10 / 27, by_clock = header.mono0_ns;
  return by_counter > by_clock ? by_counter - by_clock : by_clock - by_counter;
}

#if defined __x86_64__ || defined __i386__

START_TEST(held_up_once) {
  for (held_from = 1; held_from <= 24; held_from++) {
    held_to = held_from;
    start_on(APROF_CLOCK_TSC);
    held_to = 0;
    ck_assert_uint_eq(header.clock_source, APROF_CLOCK_TSC);
    ck_assert_msg(within(header.estimated_mult, RATE, 1000),
                  "held up behind reading %u: %llu, not %llu", held_from,
                  (unsigned long long)header.estimated_mult, (unsigned long long)RATE);
    ck_assert_uint_lt(pair_error(), 2 * READING_NS);
  }
}
END_TEST

START_TEST(held_up_most_of_the_time) {
  held_from = 2, held_to = 15; /* of the two pairs one try each is good */
  start_on(APROF_CLOCK_TSC);
  ck_assert_uint_eq(header.clock_source, APROF_CLOCK_TSC);
  ck_assert(within(header.estimated_mult, RATE, 1000));
}
END_TEST

START_TEST(held_up_all_the_time) {
  held_from = 1, held_to = UINT32_MAX;
  start_on(APROF_CLOCK_TSC);
  if (header.clock_source == APROF_CLOCK_TSC)
    ck_assert(within(header.estimated_mult, RATE, 7));
  else
    ck_assert_uint_eq(header.clock_source, APROF_CLOCK_MONOTONIC);
}
END_TEST

START_TEST(a_clock_that_stands_still) {
  stands_at = 1234567890;
  start_on(APROF_CLOCK_TSC);
  ck_assert_uint_eq(header.clock_source, APROF_CLOCK_MONOTONIC);
  ck_assert_uint_eq(rt.clock, APROF_CLOCK_MONOTONIC);
  ck_assert_uint_eq(header.estimated_mult, 1ull << 32);
  ck_assert_uint_eq(header.fit_mult, 1ull << 32);
  ck_assert_uint_eq(header.tick0, stands_at);
  ck_assert_uint_eq(header.mono0_ns, stands_at);
  ck_assert_ptr_eq(rt.usual_epoch, &epoch_never); /* fast events read the counter */
}
END_TEST

#endif

START_TEST(the_kernels_own) {
  uint64_t earlier = passed_ns;
  start_on(APROF_CLOCK_MONOTONIC);
  ck_assert_uint_eq(header.clock_source, APROF_CLOCK_MONOTONIC);
  ck_assert_uint_eq(header.fit_mult, 1ull << 32);
  ck_assert_uint_eq(header.tick0, header.mono0_ns);
  ck_assert_uint_ge(header.tick0, earlier);
  ck_assert_uint_le(header.tick0, clock_read());
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
#if defined __x86_64__ || defined __i386__
    held_up_once,
    held_up_most_of_the_time,
    held_up_all_the_time,
    a_clock_that_stands_still,
#endif
    the_kernels_own
  };
  TCase *tcase = tcase_create("clock");
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    tcase_add_test(tcase, tests[i]);
  return suite_run("clock", tcase);
}
