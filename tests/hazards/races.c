/* Threads that create, run, wake and end the same futures with no order between them. */
#include "hazard.h"

#include <pthread.h>
#include <sched.h>

enum { RACERS = 3, OBJECTS = 32, DEEPEST = 4 };

static char objects[OBJECTS];
static bool over;

static __thread unsigned state;
static __thread int depth;

static void race(void);

/* A function that is nothing but its line. */
#define EVENT(line, name)                                                                          \
  APROF(line) static __attribute__((noinline)) void name(char *object) {                           \
    __asm__ volatile("" ::"r"(object) : "memory");                                                 \
  }

EVENT("create key=a0 root ready | run once", arm)

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

EVENT("wake key=a0", nudge)
EVENT("wake key=race:a0", nudge_stepped)
EVENT("end key=a0", disarm)
EVENT("end key=race:a0", give_up)

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

/* What a key says that is not one future's, or a callback that two threads are in at once.
   What else the program does must come out right, and be counted right. */
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

/* -- ended by one thread as another one begins to run it -------------------------- */

EVENT("create key=job:a0 root ready", submit)
EVENT("run key=job:a0 multi", work_on)
EVENT("end key=job:a0 how=cancelled", cancel)
EVENT("create key=own:a0 root ready", begin_own)
EVENT("run key=own:a0 multi", own_step)
EVENT("end key=own:a0", end_own)

static unsigned submitted, cancelled;

static void wait_until(const unsigned *what, unsigned value) {
  while (__atomic_load_n(what, __ATOMIC_ACQUIRE) < value)
    sched_yield();
}

static void *cancel_all(void *job) {
  static char own;
  unsigned random = 7;
  for (unsigned i = 1; i <= count; i++) {
    wait_until(&submitted, i);
    for (volatile unsigned pause = next_random(&random, 100); pause > 0; pause--)
      ;
    cancel(job);
    begin_own(&own); /* has the record of the one that was cancelled, if nothing prevents it */
    own_step(&own);
    own_step(&own);
    end_own(&own);
    __atomic_store_n(&cancelled, i, __ATOMIC_RELEASE);
  }
  return NULL;
}

/* Its own futures must be right, to the last. */
static unsigned long ended_elsewhere(void) {
  static char job;
  pthread_t other;
  unsigned random = 3;
  unsigned long sum = work(1);
  must(pthread_create(&other, NULL, cancel_all, &job) == 0, "pthread_create");
  for (unsigned i = 1; i <= count; i++) {
    submit(&job);
    __atomic_store_n(&submitted, i, __ATOMIC_RELEASE);
    for (volatile unsigned pause = next_random(&random, 100); pause > 0; pause--)
      ;
    work_on(&job);
    wait_until(&cancelled, i);
  }
  pthread_join(other, NULL);
  return sum;
}

const struct hazard race_hazards[] = {
    {"unordered", unordered, false},
    {"ended-elsewhere", ended_elsewhere, false},
    {NULL, NULL, false},
};
/* SPDX-License-Identifier: MIT */
