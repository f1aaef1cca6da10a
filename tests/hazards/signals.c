/* Hazards that come as signals. */
#include "hazard.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Where the plugin is absent nobody answers SIGUSR1, and it would kill. */
static void survive_usr1(void) {
#ifndef APROF_PLUGIN
  signal(SIGUSR1, SIG_IGN);
#endif
}

static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  must(sigaction(number, &action, NULL) == 0, "sigaction");
}

static void fire_every(unsigned microseconds) {
  struct itimerval timer = {{0, (suseconds_t)microseconds}, {0, (suseconds_t)microseconds}};
  must(setitimer(ITIMER_REAL, &timer, NULL) == 0, "setitimer");
}

/* `count` times SIGUSR1 from another process while futures churn. */
static unsigned long storm(void) {
  survive_usr1();
  unsigned long sum = work(1);
  pid_t self = getpid(), sender = fork();
  must(sender >= 0, "fork");
  if (sender == 0) {
    for (unsigned i = 0; i < count; i++) {
      kill(self, SIGUSR1);
      usleep(50);
    }
    _exit(0);
  }
  int status;
  pid_t ended;
  while ((ended = waitpid(sender, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR))
    must(work(1) == sum, "work");
  must(ended == sender && status == 0, "waitpid");
  return sum;
}

static volatile sig_atomic_t own_count;
static void own_handler(int number) {
  (void)number;
  own_count++;
}

/* The program's own handler stays its own, whenever it was installed. */
static unsigned long own_usr1(void) {
  handle(SIGUSR1, own_handler, 0);
  unsigned long sum = work(2);
  for (int i = 0; i < 100; i++)
    raise(SIGUSR1);
  return sum + (unsigned long)own_count;
}

static unsigned long own_usr1_late(void) {
  unsigned long sum = work(2);
  handle(SIGUSR1, own_handler, 0);
  for (int i = 0; i < 100; i++)
    raise(SIGUSR1);
  return sum + work(2) + (unsigned long)own_count;
}

static unsigned long blocked_usr1(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  unsigned long sum = work(2);
  raise(SIGUSR1);
  sum += work(2);
  struct timespec none = {0, 0};
  int got = sigtimedwait(&set, NULL, &none);
  return sum + (unsigned long)got;
}

/* Nobody but us starts children here, so wait() must never see one. */
static volatile sig_atomic_t children_seen;
static void on_child(int number) {
  (void)number;
  int saved = errno;
  while (waitpid(-1, NULL, WNOHANG) > 0)
    children_seen++;
  children_seen++;
  errno = saved;
}

static void say_children(void) { printf("children %d\n", (int)children_seen); }
__attribute__((destructor(101))) static void say_children_late(void) {
  if (children_seen)
    printf("late children %d\n", (int)children_seen);
  fflush(stdout);
}

static unsigned long sigchld(void) {
  survive_usr1();
  handle(SIGCHLD, on_child, SA_RESTART);
  atexit(say_children);
  unsigned long sum = 0;
  for (int i = 0; i < 20; i++) {
    sum += work(1);
    raise(SIGUSR1);
    errno = 0;
    must(waitpid(-1, NULL, 0) == -1 && errno == ECHILD, "waitpid");
    siginfo_t info;
    must(waitid(P_ALL, 0, &info, WEXITED) == -1 && errno == ECHILD, "waitid");
  }
  return sum;
}

static unsigned long sigchld_ignored(void) {
  survive_usr1();
  signal(SIGCHLD, SIG_IGN);
  unsigned long sum = work(2);
  raise(SIGUSR1);
  pid_t child = fork();
  if (child == 0)
    _exit((int)(work(1) & 1));
  must(child > 0 && waitpid(child, NULL, 0) == -1 && errno == ECHILD, "waitpid");
  return sum + work(2);
}

/* The handler runs futures of its own, also in the middle of events. */
static volatile unsigned fired;
static volatile unsigned long in_handler;
static void run_futures(int number) {
  (void)number;
  __atomic_fetch_add(&in_handler, small_future(7) == 28, __ATOMIC_RELAXED); /* on any thread */
  __atomic_fetch_add(&fired, 1, __ATOMIC_RELAXED);
}

/* Another thread may be in one that has begun. */
static bool all_came_back(void) {
  for (unsigned i = 0; in_handler != fired && i < 1000000; i++)
    sched_yield();
  return in_handler == fired;
}

static unsigned long handler_async(void) {
  handle(SIGALRM, run_futures, SA_RESTART);
  unsigned long sum = work(1);
  fire_every(100);
  while (fired < count)
    must(work(1) == sum, "work");
  fire_every(0);
  return sum + all_came_back();
}

static unsigned long handler_altstack(void) {
  static char stack[65536];
  stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  must(sigaltstack(&alternate, NULL) == 0, "sigaltstack");
  handle(SIGALRM, run_futures, SA_RESTART | SA_ONSTACK);
  unsigned long sum = work(1);
  fire_every(100);
  while (fired < count)
    must(work(1) == sum, "work");
  fire_every(0);
  return sum + all_came_back();
}

static sigjmp_buf back;
static void jump_back(int number) {
  (void)number;
  __atomic_fetch_add(&fired, 1, __ATOMIC_RELAXED);
  siglongjmp(back, 1);
}

/* A handler leaves whatever it interrupted, events too, for good. */
static unsigned long jump_out(int flags) {
  unsigned long sum = work(1);
  handle(SIGALRM, jump_back, flags);
  if (sigsetjmp(back, 1) == 0)
    fire_every(100);
  if (fired < count)
    for (;;)
      work(1);
  fire_every(0);
  struct timespec rest = {0, 2000000};
  if (sigsetjmp(back, 1) == 0)
    nanosleep(&rest, NULL); /* one may be on its way */
  signal(SIGALRM, SIG_IGN);
  must(work(1) == sum, "work");
  return sum;
}

static unsigned long handler_jumps(void) { return jump_out(0); }

static unsigned long handler_jumps_altstack(void) {
  static char stack[65536];
  stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  must(sigaltstack(&alternate, NULL) == 0, "sigaltstack");
  return jump_out(SA_ONSTACK);
}

/* ... into a future that goes on. */
APROF_ASYNC static __attribute__((noinline)) unsigned long jumped_into(void) {
  struct itimerval once = {{0, 0}, {0, 150 + (suseconds_t)(fired % 97)}};
  if (sigsetjmp(back, 1) == 0) {
    setitimer(ITIMER_REAL, &once, NULL);
    for (;;)
      work(1);
  }
  return small_future(1);
}

static unsigned long handler_jumps_into(void) {
  unsigned long sum = work(1), got = 0;
  handle(SIGALRM, jump_back, 0);
  while (fired < count)
    got += jumped_into();
  must(work(1) == sum, "work");
  return sum + got / fired;
}

/* A handler forks; the child returns into what was interrupted. */
static volatile pid_t child_of_handler = -1;
static void fork_in_handler(int number) {
  (void)number;
  if (child_of_handler >= 0)
    return;
  child_of_handler = fork();
  if (child_of_handler == 0)
    alarm(20);
}

static unsigned long handler_forks(void) {
  handle(SIGALRM, fork_in_handler, SA_RESTART);
  unsigned long sum = work(1);
  for (unsigned i = 0; i < count; i++) {
    child_of_handler = -1;
    struct itimerval once = {{0, 0}, {0, 100 + (suseconds_t)(i % 89)}};
    setitimer(ITIMER_REAL, &once, NULL);
    while (child_of_handler < 0)
      must(work(1) == sum, "work");
    if (child_of_handler == 0)
      _exit(work(1) == sum && small_future(7) == 28 ? 17 : 1);
    int status;
    must(waitpid(child_of_handler, &status, 0) > 0, "waitpid");
    must(WIFEXITED(status) && WEXITSTATUS(status) == 17, "the child of a handler");
  }
  return sum;
}

/* -- at each instruction: stepper.c sends the signals ------------------------------ */

static inline void mark(void) { __asm__ volatile("int3" ::: "memory"); }

APROF("create key=step:a0 root ready") static __attribute__((noinline)) void submit(char *job) {
  *job = 1;
}
APROF("run key=step:a0") static __attribute__((noinline)) void serve(char *job) { ++*job; }
APROF("wake key=step:a0") static __attribute__((noinline)) void again(char *job) { ++*job; }
APROF("end key=step:a0") static __attribute__((noinline)) void finish(char *job) { ++*job; }
/* Runs inside a run, of a future that nobody creates. */
APROF("run key=group:a0 pending=0") static __attribute__((noinline)) int serve_twice(char *job) {
  serve(job);
  serve(job);
  return *job > 3;
}

APROF_ASYNC static __attribute__((noinline)) unsigned long stepped_future(unsigned n) {
  static char job;
  unsigned long sum = small_future(n);
  submit(&job);
  serve_twice(&job);
  again(&job);
  serve_twice(&job);
  finish(&job);
  return sum + (unsigned long)job;
}

static unsigned long stepped(void) {
  unsigned long sum = 0;
  handle(SIGALRM, run_futures, 0);
  for (unsigned i = 0; i < count + 2; i++) {
    mark();
    sum += stepped_future(i);
    mark();
  }
  return sum;
}

/* ... and the handler never comes back to it. */
static unsigned long stepped_jumps(void) {
  volatile unsigned long sum = 0;
  handle(SIGALRM, jump_back, 0);
  for (volatile unsigned i = 0; i < count + 2; i++) {
    if (sigsetjmp(back, 1) == 0)
      mark();
    unsigned long one = stepped_future(i);
    mark();
    sum += one;
  }
  return sum;
}

static unsigned long snapshots(void) {
  unsigned long sum = work(1);
  for (unsigned i = 0; i < 20; i++) {
    aprof_snapshot();
    if (i % 5 == 0)
      aprof_reset();
    if (i % 7 == 0) {
      aprof_enable(0);
      must(work(1) == sum, "work");
      aprof_enable(1);
    }
    must(work(1) == sum, "work");
  }
  return sum;
}

const struct hazard signal_hazards[] = {
    {"storm", storm, false},
    {"own-usr1", own_usr1, false},
    {"own-usr1-late", own_usr1_late, false},
    {"blocked-usr1", blocked_usr1, false},
    {"sigchld", sigchld, true},
    {"sigchld-ignored", sigchld_ignored, false},
    {"handler-async", handler_async, false},
    {"handler-altstack", handler_altstack, false},
    {"handler-jumps", handler_jumps, true},
    {"handler-jumps-altstack", handler_jumps_altstack, true},
    {"handler-jumps-into", handler_jumps_into, true},
    {"handler-forks", handler_forks, true},
    {"snapshots", snapshots, false},
    {"stepped", stepped, false},
    {"stepped-jumps", stepped_jumps, false},
    {NULL, NULL, false},
};
/* SPDX-License-Identifier: MIT */
