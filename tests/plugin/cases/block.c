/* APROF_REQUEST of <aprof.h>: each way out of the block; what is called in it is called in a future. */
#include <aprof.h>
#include <setjmp.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

static jmp_buf back;

APROF_AWAIT NOINLINE void wait_for(int what);
void wait_for(int what) { printf("waits %d\n", what); }
APROF_ASYNC NOINLINE static int part(int n) {
  wait_for(n);
  return n + 1;
}
NOINLINE static void jump(int n) {
  if (n == 6)
    longjmp(back, n);
}

NOINLINE static int handle(const char *name, int n) {
  volatile int result = 0;
  part(100);
  APROF_REQUEST(name) {
    if (n == 1)
      break;
    if (n == 2)
      continue;
    if (n == 3)
      return 3;
    APROF_REQUEST("inner") { result = part(n); }
    jump(n);
    wait_for(n);
    if (n == 4)
      goto out;
  }
  result = result + 100;
out:
  return result;
}

static inline int each(int n) {
  int sum = 0;
  while (n-- > 0)
    APROF_REQUEST(n & 1 ? "odd" : NULL)
      sum += n;
  return sum;
}

NOINLINE static int returned_to(void) {
  volatile int result = 1;
  APROF_REQUEST("jumped into")
    if (setjmp(back) == 0)
      result = handle("jumped over", 6);
  return result;
}

int main(void) {
  for (int i = 0; i < 6; i++)
    printf("%d\n", handle("all", i));
  printf("%d\n", each(3));
  printf("%d\n", returned_to());
  return 0;
}
/* SPDX-License-Identifier: MIT */
