/* SPDX-License-Identifier: MIT */
/*
 * The events whose instructions bench/instructions counts, each in a loop that
 * does nothing else. Compiled with the plugin, and once without it as the
 * measure of what the loops cost by themselves.
 *
 *     instructions [off]
 *
 * Before each event stands a call of mark(), where callgrind writes what was
 * counted since the one before: first a short loop, then a long one, whose
 * difference has no beginning and no end in it. `off` switches profiling off
 * before anything is counted.
 */
#include "annotated.h"

#include <string.h>

#define WARM 300 /* each record, path and histogram is found before */
#ifndef LONG
#define SHORT 1000
#define LONG 6000
#define ROUNDS 6
#endif

EVENT void mark(void) {
  __asm__ volatile("");
}

/* Nobody looks at what is there. The same in each program, since the address decides whether some
   keys stand behind others: in three of four, as here, none does. */
#define OBJECTS 64
static char *const objects = (char *)0x555555558040;

APROF_ASYNC EVENT static void pair(long times) {
  while (times-- > 0)
    rest();
}

EVENT static void key(long times) {
  while (times-- > 0)
    turn(&objects[OBJECTS]);
}

APROF_ASYNC EVENT static void call(long times) {
  while (times-- > 0)
    leaf(times);
}

EVENT static void stack_life(long times) {
  while (times-- > 0)
    coroutine();
}

EVENT static void key_life(long times) {
  while (times-- > 0) {
    char *object = &objects[times % OBJECTS];
    request(object, progress);
    progress(object, 0);
    progress(object, 1);
  }
}

EVENT static void woken_life(long times) {
  while (times-- > 0) {
    char *object = &objects[times % OBJECTS];
    watch(object, arrived);
    ring(object);
    arrived(object);
  }
}

EVENT static void stopped_life(long times) {
  while (times-- > 0) {
    char *object = &objects[times % OBJECTS];
    watch(object, arrived);
    ring(object);
    stop(object);
  }
}

APROF_ASYNC EVENT static void span(long times) {
  while (times-- > 0)
    plain_span();
}

/* A request that makes what follows. Its root is a future of its own for each, by that address. */
static char *const root = (char *)0x5555555580c0;

/* What it calls, and in which tier it is. */
APROF_ASYNC EVENT static void caller(long times) {
  while (times-- > 0)
    leaf(times);
}
APROF("run key=q:a0 multi") EVENT static void member_call(char *object, long times) {
  (void)object;
  caller(times);
}
APROF("run key=q:a0 multi") EVENT static void tier(char *object, long times) {
  (void)object;
  while (times-- > 0)
    look_up();
}
static void of_root(void (*event)(char *, long), long times) {
  serve(root, NULL);
  event(root, times);
  served(root);
}
static void calls(long times) {
  of_root(member_call, times);
}
static void tiers(long times) {
  of_root(tier, times);
}

/* A callback of a request, created in a run of its root: a run that goes on, and a whole life. */
APROF("run key=q:a0 multi") EVENT static void starts(char *object, char *child) {
  (void)object;
  watch(child, arrived);
}
EVENT static void member_life(long times) {
  serve(root, NULL);
  while (times-- > 0) {
    char *object = &objects[times % OBJECTS];
    starts(root, object);
    arrived(object);
  }
  served(root);
}

EVENT static void whole_request(long times) {
  while (times-- > 0) {
    char *object = &objects[times % OBJECTS];
    whole(object);
  }
}

/* ---- the run ---- */

static void measure(void (*event)(long)) {
  event(WARM);
  for (int i = 0; i < ROUNDS; i++) {
    mark();
    event(SHORT);
    mark();
    event(LONG);
    mark();
  }
}

int main(int argc, char **argv) {
  leaf(0); /* a profile begins with the first future */
  if (argc > 1 && strcmp(argv[1], "off") == 0)
    aprof_enable(0);
  measure(pair);
  measure(key);
  measure(call);
  measure(stack_life);
  measure(key_life);
  measure(woken_life);
  measure(stopped_life);
  measure(span);
  measure(calls);
  measure(tiers);
  measure(member_life);
  measure(whole_request);
  return 0;
}
