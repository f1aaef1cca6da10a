/* SPDX-License-Identifier: MIT */
/*
 * Requests, some of which come by a line that makes them slow: COUNT on each of two threads, the
 * second of which begins late. Each fifth is an upload; each tenth an item that is not in the
 * cache. Each thread goes when it is told to (a line on standard input), and so the program ends.
 * `passing busy`: requests also compute, before that line, after it, and where it is not.
 */
#include <aprof.h>

#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { COUNT = 100 };

static volatile long sink;
static char line[16];

APROF_AWAIT static void pause_us(long us) {
  nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static int busy;

static void compute(long ms) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  long until = now.tv_sec * 1000 + now.tv_nsec / 1000000 + ms;
  while (busy && now.tv_sec * 1000 + now.tv_nsec / 1000000 < until) {
    for (int i = 0; i < 10000; i++)
      sink += i;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  }
}

/* Each has a name in samples: none calls the next as its last deed. */
__attribute__((noipa)) static void look_up(long id) {
  compute(10);
  sink += id;
}

__attribute__((noipa)) static void decode(long id) {
  compute(20);
  sink += id;
}

__attribute__((noipa)) static void pack(long id) {
  compute(10);
  sink += id;
}

APROF_ASYNC __attribute__((noinline)) static void db_get(long id) {
  sink += id;
  if (id % 10 == 7 || id % 10 == 3)
    look_up(id);
  if (id % 10 == 7) {
    sink += id * 2; /* not in the cache */
    pause_us(60000);
    decode(id);
  }
  pause_us(100);
}

APROF_ASYNC __attribute__((noinline)) static void get_item(long id) {
  sink++;
  db_get(id);
  sink += 2; /* has it */
}

APROF_ASYNC __attribute__((noinline)) static void save(long id) {
  pause_us(200);
  pack(id);
  sink += id; /* saved */
}

__attribute__((noipa)) static void between(long id) {
  sink += id;
}

static void *work(void *arg) {
  for (long id = 0; id < COUNT; id++) {
    if (id % 5 == 1)
      APROF_REQUEST("POST /upload")
    save(id);
    else APROF_REQUEST("GET /item") get_item(id);
    between(id);
  }
  return arg;
}

static void *work_later(void *arg) {
  return fgets(line, sizeof line, stdin) ? work(arg) : NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;
  (void)argv;
  busy = argc > 1;
  pause_us(1); /* so there is a profile */
  APROF_REQUEST("start")
  pause_us(1);
  puts("begun");
  fflush(stdout);
  if (!fgets(line, sizeof line, stdin))
    return 1;
  work(NULL);
  puts("half");
  fflush(stdout);
  pthread_create(&thread, NULL, work_later, NULL);
  pthread_join(thread, NULL);
  puts("done");
  fflush(stdout);
  return fgets(line, sizeof line, stdin) ? 0 : 1;
}
