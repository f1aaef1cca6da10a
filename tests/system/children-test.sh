#!/bin/bash
# SPDX-License-Identifier: MIT
# Children that are hard to tell from their parent: in its memory (vfork), or with its number.
. "$(dirname "$0")/../lib.sh"

cat >"$work/program.c" <<'C'
/*  first: the first event of all happens in a child made by vfork
    threads: that of each thread does, while another thread has events
    forked: that of a child made by fork does, in a child of its own made by vfork
    number: a child in a new PID namespace has the number of its parent, which is 1
    signal: the signal for totals is sent to a child that has had no future, and to one that has */
#define _GNU_SOURCE
#include <aprof.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;

APROF_ASYNC static __attribute__((noinline)) int work(int n) { return n + 1; }
APROF_ASYNC static __attribute__((noinline)) int beside(int n) { return n + 2; }

static int in_vforked(int n) {
  int status = -1;
  pid_t child = vfork();
  if (child == 0) {
    work(n);
    _exit(0);
  }
  waitpid(child, &status, 0);
  return status;
}

static void *churn(void *unused) {
  while (!stop)
    beside(1);
  return unused;
}

static void *vforks(void *unused) {
  if (in_vforked(1) != 0)
    puts("a child died");
  work(2);
  return unused;
}

static int threads(void) {
  pthread_t other, one;
  work(0);
  pthread_create(&other, NULL, churn, NULL);
  for (int i = 0; i < 20; i++) {
    pthread_create(&one, NULL, vforks, NULL);
    pthread_join(one, NULL);
  }
  stop = 1;
  pthread_join(other, NULL);
  return 0;
}

static int forked(int before) {
  int status = -1;
  if (before)
    work(0);
  pid_t child = fork();
  if (child != 0)
    return waitpid(child, &status, 0) == child ? status : -1;
  status = in_vforked(1);
  for (int i = 0; i < 1000; i++)
    work(i);
  exit(status);
}

static void *works(void *unused) {
  work(1);
  return unused;
}

static int number(int threads) {
  int status = -1;
  pid_t parent, child;
  if (unshare(CLONE_NEWPID) != 0)
    return 77;
  if ((parent = fork()) != 0)
    return waitpid(parent, &status, 0) == parent && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  pthread_t thread[8];
  work(0);
  for (int i = 0; i < threads; i++)
    pthread_create(&thread[i], NULL, works, NULL);
  for (int i = 0; i < threads; i++)
    pthread_join(thread[i], NULL);
  if (unshare(CLONE_NEWPID) != 0)
    return 77;
  if ((child = fork()) == 0) {
    int sum = 0;
    for (int i = 0; i < 1000; i++)
      sum += work(i);
    _exit(sum != 500500 || getpid() != 1);
  }
  waitpid(child, &status, 0);
  return status != 0;
}

/* How a child ends that gets the signal: by which, or after how many hundredths of a second. */
static int signalled(int futures) {
  int status = -1, ready[2];
  char byte = 0;
  if (pipe(ready) != 0)
    return -1;
  pid_t child = fork();
  if (child == 0) {
    if (futures)
      work(1);
    if (write(ready[1], &byte, 1) != 1)
      _exit(1);
    for (int i = 0; i < 10; i++)
      usleep(10000);
    _exit(20);
  }
  if (read(ready[0], &byte, 1) != 1 || kill(child, SIGUSR1) != 0)
    return -1;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv) {
  if (strcmp(argv[1], "signal") == 0)
    return printf("%d\n", (work(0), signalled(argc > 2))) < 0;
  if (strcmp(argv[1], "threads") == 0)
    return threads();
  if (strcmp(argv[1], "forked") == 0)
    return forked(argc > 2);
  if (strcmp(argv[1], "number") == 0)
    return number(argc > 2 ? atoi(argv[2]) : 0);
  int status = in_vforked(1);
  for (int i = 0; i < 10; i++)
    work(i);
  return status;
}
C
cc=$(gcc_of "$(gcc -dumpversion | cut -d. -f1)")
check "the program" "$cc" -O2 -fplugin="$plugin" -I"$src/rt/include" "$work/program.c" -o "$work/program" -pthread
export APROF_RUNTIME=$build/rt/.libs/libaprof.so.0 APROF_OPTIONS=dir:$work/out
mkdir "$work/out"

# profiled MODE: its exit status, in $status; what is said in "why"
profiled() {
  rm -f "$work/out"/*
  timeout 60 "$work/program" "$@" >"$work/said" 2>"$work/why"
  status=$?
}
done_of() { value "$work/out"/*.json '*(x.done for x in where(t.functions, name="work"))'; }

profiled first
equal "exit status, first" 0 "$status"
equal "nothing said, first" "" "$(cat "$work/said" "$work/why")"
equal "the parent's ten" 10 "$(done_of)"
profiled threads
equal "exit status, threads" 0 "$status"
equal "nothing said, threads" "" "$(cat "$work/said" "$work/why")"
equal "those of the parent's threads" 21 "$(done_of)"
check "and that some were not recorded" test "$(value "$work/out"/*.json t.health.lost_events)" -eq 20
for before in "" before; do
  profiled forked $before
  equal "exit status, forked $before" 0 "$status"
  equal "nothing said, forked $before" "" "$(cat "$work/said" "$work/why")"
  equal "the forked child's thousand $before" 1000 "$(done_of | sort -n | tail -n 1)"
done
for threads in 0 1 2 3 5 8; do
  profiled number "$threads"
  if [ "$status" -eq 77 ]; then
    skip "a child with its parent's number" "no new PID namespace here"
    break
  fi
  equal "exit status, number, after $threads threads" 0 "$status"
done

# Who sends it cannot know whether the child has had a future yet.
profiled signal
equal "a child without futures has the signal" "0 20" "$status $(cat "$work/said")"
both() { [ "$(find "$work/out" -name '*.json' | wc -l)" -ge 2 ]; }
until_true both
equal "... whose totals are of none" 1 "$(value "$work/out"/*.1.json 'len(t.functions)' | grep -cx 0)"
profiled signal futures
equal "one with futures has it, too" "0 20" "$status $(cat "$work/said")"
finish
