/* A second unit of the same module, with the gate of its own. */
#include <aprof.h>
#define A(text) __attribute__((aprof(text)))
A("await") void elsewhere(int x);
void elsewhere(int x) { (void)x; }
A("async") int other(int x) {
  elsewhere(x);
  return x;
}
/* SPDX-License-Identifier: MIT */
