/* SPDX-License-Identifier: MIT */
/* Which share of the requests is recorded, and when that changes: cli/record-share.c; how late
   loops are, by their events: record/lag.c. */
#include "suite.h"

#include "cli/record-share.h"
#include "record/lag.h"

#include <string.h>

#define MS 1000000u
#define SECOND (1000u * (uint64_t)MS)
#define LOOK (10 * MS)

static struct aprof_header header;
static struct share_wish wish;
static struct share share;
static uint64_t now;

static void begin(const char *text) {
  ck_assert_ptr_null(share_take(&wish, text));
  now = 100 * SECOND;
  share_begin(&share, &wish, &header, now);
}

/* So long, in which requests begin at each look. */
static void pass(uint64_t ns, uint64_t requests, uint64_t lag) {
  for (uint64_t n = 0; n < ns / LOOK; n++) {
    now += LOOK;
    header.begun_requests += requests;
    share_look(&share, &header, now, lag);
  }
}

static void expect(double least, double most) {
  ck_assert_double_ge(share_kept(&share), least * 0.999);
  ck_assert_double_le(share_kept(&share), most * 1.001);
}

/* ... and the process knows it. */
static void expect_told(double share_told) {
  expect(share_told, share_told);
  ck_assert_double_eq_tol((double)header.trace_share, share_told * 0x1p32, 0x1p32 * 1e-6);
}

START_TEST(texts) {
  static const struct {
    const char *text;
    double share, rate;
  } good[] = {{"1/100", 0.01, 0}, {"1%", 0.01, 0}, {"0.5", 0.5, 0}, {"1", 1, 0}, {"200/s", 0, 200}};
  wish.max_lag = 5;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    ck_assert_ptr_null(share_take(&wish, good[i].text));
    ck_assert_double_eq_tol(wish.share, good[i].share, 1e-9);
    ck_assert_double_eq_tol(wish.rate, good[i].rate, 1e-9);
  }
  ck_assert_uint_eq(wish.max_lag, 5);
  static const char *const bad[] = {"",      "0",  "2",   "1/0", "/s",
                                    "1/2/3", "-1", "1 %", "nan", "1e-30"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char *fault = share_take(&wish, bad[i]);
    ck_assert_msg(fault != NULL, "%s", bad[i]);
    free(fault);
  }
}
END_TEST

START_TEST(a_rate_is_followed) {
  wish = (struct share_wish){0};
  begin("100/s");
  pass(3 * SECOND, 10, 0); /* 1000 a second */
  expect(0.09, 0.11);
  pass(50 * MS, 1000, 0); /* far more: at once */
  expect(0, 0.003);
  pass(3 * SECOND, 0, 0);
  expect(1, 1);
}
END_TEST

static void with_lag(void) {
  header.trace_share = 0;
  wish = (struct share_wish){.max_lag = 20 * MS, .resume_after = 2 * SECOND};
  begin("1/10");
}

START_TEST(a_lag_halves_it) {
  with_lag();
  pass(5 * SECOND, 1, 20 * MS);
  expect(0.1, 0.1);
  ck_assert_ptr_null(share_says(&share, now));
  pass(LOOK, 1, 20 * MS + 1);
  expect_told(0.05);
  pass(190 * MS, 1, 21 * MS); /* that has to show first */
  expect(0.05, 0.05);
  pass(LOOK, 1, UINT64_MAX);
  expect_told(0.025);
  char *said = share_says(&share, now);
  ck_assert_str_eq(said,
                   "what was ready waited 21.0 ms, and this command fell behind: the share was "
                   "halved 2 times, and is 1/40 now");
  free(said);
}
END_TEST

START_TEST(calm_restores_it) {
  with_lag();
  pass(210 * MS, 1, 30 * MS);
  expect(0.025, 0.025);
  pass(5 * SECOND, 1, 15 * MS); /* better, and not calm */
  expect(0.025, 0.025);
  pass(1990 * MS, 1, 10 * MS);
  expect(0.025, 0.025);
  pass(LOOK, 1, 10 * MS);
  expect_told(0.05);
  pass(SECOND, 1, 10 * MS);
  pass(LOOK, 1, 15 * MS); /* once more from the start */
  pass(1990 * MS, 1, 0);
  expect(0.05, 0.05);
  pass(LOOK, 1, 0);
  expect_told(0.1);
  pass(60 * SECOND, 1, 0); /* never more than what was asked for */
  expect(0.1, 0.1);
}
END_TEST

