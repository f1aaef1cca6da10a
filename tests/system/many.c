/* SPDX-License-Identifier: MIT */
/*
 * One of many: a request every 50 ms until its standard input ends; then it prints whether there
 * were any, and whether a sum of theirs is right. many NS: each waits so long for its pool. All of
 * the many have as many requests, so that a slow one counts as much as the others in a mean.
 */
#include <aprof.h>

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EVERY_NS 50000000

static long pool_ns;

static void wait_ns(long ns) {
  nanosleep(&(struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}, NULL);
}

APROF_AWAIT static void pool_get(void) {
  wait_ns(pool_ns);
}

APROF_AWAIT static void db_query(void) {
  wait_ns(1000000);
}

APROF_ASYNC static uint64_t get_item(uint64_t i) {
  pool_get(); /* at */
  db_query();
  return i * i;
}

static uint64_t serve(uint64_t i) {
  uint64_t sum = 0;
  APROF_REQUEST("GET /item") {
    sum = get_item(i);
  }
  return sum;
}

static long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Whether standard input is still open at that moment. */
static int goes_on_until(long due) {
  struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
  long ms = (due - now_ns()) / 1000000;
  return !poll(&end, 1, ms > 0 ? (int)ms : 0);
}

int main(int argc, char **argv) {
  uint64_t sum = 0, requests = 0, wanted = 0;
  pool_ns = argc > 1 ? atol(argv[1]) : 1000000;
  for (long due = now_ns(); goes_on_until(due); due += EVERY_NS) {
    sum += serve(requests);
    wanted += requests * requests;
    requests++;
  }
  printf("%s %s\n", requests ? "some" : "none", sum == wanted ? "right" : "wrong");
  return 0;
}
