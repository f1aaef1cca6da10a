/* A program of two modules, as small as it can be, to be built by build systems
   that know nothing of aprof but CFLAGS. */
#include "lib/count.h"

#include <stdio.h>

#if defined __has_attribute
#if __has_attribute(aprof)
#define ASYNC __attribute__((aprof("async")))
#endif
#endif
#ifndef ASYNC
#define ASYNC
#endif

ASYNC static int sum_to(int n) {
  int sum = 0;
  for (int i = 1; i <= n; i++)
    sum += count_up(i);
  return sum;
}

int main(void) {
  printf("sum %d\n", sum_to(10));
  return 0;
}
/* SPDX-License-Identifier: MIT */