START_TEST(in_the_end_nothing_is_recorded) {
  with_lag();
  for (int i = 0; i < 6; i++)
    pass(200 * MS, 1, 30 * MS);
  expect_told(0.1 / 64);
  ck_assert(!share.stopped);
  pass(200 * MS, 1, 30 * MS);
  ck_assert(share.stopped);
  expect_told(0);
  pass(1990 * MS, 1, 0);
  ck_assert(share.stopped);
  pass(LOOK, 1, 0);
  ck_assert(!share.stopped);
  expect_told(0.1 / 64);
  pass(200 * MS, 1, 30 * MS); /* and stops again, if need be */
  ck_assert(share.stopped);
  pass(5 * SECOND, 1, 30 * MS); /* where it is known to be late all the same, it stays so */
  expect_told(0);
  char *said = share_says(&share, now);
  ck_assert_str_eq(said,
                   "what was ready waited 30.0 ms: the share was halved 6 times, recording was "
                   "stopped 2 times for 7.19 s in all, and is none now");
  free(said);
  pass(20 * SECOND, 1, 0);
  expect_told(0.1);
}
END_TEST

/* -- lag ----------------------------------------------------------------------------------------
 */

static struct lag *lag;

static void see(uint32_t ring, uint32_t kind, uint32_t future, uint64_t tick) {
  struct aprof_trace_event e[2];
  aprof_trace_put(&e[0], 0, kind, tick, aprof_trace_what(future, 1));
  aprof_trace_put(&e[1], 0, APROF_TRACE_MORE, 77, 77);
  lag_see(lag, ring, e, 2, tick);
}

START_TEST(turns_of_a_loop) {
  lag = lag_new();
  see(3, APROF_TRACE_RUNNING, 1, 1000);
  ck_assert_uint_eq(lag_take(lag, 9000), 0); /* no poller so far */
  see(3, APROF_TRACE_IDLE, 0, 2000);
  ck_assert_uint_eq(lag_take(lag, 9000), 0);
  see(3, APROF_TRACE_WAKE, 1, 2500); /* as others do to what waits there */
  see(3, APROF_TRACE_OTHER, 0, 3000);
  see(3, APROF_TRACE_HELD, 0, 3100);
  ck_assert_uint_eq(lag_take(lag, 4500), 1500); /* it goes on */
  see(3, APROF_TRACE_OTHER, 0, 3900);
  ck_assert_uint_eq(lag_take(lag, 4500), 0); /* who has left its loop may rest for ever */
  see(3, APROF_TRACE_IDLE, 0, 5000);
  see(3, APROF_TRACE_RUNNING, 1, 5100);
  see(3, APROF_TRACE_IDLE, 0, 5200);
  ck_assert_uint_eq(lag_take(lag, 9000), 2000); /* the longest */
  ck_assert_uint_eq(lag_take(lag, 9000), 0);
  see(3, APROF_TRACE_RUNNING, 1, 6000);
  see(3, APROF_TRACE_GAP, 0, 6000);
  see(3, APROF_TRACE_THREAD, 1, 20000); /* nothing is known of what was between */
  see(3, APROF_TRACE_IDLE, 0, 20001);
  ck_assert_uint_eq(lag_take(lag, 30000), 0);
  lag_free(lag);
}
END_TEST

START_TEST(queues) {
  lag = lag_new();
  see(1, APROF_TRACE_BORN, 5, 100);
  see(2, APROF_TRACE_RUNNING, 5, 400); /* in another thread */
  ck_assert_uint_eq(lag_take(lag, 500), 300);
  see(2, APROF_TRACE_WAITING, 5, 500);
  see(2, APROF_TRACE_RUNNING, 5, 9000);
  ck_assert_uint_eq(lag_take(lag, 9000), 0); /* it waited, and was not ready */
  see(2, APROF_TRACE_WAITING, 5, 9100);
  see(2, APROF_TRACE_READY, 5, 9500);
  see(2, APROF_TRACE_POLLED, 5, 9700);
  ck_assert_uint_eq(lag_take(lag, 9700), 200);
  see(2, APROF_TRACE_RUNNING, 6, 10000); /* its birth is fetched later */
  see(2, APROF_TRACE_WAITING, 6, 10100);
  see(1, APROF_TRACE_BORN, 6, 9900);
  see(2, APROF_TRACE_RUNNING, 6, 20000);
  ck_assert_uint_eq(lag_take(lag, 20000), 0);
  see(1, APROF_TRACE_BORN, 7, 21000);
  see(1, APROF_TRACE_WAITING, 7, 21000); /* as callbacks are */
  see(1, APROF_TRACE_RUNNING, 7, 29000);
  ck_assert_uint_eq(lag_take(lag, 29000), 0);
  lag_free(lag);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("share");
  tcase_add_test(tests, texts);
  tcase_add_test(tests, a_rate_is_followed);
  tcase_add_test(tests, a_lag_halves_it);
  tcase_add_test(tests, calm_restores_it);
  tcase_add_test(tests, in_the_end_nothing_is_recorded);
  tcase_add_test(tests, turns_of_a_loop);
  tcase_add_test(tests, queues);
  return suite_run("share", tests);
}
