/*
 * What the crash drill kills: threads run futures for ever, and each counts, in a file
 * that it shares with the drill, the futures it has seen made and seen end; of bodies, in
 * the body itself, so that who calls is counted while the call goes on.
 *
 *     target FILE churn       two threads call and run, over and over
 *     target FILE grow        ... and take what makes the profile larger: new paths, futures
 *                             that stay, threads that come and go
 *     target FILE coroutines  futures with stacks of their own, suspended half-way
 *     target FILE once        each kind of life once, between two int3; see steps.c
 */
#include <aprof.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { THREADS = 2 };

/* Names in check.py, in this order. */
enum body { LEAF, CALL, RUN, STEP, REQUEST, PATHS, BODIES = PATHS + 6 };

struct seen {
  volatile uint64_t calls, runs, kept, dropped, switched;
  volatile uint64_t entered[BODIES], left[BODIES];
  char apart[256 - (5 + 2 * BODIES) * sizeof(uint64_t)];
};

static struct seen *seen;
static __thread struct seen *mine; /* this thread's */

APROF_AWAIT static __attribute__((noinline)) void pass(void) { __asm__ volatile("" ::: "memory"); }

APROF_ASYNC static __attribute__((noinline)) int leaf(int n) {
  mine->entered[LEAF]++;
  pass();
  mine->left[LEAF]++;
  return n + 1;
}

APROF_ASYNC static __attribute__((noinline)) int call(int n) {
  mine->entered[CALL]++;
  int sum = leaf(n);
  pass();
  sum += leaf(n);
  mine->left[CALL]++;
  return sum;
}

struct machine {
  int step;
};

APROF("run key=a0 pending=0") static __attribute__((noinline)) int run(struct machine *m) {
  if (m->step == 0)
    mine->entered[RUN]++;
  leaf(1);
  bool over = ++m->step % 3 == 0;
  mine->left[RUN] += over;
  return over;
}

static void churn_once(void) {
  struct machine machine = {0};
  call(1);
  mine->calls++;
  while (!run(&machine))
    ;
  mine->runs++;
}

static void *churn(void *argument) {
  mine = argument;
  for (;;)
    churn_once();
}

/* -- growth ---------------------------------------------------------------------- */

APROF("create key=kept:a0 root ready") static __attribute__((noinline)) void keep(void *key) {
  __asm__ volatile("" : : "r"(key) : "memory");
}

APROF("end key=kept:a0") static __attribute__((noinline)) void drop(void *key) {
  __asm__ volatile("" : : "r"(key) : "memory");
}

/* Six functions that call each other: two thousand paths. */
static int go(unsigned path);
#define PATH(number)                                                                               \
  APROF_ASYNC static __attribute__((noinline)) int path##number(unsigned path) {                   \
    mine->entered[PATHS + number]++;                                                               \
    int depth = go(path) + 1;                                                                      \
    mine->left[PATHS + number]++;                                                                  \
    return depth;                                                                                  \
  }
PATH(0) PATH(1) PATH(2) PATH(3) PATH(4) PATH(5)

static int go(unsigned path) {
  static int (*const all[])(unsigned) = {path0, path1, path2, path3, path4, path5};
  return path == 0 ? 0 : all[path % 6](path / 7);
}

enum { KEPT = 3000 };

static void grow_once(unsigned round) {
  static char keys[THREADS + 1][KEPT];
  char *own = keys[mine - seen];
  churn_once();
  go(round * 2654435761u % 1000000);
  if (mine->kept - mine->dropped < KEPT) {
    keep(&own[mine->kept % KEPT]);
    mine->kept++;
  } else if (round % 7 == 0) {
    for (unsigned i = 0; i < KEPT / 2; i++) {
      drop(&own[mine->dropped % KEPT]);
      mine->dropped++;
    }
  }
}

static void *grow(void *argument) {
  mine = argument;
  for (unsigned round = 0;; round++)
    grow_once(round);
}

static void *live_shortly(void *argument) {
  mine = argument;
  for (unsigned i = 0; i < 5; i++)
    churn_once();
  return NULL;
}

static void grow_with_threads(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, grow, &seen[1]) != 0)
    return;
  for (unsigned round = 0;; round++) {
    grow_once(round);
    if (round % 50 != 0 || pthread_create(&thread, NULL, live_shortly, &seen[2]) != 0)
      continue;
    pthread_join(thread, NULL);
  }
}

/* -- coroutines ------------------------------------------------------------------ */

enum { COROUTINES = 16, STACK = 32768 };

static ucontext_t scheduler, contexts[COROUTINES];
static unsigned current, over[COROUTINES];

APROF_AWAIT static __attribute__((noinline)) void yield(void) {
  swapcontext(&contexts[current], &scheduler);
}

APROF_ASYNC static __attribute__((noinline)) int step(int n) {
  mine->entered[STEP]++;
  yield();
  mine->left[STEP]++;
  return n;
}

APROF_ASYNC static __attribute__((noinline)) int request(int n) {
  mine->entered[REQUEST]++;
  int sum = step(n);
  yield();
  sum += step(n);
  mine->left[REQUEST]++;
  return sum;
}

static void run_coroutine(void) {
  request(1);
  mine->switched++;
  over[current] = 1;
}

static void switch_for_ever(void) {
  static char stacks[COROUTINES][STACK];
  memset(over, 1, sizeof over);
  for (;;)
    for (current = 0; current < COROUTINES; current++) {
      ucontext_t *c = &contexts[current];
      if (over[current]) {
        getcontext(c);
        c->uc_stack.ss_sp = stacks[current];
        c->uc_stack.ss_size = STACK;
        c->uc_link = &scheduler;
        makecontext(c, run_coroutine, 0);
        over[current] = 0;
      }
      swapcontext(&scheduler, c);
    }
}

/* -- each life once -------------------------------------------------------------- */

/* A callback that is asked for, and runs once or is not waited for any more. */
APROF("create key=asked:a0 fn=a1 | run key=asked:a0 once")
static __attribute__((noinline)) void ask(void *key, void (*callback)(void *)) {
  __asm__ volatile("" : : "r"(key), "r"(callback) : "memory");
}

APROF("end key=asked:a0") static __attribute__((noinline)) void withdraw(void *key) {
  __asm__ volatile("" : : "r"(key) : "memory");
}

static __attribute__((noinline)) void on_answer(void *key) {
  leaf(2);
  __asm__ volatile("" : : "r"(key) : "memory");
}

static void live_once(void) {
  static char key;
  churn_once();
  keep(&key);
  drop(&key);
  ask(&key, on_answer);
  on_answer(&key);
  ask(&key, on_answer);
  withdraw(&key);
}

static void live_between_marks(void) {
  for (int i = 0; i < 20; i++)
    live_once();
  __asm__ volatile("int3");
  live_once();
  __asm__ volatile("int3");
}

int main(int argc, char **argv) {
  int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
  if (fd < 0 || ftruncate(fd, 4096) != 0) {
    perror("target");
    return 2;
  }
  seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (seen == MAP_FAILED)
    return 2;
  pthread_t thread;
  mine = &seen[0];
  if (strcmp(argv[2], "coroutines") == 0)
    switch_for_ever();
  if (strcmp(argv[2], "once") == 0)
    live_between_marks();
  if (strcmp(argv[2], "grow") == 0)
    grow_with_threads();
  for (int i = 1; i < THREADS; i++)
    if (pthread_create(&thread, NULL, churn, &seen[i]) != 0)
      return 2;
  churn(&seen[0]);
}
/* SPDX-License-Identifier: MIT */
