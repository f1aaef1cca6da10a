/* SPDX-License-Identifier: MIT */
/*
 * A shop to be recorded: requests of two kinds, each with a token, of which each twentieth waits
 * for a disk. With clock:virtual, so that no other program on the machine makes one of them slow.
 */
#include <aprof.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void spin(uint64_t ns) {
  aprof_clock_advance(ns);
}

APROF_AWAIT static void pool_get(void) {
  aprof_clock_advance(200000);
}

APROF_AWAIT static void disk_get(void) {
  aprof_clock_advance(20000000);
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
  for (int i = 0; i < requests; i++)
    serve(i);
  return 0;
}
