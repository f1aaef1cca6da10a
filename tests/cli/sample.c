/* SPDX-License-Identifier: MIT */
/*
 * What the test of sampled recordings records: REQUESTS requests in all, of as many kinds, on three
 * threads, which hand each other's jobs to a worker; between them work that is part of none. With
 * "live" it goes on until it is killed, with kinds "fast" and "slow"; "busy": without a pause.
 */
#include <aprof.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALL __attribute__((noinline))
enum { THREADS = 3 };

struct job {
  struct job *next;
  pthread_mutex_t done; /* locked until it is */
};

static struct job *first;
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static long requests;
static int live, busy;

APROF("create key=j:a0 fn=a1 ready") static void job_new(struct job *j, void (*work)(struct job *));
APROF("run key=j:a0 once") static void job_run(struct job *j, void (*work)(struct job *));

static void spend(long us) {
  struct timespec begin, now;
  if (busy)
    return;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do
    clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

APROF_AWAIT static CALL void nap(long us) {
  if (!busy)
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* -- the worker ---------------------------------------------------------------------------- */

static void compress(struct job *j) {
  (void)j;
  spend(30);
}

static CALL void job_new(struct job *j, void (*work)(struct job *)) {
  (void)j, (void)work;
}

static void job_push(struct job *j) {
  pthread_mutex_lock(&queue);
  j->next = first;
  first = j;
  pthread_cond_signal(&filled);
  pthread_mutex_unlock(&queue);
}

static CALL void job_run(struct job *j, void (*work)(struct job *)) {
  work(j);
}

static void *work(void *arg) {
  for (;;) {
    pthread_mutex_lock(&queue);
    while (!first)
      pthread_cond_wait(&filled, &queue);
    struct job *j = first;
    first = j->next;
    pthread_mutex_unlock(&queue);
    job_run(j, compress);
    pthread_mutex_unlock(&j->done);
  }
  return arg;
}

/* -- requests ------------------------------------------------------------------------------- */

APROF_AWAIT static CALL void job_wait(struct job *j) {
  pthread_mutex_lock(&j->done);
}

APROF_ASYNC static CALL void fetch(int deep, long us) {
  spend(5);
  nap(us);
  if (deep > 0)
    fetch(deep - 1, us);
}

#ifndef SERVE
#define SERVE "async root"
#endif
APROF(SERVE) static CALL void serve(long number) {
  char label[24];
  struct job j = {.done = PTHREAD_MUTEX_INITIALIZER};
  int slow = number % 5 == 0;
  if (live)
    aprof_label(slow ? "slow" : "fast");
  else {
    snprintf(label, sizeof label, "r%ld", number);
    aprof_label(label);
  }
  pthread_mutex_lock(&j.done);
  job_new(&j, compress);
  job_push(&j);
  fetch((int)(number % 3), slow ? 12000 : 200);
  job_wait(&j);
}

APROF_ASYNC static CALL void housekeeping(void) {
  spend(20);
  nap(50);
}

static long begun;

static void *go_round(void *arg) {
  long number;
  while ((number = __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED)) < requests || live) {
    serve(number);
    housekeeping();
  }
  return arg;
}

int main(int argc, char **argv) {
  pthread_t worker, thread[THREADS];
  busy = argc > 1 && !strcmp(argv[1], "busy");
  live = busy || (argc > 1 && !strcmp(argv[1], "live"));
  requests = argc > 1 && !live ? strtol(argv[1], NULL, 10) : 100;
  printf("%d\n", (int)getpid());
  fflush(stdout);
  if (pthread_create(&worker, NULL, work, NULL) != 0)
    return EXIT_FAILURE;
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&thread[i], NULL, go_round, NULL) != 0)
      return EXIT_FAILURE;
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
  return 0;
}
