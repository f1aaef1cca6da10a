/*
 * confined [MODULE]: gives up system calls, by a library that it is linked with or
 * loads, and goes on with futures that were never seen before. It has no other way to
 * do so: this unit calls neither prctl nor syscall.
 */
#include <aprof.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

APROF_ASYNC static __attribute__((noinline)) int first(int n) {
  return n * 3 + 1;
}

#define LATER(name)                                                                                \
  APROF_ASYNC static __attribute__((noinline)) int name(int n) {                                   \
    return first(n) * 2;                                                                           \
  }
LATER(one)
LATER(two)
LATER(three)

#ifdef LINKED
int confine(void);
static int confine_by(const char *module) {
  (void)module;
  return confine();
}
#else
static int confine_by(const char *module) {
  void *loaded = dlopen(module, RTLD_NOW);
  int (*confine)(void) = loaded != NULL ? (int (*)(void))dlsym(loaded, "confine") : NULL;
  return confine != NULL ? confine() : -1;
}
#endif

/* With a second argument its first future comes later, too. */
int main(int argc, char **argv) {
  int sum = argc > 2 ? 0 : first(1);
  if (confine_by(argc > 1 ? argv[1] : "") != 0)
    return 77;
  for (int i = 0; i < 1000; i++)
    sum = (sum + one(i) + two(i) + three(i)) & 0xffff;
  char text[16];
  ssize_t ignored = write(1, text, (size_t)snprintf(text, sizeof text, "%d\n", sum));
  (void)ignored;
  return 5;
}
/* SPDX-License-Identifier: MIT */
