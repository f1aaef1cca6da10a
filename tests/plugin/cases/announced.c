/* SPDX-License-Identifier: MIT */
/* Where the announcement of a call is taken back ("at -"): wherever a body that nobody announces
   may be the next event. `other` is plain, and calls one; `may_begin` is none at first. */
#include <stdio.h>
#include <stdlib.h>

#define ASYNC __attribute__((aprof("async")))

extern int (*volatile may_begin)(int) ASYNC;
extern void other(void);

ASYNC static int nothing(int x) {
  return x;
}

/* -- none: what comes next is announced, or this is left */
ASYNC __attribute__((noinline)) static int in_turn(int x) {
  int y = may_begin(x);
  if (y > 3)
    return y;
  return may_begin(y + 1);
}

ASYNC __attribute__((noinline)) static int in_a_loop(int x) {
  int all[4], sum = 0;
  for (int i = 0; i < 2; i++) {
    all[1] = may_begin(i);
    if (all[1] > x)
      continue;
    switch (x) {
    case 0:
      break;
    case 7:
      sum += may_begin(x);
      /* fall through */
    default:
      sum += all[1];
    }
  }
  return sum;
}

/* -- some: */
ASYNC __attribute__((noinline)) static int another_first(int x) {
  x = may_begin(x);
  other();
  return may_begin(x);
}

ASYNC __attribute__((noinline)) static int one_way_of_two(int x) {
  x = may_begin(x);
  if (x == 5)
    other();
  return x;
}

static void leave(int *x) {
  printf("left with %d\n", *x);
  other();
}

ASYNC __attribute__((noinline)) static int on_the_way_out(int x) {
  __attribute__((cleanup(leave))) int y = may_begin(x);
  return y;
}

ASYNC __attribute__((noinline)) static int round_and_round(int x) {
  do
    x = may_begin(x) - 1;
  while (x > 0);
  other();
  return x;
}

ASYNC __attribute__((noinline)) static int goes_back(int x) {
again:
  if (x-- > 2)
    other();
  may_begin(x);
  if (x > 1)
    goto again;
  return x;
}

/* Its own body may be none. */
__attribute__((aprof("async when=a0>4"), noinline)) static int at_times(int x) {
  return may_begin(x);
}

/* -- and what is announced after it may not be */
static int (*volatile at_times_too)(int) ASYNC __attribute__((aprof("await when=a0>4"))) = nothing;
ASYNC __attribute__((noinline)) static int before_a_condition(int x) {
  x = may_begin(x);
  return at_times_too(x);
}

int (*volatile may_begin)(int) = abs;
static int (*volatile unannounced)(int) = nothing;
__attribute__((noinline)) void other(void) {
  unannounced(1);
}

int main(void) {
  for (int i = 0; i < 2; i++, may_begin = nothing) {
    printf("%d %d\n", in_turn(1), in_turn(4));
    printf("%d %d\n", in_a_loop(7), in_a_loop(0));
    printf("%d\n", another_first(1));
    printf("%d %d\n", one_way_of_two(1), one_way_of_two(5));
    printf("%d\n", on_the_way_out(1));
    printf("%d\n", round_and_round(2));
    printf("%d\n", goes_back(3));
    printf("%d %d\n", at_times(1), at_times(5));
    printf("%d %d\n", before_a_condition(1), before_a_condition(5));
  }
  return 0;
}
