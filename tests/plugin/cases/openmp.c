/* OpenMP bodies become functions of their own. One thread, for one order. */
#include <setjmp.h>
#include <stdio.h>

#define A(text) __attribute__((aprof(text)))

A("await") void wait_for(int what);
__attribute__((noinline)) void wait_for(int what) { (void)what; }
A("async") static int child(int x) { return x; }
A("create key=a0 fn=a1 ok=ret==0 | run key=a0 once=ret>0")
__attribute__((noinline)) int start(long key, int (*body)(long)) { return body(key) < 0; }
static int started(long key) { return (int)key; }

A("async") int regions(int n) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(1)
  for (int i = 0; i < n; i++) {
    wait_for(i);
    sum += child(i);
  }
#pragma omp parallel num_threads(1)
  {
    jmp_buf back;
    if (setjmp(back) == 0)
      start(n, started);
#pragma omp critical
    wait_for(n);
  }
#pragma omp task shared(sum)
  {
    wait_for(1);
    sum++;
  }
#pragma omp taskwait
  return sum;
}

int main(void) {
  printf("%d\n", regions(3));
  return 0;
}
/* SPDX-License-Identifier: MIT */
