/*
 * A load that is as heavy as it is told to be: requests of three async calls, each with that
 * much work, on one thread. What the governor's ceiling holds is measured from outside, in
 * processor time.
 *
 *     governed WORK SECONDS       prints ns of processor time per request, of the second half
 */
#include <aprof.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void work(unsigned amount) {
  for (unsigned i = 0; i < amount; i++)
    __asm__ volatile("" : "+r"(i)); /* in a register: memory is as fast as its address allows */
}

APROF_ASYNC static __attribute__((noinline)) void part(unsigned amount) {
  work(amount);
}

APROF_ASYNC static __attribute__((noinline)) void request(unsigned amount) {
  part(amount);
  part(amount);
}

static double requests_until(uint64_t end, unsigned amount) {
  uint64_t requests = 0, begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  while (clock_ns(CLOCK_MONOTONIC) < end)
    for (int i = 0; i < 64; i++, requests++)
      request(amount);
  return (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)requests;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  unsigned amount = (unsigned)atoi(argv[1]);
  uint64_t half = (uint64_t)(atof(argv[2]) / 2 * 1e9), now = clock_ns(CLOCK_MONOTONIC);
  requests_until(now + half, amount);
  aprof_reset();
  printf("%.2f\n", requests_until(now + 2 * half, amount));
  return 0;
}
