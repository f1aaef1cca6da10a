/* SPDX-License-Identifier: MIT */
/*
 * What the recorder's test records: a stack of async functions that waits a millisecond at a time,
 * or with "busy" never; with "threads" on several threads. It goes on until it is killed, with a
 * number until it has gone round so often.
 */
#include <aprof.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int busy;
static long rounds;

APROF_AWAIT static void nap(void) {
  if (!busy)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

APROF_ASYNC static void part(int deep) {
  nap();
  if (deep > 0)
    part(deep - 1);
}

APROF_ASYNC static void handle(void) {
  part(2);
  nap();
}

static void *go_round(void *arg) {
  for (long i = 0; rounds == 0 || i < rounds; i++)
    handle();
  return arg;
}

int main(int argc, char **argv) {
  pthread_t thread[4];
  int threads = 1;
  for (int i = 1; i < argc; i++) {
    busy |= !strcmp(argv[i], "busy");
    if (!strcmp(argv[i], "threads"))
      threads = 4;
    else if (strcmp(argv[i], "busy") != 0)
      rounds = strtol(argv[i], NULL, 10);
  }
  printf("%d\n", (int)getpid());
  fflush(stdout);
  for (int i = 1; i < threads; i++)
    if (pthread_create(&thread[i], NULL, go_round, NULL) != 0)
      return EXIT_FAILURE;
  go_round(NULL);
  for (int i = 1; i < threads; i++)
    pthread_join(thread[i], NULL);
  return 7;
}
