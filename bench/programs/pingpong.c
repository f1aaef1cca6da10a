/* SPDX-License-Identifier: MIT */
/*
 * The worst case: two coroutines that do nothing but hand over to each other. Each is one
 * future, each hand-over one await: a suspension and the end of another one.
 *
 *     pingpong [SWITCHES]
 *
 * Prints the processor time of a hand-over in ns, and beside it two reads of the clock.
 */
#include <aprof.h>

#include <stdio.h>
#include <sys/resource.h>
#include <x86intrin.h>

#include "coroutine.h"

static struct coroutine players[2];
static void *caller;
static long left;

APROF_AWAIT static void hand_over(int from) {
  coroutine_switch(&players[from].top, players[!from].top);
}

APROF_ASYNC static void play(void *argument) {
  int self = *(int *)argument;
  while (left-- > 0)
    hand_over(self);
  coroutine_switch(&players[self].top, caller);
}

static double cpu_ns(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

static double two_reads(long times) {
  volatile uint64_t sink;
  double begin = cpu_ns();
  for (long i = 0; i < times; i++) {
    sink = __rdtsc();
    sink = __rdtsc();
  }
  (void)sink;
  return (cpu_ns() - begin) / (double)times;
}

int main(int argc, char **argv) {
  static int numbers[2] = {0, 1};
  long switches = argc > 1 ? atol(argv[1]) : 20000000;
  for (int i = 0; i < 2; i++)
    if (coroutine_init(&players[i], play, &numbers[i]) != 0)
      return 1;
  left = 1000; /* everything has happened once */
  coroutine_switch(&caller, players[0].top);
  for (int i = 0; i < 2; i++)
    if (coroutine_init(&players[i], play, &numbers[i]) != 0)
      return 1;
  left = switches;
  double begin = cpu_ns();
  coroutine_switch(&caller, players[0].top);
  double took = cpu_ns() - begin;
  printf("%.3f\t%.3f\n", took / (double)switches, two_reads(switches / 4));
  return 0;
}
