/*
 * A load in steps: requests with much, little, next to no work, and much again, on
 * two threads that change places half-way.
 *
 *     step-load MS_PER_STEP          prints how many requests there were
 *
 * Made for `overhead:PERCENT`: the program's own count is what totals must have,
 * whatever was shed meanwhile.
 */
#include <aprof.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds_per_step;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void work(unsigned amount) {
  for (volatile unsigned i = 0; i < amount; i++)
    ;
}

APROF_ASYNC static __attribute__((noinline)) void part(unsigned amount) {
  work(amount);
}

APROF_ASYNC static __attribute__((noinline)) void request(unsigned amount) {
  part(amount);
  part(amount);
}

struct steps {
  unsigned amount[4];
  uint64_t requests, reached[4];
};

static void *run(void *argument) {
  struct steps *s = argument;
  for (int i = 0; i < 4; i++) {
    uint64_t before = s->requests;
    double begin = now(), end = begin + seconds_per_step;
    while (now() < end)
      for (int n = 0; n < 20; n++, s->requests++)
        request(s->amount[i]);
    s->reached[i] = (uint64_t)((double)(s->requests - before) / (now() - begin));
  }
  return NULL;
}

int main(int argc, char **argv) {
  struct steps one = {.amount = {3000, 100, 0, 3000}}, other = {.amount = {0, 3000, 3000, 0}};
  pthread_t thread;
  seconds_per_step = (argc > 1 ? atof(argv[1]) : 300) / 1000;
  pthread_create(&thread, NULL, run, &other);
  run(&one);
  pthread_join(thread, NULL);
  for (int i = 0; i < 4; i++)
    fprintf(stderr, "work %4u: %9llu requests/s   work %4u: %9llu requests/s\n", one.amount[i],
            (unsigned long long)one.reached[i], other.amount[i],
            (unsigned long long)other.reached[i]);
  printf("%llu\n", (unsigned long long)(one.requests + other.requests));
  return 0;
}
/* SPDX-License-Identifier: MIT */
