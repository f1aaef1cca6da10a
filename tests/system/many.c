/* SPDX-License-Identifier: MIT */
/*
 * One of many: requests, one after the other, until its standard input ends; then it prints how
 * many, and a sum that is theirs. many NS: each waits so long for its pool.
 */
#include <aprof.h>

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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

int main(int argc, char **argv) {
  struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
  uint64_t sum = 0, requests = 0, wanted = 0;
  pool_ns = argc > 1 ? atol(argv[1]) : 1000000;
  while (!poll(&end, 1, 0)) {
    sum += serve(requests);
    wanted += requests * requests;
    requests++;
  }
  printf("%s %s\n", requests ? "some" : "none", sum == wanted ? "right" : "wrong");
  return 0;
}
