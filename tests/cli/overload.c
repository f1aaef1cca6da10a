/* SPDX-License-Identifier: MIT */
/*
 * What the test of overload records: a loop on the virtual clock, whose requests take 1 ms each, or
 * 600 ms while it is told to be late: signals 10 (USR1) and 12 (USR2) switch that on and off. Ends
 * when standard input does.
 */
#include <aprof.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define CALL __attribute__((noinline))
#define MS 1000000u

static volatile sig_atomic_t late;

static void on_signal(int number) {
  late = number == SIGUSR1;
}

APROF("idle") static CALL int wait_for_input(void) {
  struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
  return poll(&in, 1, 1);
}

APROF("async root") static CALL void serve(void) {
  aprof_clock_advance(late ? 600 * MS : MS);
}

int main(void) {
  signal(SIGUSR1, on_signal);
  signal(SIGUSR2, on_signal);
  printf("%d\n", (int)getpid());
  fflush(stdout);
  while (wait_for_input() <= 0) {
    aprof_clock_advance(MS);
    serve();
  }
  return 0;
}
