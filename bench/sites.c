/* SPDX-License-Identifier: MIT */
/*
 * Many threads that each use many sites: 5000 functions with an await each.
 *
 *     sites THREADS ROUNDS
 *
 * Each thread calls each function so often; what it waits for is nothing.
 */
#include <aprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

APROF_AWAIT __attribute__((noinline)) static void rest(void) {
  __asm__ volatile("");
}

#define TEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define DEFINE(n)                                                                                  \
  APROF_ASYNC static void f##n(void) {                                                             \
    rest();                                                                                        \
  }
#define NAME(n) f##n,
#define HUNDRED(m, n)                                                                              \
  TEN(m, n##0)                                                                                     \
  TEN(m, n##1) TEN(m, n##2) TEN(m, n##3) TEN(m, n##4) TEN(m, n##5) TEN(m, n##6) TEN(m, n##7)       \
      TEN(m, n##8) TEN(m, n##9)
#define THOUSAND(m, n)                                                                             \
  HUNDRED(m, n##0)                                                                                 \
  HUNDRED(m, n##1) HUNDRED(m, n##2) HUNDRED(m, n##3) HUNDRED(m, n##4) HUNDRED(m, n##5)             \
      HUNDRED(m, n##6) HUNDRED(m, n##7) HUNDRED(m, n##8) HUNDRED(m, n##9)
#define ALL(m) THOUSAND(m, 1) THOUSAND(m, 2) THOUSAND(m, 3) THOUSAND(m, 4) THOUSAND(m, 5)

ALL(DEFINE)
static void (*const function[])(void) = {ALL(NAME)};

static int rounds;

static void *work(void *unused) {
  for (int i = 0; i < rounds; i++)
    for (size_t f = 0; f < sizeof function / sizeof *function; f++)
      function[f]();
  return unused;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 64;
  rounds = argc > 2 ? atoi(argv[2]) : 100;
  pthread_t *thread = calloc((size_t)threads, sizeof *thread);
  for (int i = 0; i < threads; i++)
    pthread_create(&thread[i], NULL, work, NULL);
  for (int i = 0; i < threads; i++)
    pthread_join(thread[i], NULL);
  free(thread);
  return 0;
}
