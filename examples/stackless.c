/*
 * The smallest stackless program: protothreads, functions that are called again
 * and again and go on where they left off, by four macros around a switch.
 *
 * One line tells aprof all about it: a call of such a function is a run of the
 * future that its first argument points to, and the future is not over while
 * the function returns PENDING:
 *
 *     run key=a0 pending=0
 *
 * It stands here as an attribute, on each function. As a line of a bindings
 * file it would do for every such function of a program at once:
 *
 *     run type:"int(struct thread*)" key=a0 pending=0
 *
 * A wait is then known by the line of the WAIT_UNTIL that it is in.
 */
#include <aprof.h>

#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* ---- the macros ---- */

enum { PENDING, FINISHED };

struct thread {
  int line; /* where to go on; 0 at first */
  uint64_t due_ns;
  int count;
};

#define THREAD APROF("run key=a0 pending=0") static int
#define BEGIN(t)                                                                                   \
  switch ((t)->line) {                                                                             \
  case 0:
#define WAIT_UNTIL(t, condition)                                                                   \
  do {                                                                                             \
    (t)->line = __LINE__;                                                                          \
    /* fall through */                                                                             \
  case __LINE__:                                                                                   \
    if (!(condition))                                                                              \
      return PENDING;                                                                              \
  } while (0)
#define END(t)                                                                                     \
  }                                                                                                \
  (t)->line = 0;                                                                                   \
  return FINISHED

/* ---- the program: a lamp blinks until a button was pressed three times ---- */

static int lamp, button, presses;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int due(struct thread *t, unsigned ms) {
  if (t->due_ns == 0)
    t->due_ns = now_ns() + ms * UINT64_C(1000000);
  if (now_ns() < t->due_ns)
    return 0;
  t->due_ns = 0;
  return 1;
}

THREAD blink(struct thread *t) {
  BEGIN(t);
  while (presses < 3) {
    lamp = !lamp;
    WAIT_UNTIL(t, due(t, 10));
  }
  END(t);
}

THREAD finger(struct thread *t) {
  BEGIN(t);
  for (t->count = 0; t->count < 3; t->count++) {
    WAIT_UNTIL(t, due(t, 30));
    button = 1;
    WAIT_UNTIL(t, due(t, 5));
    button = 0;
  }
  END(t);
}

THREAD watch(struct thread *t) {
  BEGIN(t);
  while (presses < 3) {
    WAIT_UNTIL(t, button);
    presses++;
    printf("pressed %d\n", presses);
    WAIT_UNTIL(t, !button);
  }
  END(t);
}

int main(void) {
  int (*const functions[])(struct thread *) = {blink, finger, watch};
  struct thread threads[3] = {{0, 0, 0}};
  int finished[3] = {0};
  const struct timespec tick = {0, 1000000};

  while (!finished[0] || !finished[1] || !finished[2]) {
    for (int i = 0; i < 3; i++)
      finished[i] = finished[i] || functions[i](&threads[i]) == FINISHED;
    nanosleep(&tick, NULL);
  }
  return 0;
}
/* SPDX-License-Identifier: MIT */
