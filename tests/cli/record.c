/* SPDX-License-Identifier: MIT */
/*
 * What the recorder's test records: a stack of async functions that waits a millisecond at a time,
 * or with "busy" never; with "threads" on several threads, with "crowd" on more than a small
 * profile has room for, none of which ends before all have. It goes on until it is killed, with a
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

enum { THREADS = 4, CROWD = 100 };

static int busy;
static long rounds;
static pthread_barrier_t all_have;

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
  pthread_barrier_wait(&all_have);
  return arg;
}

int main(int argc, char **argv) {
  pthread_t thread[CROWD];
  unsigned threads = 1;
  for (int i = 1; i < argc; i++) {
    busy |= !strcmp(argv[i], "busy");
    if (!strcmp(argv[i], "threads"))
      threads = THREADS;
    else if (!strcmp(argv[i], "crowd"))
      threads = CROWD;
    else if (strcmp(argv[i], "busy") != 0)
      rounds = strtol(argv[i], NULL, 10);
  }
  printf("%d\n", (int)getpid());
  fflush(stdout);
  pthread_barrier_init(&all_have, NULL, threads);
  for (unsigned i = 1; i < threads; i++)
    if (pthread_create(&thread[i], NULL, go_round, NULL) != 0)
      return EXIT_FAILURE;
  go_round(NULL);
  for (unsigned i = 1; i < threads; i++)
    pthread_join(thread[i], NULL);
  return 7;
}
