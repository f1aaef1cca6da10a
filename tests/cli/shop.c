/* SPDX-License-Identifier: MIT */
/*
 * A shop to be recorded: requests of two kinds, each with a token, of which each twentieth waits
 * for a disk. Prints the sum of their lengths in ns, by its own clock, and how many there were.
 */
#include <aprof.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

APROF_AWAIT static void pool_get(void) {
  nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

APROF_AWAIT static void disk_get(void) {
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void spin(uint64_t ns) {
  for (uint64_t end = now_ns() + ns; now_ns() < end;)
    ;
}

APROF_ASYNC static void db_get(int slow) {
  spin(20000);
  if (slow)
    disk_get();
  else
    pool_get();
}

APROF_ASYNC static void get_item(int slow) {
  spin(50000);
  db_get(slow);
}

static void serve(int i) {
  char token[60];
  snprintf(token, sizeof token, "00-4bf92f3577b34da6a3ce929d%08x-00f067aa0ba902b7-01", i + 1);
  APROF_REQUEST(i % 3 ? "GET /item" : "POST \"odd\", {kind}") {
    aprof_token_set(token);
    get_item(i % 20 == 7);
  }
}

int main(int argc, char **argv) {
  int requests = argc > 1 ? atoi(argv[1]) : 100;
  uint64_t sum = 0;
  for (int i = 0; i < requests; i++) {
    uint64_t begin = now_ns();
    serve(i);
    sum += now_ns() - begin;
  }
  printf("%llu %d\n", (unsigned long long)sum, requests);
  return 0;
}
