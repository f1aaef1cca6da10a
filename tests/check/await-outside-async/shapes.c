/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <aprof.h>
#ifdef __cplusplus
extern "C" {
#endif
APROF_AWAIT void pause_now(void);
APROF("create ready fn=a0") void spawn(void (*entry)(void *), void *data);
void run(void);
int in_coroutine(void);
int test(int);
int shapes(int argc);
#ifdef __cplusplus
}
#endif
struct cmd {
  const char *n;
  int (*f)(int);
};
static int c1(int n) {
  if (n)
    pause_now(); /* BAD */
  return 0;
}
static int c2(int n) {
  return n;
}
static const struct cmd cmds[] = {{"a", c1}, {"b", c2}};
static inline void inl(void) {
  do {
    if (test(1))
      break;
    pause_now(); /* BAD */
  } while (0);
}
static void entry(void *d) {
  (void)d;
  pause_now();
  inl();
  c1(1);
}
static void only_co(void) {
  pause_now();
}
static void entry2(void *d) {
  only_co();
  (void)d;
}
#define WAIT() pause_now()
APROF_ASYNC static void co_body(void) {
  pause_now();
}
static void never(void) {
  if (0)
    pause_now();
}
static int setup(int n) {
  switch (n) {
  case 1:
    WAIT(); /* BAD */
    break;
  case 2:
    goto end;
  }
end:
  return 0;
}
int shapes(int argc) {
  spawn(entry, 0);
  spawn(entry2, 0);
  if (test(2))
    inl();
  for (int i = 0; i < 2; i++)
    cmds[i].f(argc);
  setup(argc);
  never();
  co_body();
  run();
  return 0;
}
