/* Inline forms of functions in headers, which call the function itself by another name, as
   glibc's do for _FORTIFY_SOURCE: one call is one call. */
#include <stdio.h>

void trace_key(const void *address, const char *name);

static int object;

extern int fetch(int *from, int n);
extern int fetch_alias(int *from, int n) __asm__("fetch");
extern int fetch_checked(int *from, int n);

extern inline __attribute__((gnu_inline, always_inline, artificial)) int fetch(int *from, int n) {
  if (n > 9)
    return fetch_checked(from, n);
  return fetch_alias(from, n);
}

__attribute__((noinline, used)) int fetch_here(int *from, int n) __asm__("fetch");
int fetch_here(int *from, int n) {
  printf("fetch %d\n", n);
  *from = n;
  return n;
}
__attribute__((noinline)) int fetch_checked(int *from, int n) {
  printf("checked %d\n", n);
  *from = n;
  return n;
}

__attribute__((aprof("async"), noinline)) static int work(int n) {
  return fetch(&object, n) + fetch(&object, 17);
}

int main(void) {
  trace_key(&object, "object");
  return work(3) + fetch(&object, 4) != 24;
}
/* SPDX-License-Identifier: MIT */
