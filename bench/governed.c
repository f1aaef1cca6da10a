/* SPDX-License-Identifier: MIT */
/*
 * A load that is as heavy as it is told to be: requests of three async calls, each with that
 * much work, on one thread. What the governor's ceiling holds is measured from outside.
 *
 *     governed WORK SECONDS
 *
 * Prints ns of a request without profiling, and what profiling adds in percent of that, in
 * the second half of the time. After each block of requests comes a short one of the same
 * without async functions, and it is compared with that alone: how fast the processor is
 * changes from one moment to the next, with what its neighbours do.
 */
#include <aprof.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCK_NS 400000.0
#define PLAIN_SHARE 8 /* of a block's requests one in so many is made once more, plainly */
#define BLOCKS 100000 /* at most */
#define APART __attribute__((noinline, noclone))

static double clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void work(unsigned amount) {
  for (unsigned i = 0; i < amount; i++)
    __asm__ volatile("" : "+r"(i)); /* in a register: memory is as fast as its address allows */
}

APROF_ASYNC APART static void part(unsigned amount) {
  work(amount);
}
APROF_ASYNC APART static void request(unsigned amount) {
  part(amount);
  part(amount);
}

APART static void plain_part(unsigned amount) {
  work(amount);
  __asm__ volatile(""); /* not merged with the other */
}
APART static void plain_request(unsigned amount) {
  plain_part(amount);
  plain_part(amount);
}

/* ns of each, of so many */
static double timed(void (*one)(unsigned), unsigned amount, long count) {
  double begin = clock_ns();
  for (long i = 0; i < count; i++)
    one(amount);
  return (clock_ns() - begin) / (double)count;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, ascending);
  return values[count / 2];
}

int main(int argc, char **argv) {
  static double more[BLOCKS], plain[BLOCKS];
  if (argc != 3)
    return 2;
  unsigned amount = (unsigned)atoi(argv[1]);
  double begin = clock_ns(), length = atof(argv[2]) * 1e9, now;
  long count = (long)(BLOCK_NS / timed(plain_request, amount, 1000)) + PLAIN_SHARE;
  size_t blocks = 0;
  for (int second = 0; (now = clock_ns() - begin) < length && blocks < BLOCKS; blocks++) {
    if (!second && now > length / 2) {
      second = 1;
      blocks = 0;
      aprof_reset();
    }
    double with = timed(request, amount, count);
    plain[blocks] = timed(plain_request, amount, count / PLAIN_SHARE);
    more[blocks] = 100 * (with - plain[blocks]) / plain[blocks];
  }
  double share = median(more, blocks);
  printf("%.2f %.2f\n", median(plain, blocks), share);
  return 0;
}
