/* -fplugin-arg-aprof-spans=/REGEX/: each function that matches and is defined here, but for
   futures, which are told apart already. */
#include <stdio.h>

#define A(text) __attribute__((aprof(text)))

static int compare(int one, int other) { return one - other; }
static inline int fold(int n) { return n < 2 ? n : fold(n - 1) + n; }
__attribute__((always_inline)) static inline int double_of(int n) { return n * 2; }
A("async") static int future(int n) { return double_of(n); }
A("span tier=named") static int named(int n) { return fold(n); }
static int left_out(int n) { return n; }

static int all(void) {
  return future(compare(3, 1)) + named(3) + left_out(1);
}

int main(void) {
  printf("%d\n", all());
  return 0;
}
/* SPDX-License-Identifier: MIT */
