/* Hazards that make processes. */
#define _GNU_SOURCE
#include "hazard.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int status_of(pid_t child) {
  int status;
  must(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

/* Children leave in every way there is. */
static void end_child(unsigned way) {
  if (way % 3 == 0 || !children_may_exit)
    _exit(17);
  if (way % 3 == 1)
    exit(17);
  quick_exit(17);
}

static unsigned long fork_loop(void) {
  unsigned long sum = work(1);
  for (unsigned i = 0; i < count; i++) {
    pid_t child = fork();
    if (child == 0) {
      must(i % 2 || work(1) == sum, "work");
      end_child(i);
    }
    must(status_of(child) == 17, "child");
    if (i % 8 == 0)
      must(work(1) == sum, "work");
  }
  return sum;
}

/* Each the child of the one before. */
static unsigned long fork_chain(void) {
  unsigned long sum = work(1);
  for (unsigned i = 0; i < count; i++) {
    pid_t child = fork();
    if (child != 0) {
      int status = status_of(child);
      if (i == 0)
        return sum + (unsigned long)status;
      _exit(status);
    }
    must(work(1) == sum, "work");
  }
  _exit(33);
}

/* From the middle of a future; the child goes on with all that its parent had. */
static unsigned calls, is_child;
static void fork_here(void) {
  static unsigned state = 1;
  if (is_child || ++calls % 50 != 1 || next_random(&state, 4) != 0)
    return;
  pid_t child = fork();
  must(child >= 0, "fork");
  if (child == 0)
    is_child = 1;
  else
    must(status_of(child) == 17, "child");
}

static unsigned long fork_inside(void) {
  unsigned long sum = work(1);
  hook = fork_here;
  for (unsigned i = 0; i < count / 4 + 1; i++) {
    unsigned long got = work(1);
    if (is_child)
      end_child(got == sum ? i : 0 * printf("fork-inside: %lu is not %lu\n", got, sum));
    must(got == sum, "work");
  }
  return sum;
}

static volatile bool stop;
static unsigned long expected;
static void *churn(void *unused) {
  (void)unused;
  while (!stop)
    must(work(1) == expected, "work");
  return NULL;
}

static unsigned long fork_threads(void) {
  pthread_t threads[3];
  expected = work(1);
  for (int i = 0; i < 3; i++)
    must(pthread_create(&threads[i], NULL, churn, NULL) == 0, "pthread_create");
  for (unsigned i = 0; i < count; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(small_future(7) == 28 ? 17 : 1);
    }
    must(status_of(child) == 17, "child");
  }
  stop = true;
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  return expected;
}

/* Without the C library's knowledge. */
static unsigned long raw_fork(void) {
  unsigned long sum = work(1);
  for (unsigned i = 0; i < count; i++) {
    pid_t child = i & 1 ? _Fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
      bool same = work(1) == sum;
      end_child(same ? 2 * (i & 2) : 0);
    }
    must(status_of(child) == 17, "child");
  }
  return sum;
}

static unsigned long vfork_exec(void) {
  unsigned long sum = work(1);
  for (unsigned i = 0; i < count; i++) {
    pid_t child = vfork();
    if (child == 0) {
      small_future(1);
      execl("/bin/true", "true", (char *)NULL);
      _exit(1);
    }
    must(status_of(child) == 0, "child");
    must(system("exit 3") == 3 << 8, "system");
    must(work(1) == sum, "work");
  }
  return sum;
}

/* What daemons do: two forks, another directory, every descriptor closed. */
static unsigned long daemonize(void) {
  unsigned long sum = work(1), got = 0;
  int ends[2];
  must(pipe(ends) == 0, "pipe");
  pid_t child = fork();
  if (child == 0) {
    if (daemon(0, 0) != 0)
      _exit(1);
    for (int fd = 0; fd < 1024; fd++)
      if (fd != ends[1])
        close(fd);
    for (int i = 0; i < 20; i++)
      got = work(2);
    if (write(ends[1], &got, sizeof got) != sizeof got)
      _exit(1);
    exit(0);
  }
  close(ends[1]);
  must(status_of(child) == 0 && read(ends[0], &got, sizeof got) == sizeof got, "daemon");
  return sum + got;
}

/* The same program again, `count` times, in the same process. */
static unsigned long exec_itself(void) {
  unsigned long sum = work(1);
  if (count > 0) {
    char left[16];
    snprintf(left, sizeof left, "%u", count - 1);
    execl("/proc/self/exe", "exec-itself", "exec-itself", left, (char *)NULL);
    must(false, "execl");
  }
  return sum;
}

const struct hazard fork_hazards[] = {
    {"fork-loop", fork_loop, false},       {"fork-chain", fork_chain, false},
    {"fork-inside", fork_inside, true},    {"fork-threads", fork_threads, false},
    {"raw-fork", raw_fork, true},          {"vfork-exec", vfork_exec, false},
    {"daemon", daemonize, false},          {"exec-itself", exec_itself, false},
    {NULL, NULL, false},
};
/* SPDX-License-Identifier: MIT */
