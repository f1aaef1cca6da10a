/* Every way out of an async body: the closing event comes where code runs. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define A(text) __attribute__((aprof(text)))

A("await") void wait_for(int what);
__attribute__((noinline)) void wait_for(int what) { printf("waits %d\n", what); }

A("async") int several(int x) {
  if (x == 0)
    return 10;
  for (;;) {
    if (x == 1)
      return 11;
    wait_for(x);
    if (x-- == 5)
      goto out;
  }
out:
  return 12;
}

A("async") static int leaf(int x) { return x + 1; }
A("async") int tail(int x) { return leaf(x); }

static void cleaned(int *x) { printf("cleanup %d\n", *x); }

A("async") int with_cleanup(int x) {
  int held __attribute__((cleanup(cleaned))) = x;
  if (x > 5) {
    int inner __attribute__((cleanup(cleaned))) = x + 1;
    return inner;
  }
  wait_for(held);
  return held;
}

A("async") void nothing(void) {}

A("async") void falls_off(int x) {
  if (x)
    return;
  wait_for(x);
}

static jmp_buf back;

A("async") __attribute__((noinline)) void jumper(int x) {
  wait_for(x);
  longjmp(back, x);
}

A("async") int catcher(void) {
  volatile int times = 0;
  if (setjmp(back) < 3) {
    times++;
    jumper(times);
  }
  return times;
}

/* No future itself: what runs when it is called goes on. */
__attribute__((noinline)) int plain_catcher(void) {
  volatile int times = 0;
  if (setjmp(back) < 2) {
    times++;
    jumper(times);
  }
  return times;
}

A("async") int builtin_catcher(void) {
  static void *buffer[5];
  volatile int jumped = 0;
  if (__builtin_setjmp(buffer) == 0)
    jumped = 1;
  return jumped;
}

A("async") int nested(int x) {
  A("async") int inner(int y) {
    wait_for(x + y);
    return x * y;
  }
  return inner(3);
}

A("async") int nonlocal(int x) {
  __label__ away;
  void jump(int y) {
    if (y)
      goto away;
  }
  jump(x);
  return 1;
away:
  return 2;
}

A("async") int computed(int x) {
  static void *const labels[] = {&&zero, &&one, &&two};
  goto *labels[x];
zero:
  return 100;
one:
  wait_for(1);
  return 101;
two:
  x = 0;
  goto *labels[x];
}

A("async") int old_style(a, b)
int a;
char b;
{
  return a + b;
}

A("async") int variadic(int n, ...) {
  __builtin_va_list list;
  int sum = 0;
  __builtin_va_start(list, n);
  while (n--)
    sum += __builtin_va_arg(list, int);
  __builtin_va_end(list);
  return sum;
}

struct large {
  int of[40];
};

A("async") struct large large(int x) {
  struct large l;
  memset(&l, 0, sizeof l);
  l.of[39] = x;
  return l;
}

static inline __attribute__((always_inline)) A("async") int inlined(int x) {
  wait_for(x);
  return x + 1;
}
static inline __attribute__((always_inline)) A("async") int inlined_twice(int x) {
  return inlined(x) + inlined(x + 1);
}

A("async") static int recursive(int n) { return n == 0 ? 0 : 1 + recursive(n - 1); }

A("async") __attribute__((noreturn)) void leaves(void) {
  wait_for(99);
  printf("exits\n");
  exit(0);
}

int main(void) {
  printf("%d\n", several(0));
  printf("%d\n", several(1));
  printf("%d\n", several(2));
  printf("%d\n", several(5));
  printf("%d\n", tail(1));
  printf("%d\n", with_cleanup(9));
  printf("%d\n", with_cleanup(1));
  nothing();
  falls_off(0);
  falls_off(1);
  printf("%d\n", catcher());
  printf("%d\n", plain_catcher());
  printf("%d\n", builtin_catcher());
  printf("%d\n", nested(2));
  printf("%d\n", nonlocal(0));
  printf("%d\n", nonlocal(1));
  printf("%d\n", computed(0) + computed(1) + computed(2));
  printf("%d\n", old_style(1, 2));
  printf("%d\n", variadic(3, 1, 2, 3));
  printf("%d\n", large(7).of[39]);
  printf("%d\n", inlined_twice(5));
  printf("%d\n", recursive(3));
  leaves();
}
/* SPDX-License-Identifier: MIT */
