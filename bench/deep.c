/* SPDX-License-Identifier: MIT */
/*
 * The shape of a block layer on coroutines: each request is 33 calls of async functions, ten deep,
 * of which one waits: for a thread of a pool, which sleeps until there is work and wakes the
 * first one. Hundreds of functions, so that no two requests in a row take the same ones. Between
 * requests a buffer is written, as large as is asked for, so that caches are cold.
 *
 *     deep REQUESTS KB
 *
 * Prints, in ns for each request: processor time of the loop's thread, the same of the whole
 * process, and wall time. deep-functions.h is made by deep.sh.
 */
#include <aprof.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))

struct request {
  uint64_t number, sum;
};

static sem_t work, done;
static struct request *job;
static uint64_t words[4096];

APROF_ASYNC APART static void pool_job(struct request *r) {
  r->sum += r->number;
}

static void *pool(void *unused) {
  (void)unused;
  for (;;) {
    sem_wait(&work);
    if (job == NULL)
      return NULL;
    pool_job(job);
    sem_post(&done);
  }
}

/* The loop polls until the pool is done. */
APART static void loop_sleep(void) {
  sem_wait(&done);
}
APROF_AWAIT APART static void in_pool(struct request *r) {
  job = r;
  sem_post(&work);
  loop_sleep();
}

static void compute(struct request *r, unsigned at) {
  uint64_t *word = &words[at * 67 % 4096];
  for (int i = 0; i < 8; i++)
    r->sum = r->sum * 31 + word[i]++;
}

#include "deep-functions.h"

static uint64_t ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  uint64_t requests = strtoull(argv[1], NULL, 10), size = strtoull(argv[2], NULL, 10) << 10;
  char *buffer = malloc(size + 1);
  pthread_t thread;
  sem_init(&work, 0, 0);
  sem_init(&done, 0, 0);
  pthread_create(&thread, NULL, pool, NULL);
  uint64_t self = 0, all = 0, wall = 0, sum = 0;
  for (uint64_t n = 0, warm = requests / 10 + 1; n < warm + requests; n++) {
    if (n == warm) {
      self = ns(CLOCK_THREAD_CPUTIME_ID);
      all = ns(CLOCK_PROCESS_CPUTIME_ID);
      wall = ns(CLOCK_MONOTONIC);
    }
    struct request r = {n, 0};
    memset(buffer, (int)n, size);
    request(&r);
    sum += r.sum;
  }
  printf("%.0f %.0f %.0f\n", (double)(ns(CLOCK_THREAD_CPUTIME_ID) - self) / (double)requests,
         (double)(ns(CLOCK_PROCESS_CPUTIME_ID) - all) / (double)requests,
         (double)(ns(CLOCK_MONOTONIC) - wall) / (double)requests);
  job = NULL;
  sem_post(&work);
  pthread_join(thread, NULL);
  free(buffer);
  return sum == 1;
}
