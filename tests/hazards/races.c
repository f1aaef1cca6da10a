/* Threads that create, run, wake and end the same futures with no order between them: what
   a key says that is not one future's, or a callback that two threads are in at once. */
#include "hazard.h"

#include <pthread.h>

enum { RACERS = 3, OBJECTS = 32, DEEPEST = 4 };

static char objects[OBJECTS];
static bool over;

static __thread unsigned state;
static __thread int depth;

static void race(void);

APROF("create key=a0 root ready | run once")
static __attribute__((noinline)) void arm(char *object) {
  __asm__ volatile("" ::"r"(object) : "memory");
}

/* The object is there already, or is not known yet: nobody creates it. */
APROF("run key=race:a0 pending=0")
static __attribute__((noinline)) int step(char *object) {
  __asm__ volatile("" ::"r"(object) : "memory");
  if (depth++ < DEEPEST)
    race();
  depth--;
  return next_random(&state, 3) != 0;
}

APROF("run key=a0 pending=0")
static __attribute__((noinline)) int step_armed(char *object) {
  return step(object);
}

APROF("wake key=a0")
static __attribute__((noinline)) void nudge(char *object) {
  __asm__ volatile("" ::"r"(object) : "memory");
}

APROF("wake key=race:a0")
static __attribute__((noinline)) void nudge_stepped(char *object) {
  __asm__ volatile("" ::"r"(object) : "memory");
}

APROF("end key=a0")
static __attribute__((noinline)) void disarm(char *object) {
  __asm__ volatile("" ::"r"(object) : "memory");
}

APROF("end key=race:a0")
static __attribute__((noinline)) void give_up(char *object) {
  __asm__ volatile("" ::"r"(object) : "memory");
}

static void race(void) {
  for (unsigned n = next_random(&state, 4); n > 0; n--) {
    char *object = &objects[next_random(&state, OBJECTS)];
    switch (next_random(&state, 10)) {
    case 0:
    case 1: arm(object); break;
    case 2:
    case 3: step_armed(object); break;
    case 4:
    case 5:
    case 6: step(object); break;
    case 7: nudge(object); break;
    case 8: nudge_stepped(object); break;
    default: next_random(&state, 2) ? disarm(object) : give_up(object); break;
    }
  }
}

static void *race_on(void *seed) {
  state = *(unsigned *)seed;
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
    race();
  return NULL;
}

/* What else the program does must come out right, and be counted right. */
static unsigned long unordered(void) {
  pthread_t racers[RACERS];
  unsigned seeds[RACERS];
  for (unsigned i = 0; i < RACERS; i++) {
    seeds[i] = i + 1;
    must(pthread_create(&racers[i], NULL, race_on, &seeds[i]) == 0, "pthread_create");
  }
  unsigned long sum = work(count);
  __atomic_store_n(&over, true, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < RACERS; i++)
    pthread_join(racers[i], NULL);
  return sum;
}

const struct hazard race_hazards[] = {{"unordered", unordered, false}, {NULL, NULL, false}};
