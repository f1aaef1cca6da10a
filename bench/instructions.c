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
#include <aprof.h>

#include <string.h>

#define EVENT __attribute__((noinline, noclone))
#define WARM 300 /* each record, path and histogram is found before */
#define SHORT 1000
#define LONG 11000

EVENT void mark(void) {
  __asm__ volatile("");
}

/* ---- suspend and resume ---- */

APROF_AWAIT EVENT static void rest(void) {
  __asm__ volatile("");
}

APROF_ASYNC EVENT static void pair(long times) {
  while (times-- > 0)
    rest();
}

/* ---- the same through a key: each call is a run of the future, which goes on ---- */

static char objects[64];

APROF("run key=k:a0 multi") EVENT static void turn(char *object) {
  __asm__ volatile("" : : "r"(object));
}

EVENT static void key(long times) {
  while (times-- > 0)
    turn(&objects[0]);
}

/* ---- an async function that comes back without having waited ---- */

APROF_ASYNC EVENT static long leaf(long value) {
  __asm__ volatile("" : "+r"(value));
  return value;
}

APROF_ASYNC EVENT static void call(long times) {
  while (times-- > 0)
    leaf(times);
}

/* ---- a whole life on a stack: entered by no future, one wait, left ---- */

APROF_ASYNC EVENT static void coroutine(void) {
  rest();
}

EVENT static void stack_life(long times) {
  while (times-- > 0)
    coroutine();
}

/* ---- a whole life by key: created, run, not over, run, over ---- */

APROF("create key=r:a0 fn=a1")
EVENT static void request(char *object, int (*then)(char *, int)) {
  __asm__ volatile("" : : "r"(object), "r"(then));
}

APROF("run key=r:a0 pending=0") EVENT static int progress(char *object, int value) {
  __asm__ volatile("" : "+r"(value) : "r"(object));
  return value;
}

EVENT static void key_life(long times) {
  while (times-- > 0) {
    char *object = &objects[times % (long)sizeof objects];
    request(object, progress);
    progress(object, 0);
    progress(object, 1);
  }
}

/* ---- lives that are woken: run by that, or ended from elsewhere ---- */

APROF("wake key=r:a0") EVENT static void ring(char *object) {
  __asm__ volatile("" : : "r"(object));
}

APROF("end key=r:a0 how=cancelled") EVENT static void stop(char *object) {
  __asm__ volatile("" : : "r"(object));
}

APROF("create key=r:a0 fn=a1 | run key=r:a0 once")
EVENT static void watch(char *object, void (*then)(char *)) {
  __asm__ volatile("" : : "r"(object), "r"(then));
}

EVENT static void arrived(char *object) {
  __asm__ volatile("" : : "r"(object));
}

EVENT static void woken_life(long times) {
  while (times-- > 0) {
    char *object = &objects[times % (long)sizeof objects];
    watch(object, arrived);
    ring(object);
    arrived(object);
  }
}

EVENT static void stopped_life(long times) {
  while (times-- > 0) {
    char *object = &objects[times % (long)sizeof objects];
    watch(object, arrived);
    ring(object);
    stop(object);
  }
}

/* ---- the run ---- */

static void measure(void (*event)(long)) {
  event(WARM);
  mark();
  event(SHORT);
  mark();
  event(LONG);
  mark();
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
  return 0;
}
