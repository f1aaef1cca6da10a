/* A module of its own, opened at run time. */
#define A(text) __attribute__((aprof(text)))
A("await") extern int puts(const char *);
A("async") int serve(int x) {
  puts("in the library");
  return x;
}
/* SPDX-License-Identifier: MIT */
