/* SPDX-License-Identifier: MIT */
/* Ticks to nanoseconds: which of a profile's own estimate and what can be measured now is
   believed. */
#include <check.h>
#include <sys/mman.h>
#include <unistd.h>

#include "read/clock.h"
#include "suite.h"

#if defined __x86_64__ || defined __i386__

/* A profile of now, as if it had begun `age_ns` ago. */
static struct aprof_header header;
static uint64_t true_rate;

static uint64_t ticks_of(uint64_t ns) {
  return (uint64_t)(((unsigned __int128)ns << 32) / true_rate);
}

/* Both clocks at once: within some microseconds, or it is tried again. */
static void moment(uint64_t *tick, uint64_t *ns) {
  do {
    *tick = profile_clock(&header);
    *ns = clock_monotonic();
  } while (profile_clock(&header) - *tick > 20000);
}

static void setup(void) {
  uint64_t tick, ns, last_tick, last_ns;
  header = (struct aprof_header){.clock_source = APROF_CLOCK_TSC};
  moment(&tick, &ns);
  do
    moment(&last_tick, &last_ns);
  while (last_ns - ns < 30000000);
  true_rate = (uint64_t)(((unsigned __int128)(last_ns - ns) << 32) / (last_tick - tick));
  header.mono0_ns = last_ns - 2000000000;
  header.tick0 = last_tick - ticks_of(2000000000);
  header.estimated_mult = true_rate;
}

/* What is found, and that it is frozen in the file, or not. */
static uint64_t rate_found(bool frozen) {
  int fd = memfd_create("header", MFD_CLOEXEC);
  ck_assert(fd >= 0 && ftruncate(fd, APROF_HEADER_SIZE) == 0 &&
            pwrite(fd, &header, sizeof header, 0) == (ssize_t)sizeof header);
  uint64_t rate = clock_rate(fd, "it", &header, true);
  struct aprof_header then;
  ck_assert(pread(fd, &then, sizeof then, 0) == (ssize_t)sizeof then);
  ck_assert_uint_eq(then.fit_mult, frozen ? rate : 0);
  close(fd);
  return rate;
}

static bool is_true(uint64_t rate) {
  return rate > true_rate - true_rate / 200 && rate < true_rate + true_rate / 200;
}

START_TEST(both_agree) {
  ck_assert(is_true(rate_found(true)));
}
END_TEST

START_TEST(an_estimate_that_is_wrong) {
  static const unsigned percent[] = {1, 50, 80, 120, 200, 100000};
  for (size_t i = 0; i < sizeof percent / sizeof *percent; i++) {
    header.estimated_mult = true_rate / 100 * percent[i];
    ck_assert_msg(is_true(rate_found(true)), "an estimate of %u %%", percent[i]);
  }
}
END_TEST

START_TEST(no_estimate) {
  header.estimated_mult = 0;
  ck_assert(is_true(rate_found(true)));
}
END_TEST

/* It stood still for a while, or ran on while the machine slept. */
START_TEST(a_counter_that_ran_unevenly) {
  uint64_t tick0 = header.tick0;
  header.tick0 = tick0 + ticks_of(500000000);
  ck_assert_uint_eq(rate_found(false), header.estimated_mult);
  header.tick0 = tick0 - ticks_of(500000000);
  ck_assert_uint_eq(rate_found(false), header.estimated_mult);
  header.tick0 = profile_clock(&header) + ticks_of(500000000); /* started again */
  ck_assert_uint_eq(rate_found(false), header.estimated_mult);
}
END_TEST

START_TEST(what_was_frozen_stays) {
  header.fit_mult = 12345;
  ck_assert_uint_eq(rate_found(true), 12345);
}
END_TEST

#endif

int main(void) {
  TCase *tcase = tcase_create("cli_clock");
#if defined __x86_64__ || defined __i386__
  const TTest *const tests[] = {both_agree, an_estimate_that_is_wrong, no_estimate,
                                a_counter_that_ran_unevenly, what_was_frozen_stays};
  tcase_add_checked_fixture(tcase, setup, NULL);
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    tcase_add_test(tcase, tests[i]);
#endif
  return suite_run("cli_clock", tcase);
}
