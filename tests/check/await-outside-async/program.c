/* SPDX-License-Identifier: MIT */
/* What main() comes to, where no coroutine runs. */
#include <aprof.h>

#ifdef __cplusplus
extern "C" {
#endif
APROF_AWAIT void pause_now(void);
APROF("create ready fn=a0") void spawn(void (*entry)(void *), void *data);
void run(void);
int in_coroutine(void);
int shapes(int argc);
#ifdef __cplusplus
}
#endif

static void both(void) {
  pause_now();
}

static void entry(void *data) {
  (void)data;
  pause_now();
  both();
}

static void deep(void) {
  pause_now(); /* BAD */
}

static void shallow(int n) {
  if (n)
    deep();
}

static void either(void) {
  if (in_coroutine())
    pause_now();
}

/* Nobody in sight calls it: a library's user may, from a coroutine. */
void exported(void) {
  pause_now();
}

int main(int argc, char **argv) {
  (void)argv;
  spawn(entry, 0);
  shallow(argc);
  shapes(argc);
  either();
  run();
  pause_now(); /* BAD */
  return 0;
}
