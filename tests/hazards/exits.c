/* Every way to end: from main, from inside a future, from another thread. */
#define _GNU_SOURCE
#include "hazard.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*way_out)(void);
static unsigned left = 30;
static void leave_here(void) {
  if (__atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) == 0)
    way_out();
}

static _Noreturn void leave_by(void (*way)(void)) {
  unsigned long sum = work(1);
  printf("%lu\n", sum);
  fflush(stdout);
  way_out = way;
  hook = leave_here;
  for (;;)
    work(1);
}

static void do_exit(void) { exit(6); }
static void do_underscore_exit(void) { _exit(6); }
static void do_quick_exit(void) { quick_exit(6); }
static void do_abort(void) { abort(); }
static void do_kill(void) { kill(getpid(), SIGKILL); }
static void do_terminate(void) { raise(SIGTERM); }
static volatile int *volatile nowhere = (volatile int *)8;
static void do_fault(void) { *nowhere = 1; }
static void do_raw_exit(void) { syscall(SYS_exit_group, 6); }

static unsigned long by_exit(void) { leave_by(do_exit); }
static unsigned long by_underscore_exit(void) { leave_by(do_underscore_exit); }
static unsigned long by_quick_exit(void) { leave_by(do_quick_exit); }
static unsigned long by_abort(void) { leave_by(do_abort); }
static unsigned long by_kill(void) { leave_by(do_kill); }
static unsigned long by_terminate(void) { leave_by(do_terminate); }
static unsigned long by_fault(void) { leave_by(do_fault); }
static unsigned long by_raw_exit(void) { leave_by(do_raw_exit); }

static void *exit_there(void *unused) {
  (void)unused;
  leave_by(do_exit);
}

static unsigned long by_other_thread(void) {
  pthread_t thread;
  must(pthread_create(&thread, NULL, exit_there, NULL) == 0, "pthread_create");
  pthread_join(thread, NULL);
  return 0;
}

/* main is over, a thread goes on; the process ends with that one. */
static void *outlive(void *unused) {
  (void)unused;
  usleep(5000);
  printf("%lu\n", work(2));
  return NULL;
}

static unsigned long by_pthread_exit(void) {
  pthread_t thread;
  struct stat tasks;
  work(1);
  /* Threads of a pool never end: no program with one can end like this. */
  if (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2 + 1)
    exit(77);
  must(pthread_create(&thread, NULL, outlive, NULL) == 0, "pthread_create");
  pthread_detach(thread);
  pthread_exit(NULL);
}

/* Other threads have futures while the process ends. */
static void *churn(void *unused) {
  (void)unused;
  for (;;)
    work(1);
  return NULL;
}

static unsigned long while_busy(void) {
  pthread_t thread;
  for (int i = 0; i < 3; i++)
    must(pthread_create(&thread, NULL, churn, NULL) == 0, "pthread_create");
  return work(20);
}

/* What exit() calls runs futures, too. */
static void run_at_exit(void) { printf("at exit %lu\n", work(1)); }
__attribute__((destructor)) static void run_destructor(void) {
  if (way_out == run_at_exit)
    printf("destructor %lu\n", small_future(4));
}

static unsigned long in_atexit(void) {
  way_out = run_at_exit;
  atexit(run_at_exit);
  return work(1);
}

const struct hazard exit_hazards[] = {
    {"exit", by_exit, false},
    {"_exit", by_underscore_exit, false},
    {"quick-exit", by_quick_exit, false},
    {"abort", by_abort, false},
    {"kill", by_kill, false},
    {"terminate", by_terminate, false},
    {"fault", by_fault, false},
    {"raw-exit", by_raw_exit, false},
    {"exit-thread", by_other_thread, false},
    {"pthread-exit", by_pthread_exit, false},
    {"while-busy", while_busy, true},
    {"in-atexit", in_atexit, false},
    {NULL, NULL, false},
};
/* SPDX-License-Identifier: MIT */
