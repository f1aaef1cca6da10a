/*
 * A signal at each instruction of the runtime in turn.
 *
 *     stepper LIBRARY PROGRAM HAZARD ROUNDS
 *
 * PROGRAM stops itself (int3) at the begin and at the end of each round, ROUNDS times and
 * twice more. The first round is for the slow paths, the second is measured: how many
 * instructions of LIBRARY there are in a round. In each round after that SIGALRM comes at
 * the next of them, spread evenly where there are more than rounds; then the program goes on
 * at its own pace. Exits as the program does; 97 where it could not be followed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stepped.h"

static const char *library;

/* Ends as it did, if it did. */
static void follow(int status) {
  if (WIFEXITED(status))
    exit(WEXITSTATUS(status));
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    exit(97);
  }
}

/* Resumes the program until it stops. What it stopped with. */
static int resume(enum __ptrace_request how, int number) {
  int status;
  if (ptrace(how, victim, NULL, (void *)(long)number) != 0 || waitpid(victim, &status, 0) < 0)
    fail("ptrace");
  follow(status);
  return WSTOPSIG(status);
}

/* ... until its next int3; other signals reach it. */
static void run_to_mark(int number) {
  while ((number = resume(PTRACE_CONT, number)) != SIGTRAP)
    ;
}

static unsigned long place(void) {
  struct user_regs_struct regs;
  if (ptrace(PTRACE_GETREGS, victim, NULL, &regs) != 0)
    fail("PTRACE_GETREGS");
  return regs.rip;
}

static bool at_mark(unsigned long rip) {
  errno = 0;
  long word = ptrace(PTRACE_PEEKTEXT, victim, (void *)rip, NULL);
  return errno == 0 && (word & 0xff) == 0xcc;
}

/* Steps through the round until `wanted` instructions of the library were seen; how many
   were. Stops before the mark at the end. */
static unsigned long step(unsigned long wanted) {
  unsigned long seen = 0, rip;
  int number = 0;
  while (!at_mark(rip = place())) {
    if (rip >= low && rip < high && ++seen > wanted)
      break;
    number = resume(PTRACE_SINGLESTEP, number);
    if (number == SIGTRAP)
      number = 0;
  }
  return seen;
}

/* From the end of a round to that of the next; the signal comes when `seen` instructions of
   the library were executed, without the library at the begin. */
static void round_with_signal(unsigned long seen) {
  run_to_mark(0);
  if (high != 0)
    step(seen);
  int stopped = resume(PTRACE_SINGLESTEP, SIGALRM);
  run_to_mark(stopped == SIGTRAP ? 0 : stopped); /* the handler has begun, or it is blocked */
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: stepper LIBRARY PROGRAM HAZARD ROUNDS\n");
    return 97;
  }
  unsigned long rounds = strtoul(argv[4], NULL, 10), length = 0;
  library = argv[1];
  victim = fork();
  if (victim == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    execv(argv[2], argv + 2);
    _exit(97);
  }
  int status;
  if (victim < 0 || waitpid(victim, &status, 0) < 0)
    fail("fork");
  follow(status);
  run_to_mark(0);
  find_library(library);
  run_to_mark(0);
  run_to_mark(0); /* the begin of the second round */
  if (high != 0)
    length = step(-1ul);
  run_to_mark(0);
  for (unsigned long i = 0; i < rounds; i++)
    round_with_signal(length * i / rounds);
  for (;;)
    run_to_mark(0);
}
/* SPDX-License-Identifier: MIT */
