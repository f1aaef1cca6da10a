/*
 * The first moment of a profile and the rate of its clock, with clocks of the kernel that
 * are read at a bad time, stand still, or go their own way.
 */
#include <check.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../rt/bytes.c"

#undef _GNU_SOURCE /* it says so itself */
#include "../../rt/clock.c"

struct rt rt;

static uint64_t kernel_ns(clockid_t clock) {
  struct timespec now;
  syscall(SYS_clock_gettime, clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* -- the clock that clock.c asks ------------------------------------------------------ */

#define HELD_NS 300000u /* how long the thread is without a processor */

static unsigned reading;            /* how many so far */
static unsigned held_from, held_to; /* of these, none before 1: the thread is held up behind */
static uint64_t stands_at;          /* not 0: all that it says */

void vdso_find(void) {}

uint64_t vdso_clock(clockid_t clock) {
  uint64_t now = kernel_ns(clock);
  if (stands_at != 0)
    return stands_at;
  if (++reading >= held_from && reading <= held_to)
    while (kernel_ns(clock) - now < HELD_NS)
      ;
  return now;
}

/* -- what it should find ------------------------------------------------------------ */

/* Both clocks at once: within some microseconds, or it is tried again. */
static struct pair moment(void) {
  struct pair p;
  do {
    p.tick = counter();
    p.ns = kernel_ns(CLOCK_MONOTONIC);
    p.gap = counter() - p.tick;
  } while (p.gap > 20000);
  return p;
}

static uint64_t true_rate(void) {
  struct pair first = moment(), last = first;
  while (last.ns - first.ns < 20000000)
    last = moment();
  return (uint64_t)(((unsigned __int128)(last.ns - first.ns) << 32) / (last.tick - first.tick));
}

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
static uint64_t pair_error(uint64_t rate) {
  struct pair now = moment();
  uint64_t by_counter = (uint64_t)(((unsigned __int128)(now.tick - header.tick0) * rate) >> 32);
  uint64_t by_clock = now.ns - header.mono0_ns;
  return by_counter > by_clock ? by_counter - by_clock : by_clock - by_counter;
}

#if defined __x86_64__ || defined __i386__

START_TEST(held_up_once) {
  uint64_t rate = true_rate();
  for (held_from = 1; held_from <= 24; held_from++) {
    held_to = held_from;
    start_on(APROF_CLOCK_TSC);
    held_to = 0;
    ck_assert_uint_eq(header.clock_source, APROF_CLOCK_TSC);
    ck_assert_msg(within(header.estimated_mult, rate, 50),
                  "held up behind reading %u: %llu, not %llu", held_from,
                  (unsigned long long)header.estimated_mult, (unsigned long long)rate);
    ck_assert_uint_lt(pair_error(rate), HELD_NS / 2);
  }
}
END_TEST

START_TEST(held_up_most_of_the_time) {
  uint64_t rate = true_rate();
  held_from = 2, held_to = 15; /* of the two pairs one try each is good */
  start_on(APROF_CLOCK_TSC);
  ck_assert_uint_eq(header.clock_source, APROF_CLOCK_TSC);
  ck_assert(within(header.estimated_mult, rate, 50));
}
END_TEST

START_TEST(held_up_all_the_time) {
  uint64_t rate = true_rate();
  held_from = 1, held_to = UINT32_MAX;
  start_on(APROF_CLOCK_TSC);
  if (header.clock_source == APROF_CLOCK_TSC)
    ck_assert(within(header.estimated_mult, rate, 7));
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
  ck_assert_ptr_eq(rt.usual_epoch, &clock_never); /* fast events read the counter */
}
END_TEST

#endif

START_TEST(the_kernels_own) {
  uint64_t earlier = kernel_ns(CLOCK_MONOTONIC);
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
  Suite *suite = suite_create("clock");
  TCase *tcase = tcase_create("clock");
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    tcase_add_test(tcase, tests[i]);
  suite_add_tcase(suite, tcase);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
