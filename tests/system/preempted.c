/*
 * A server of one loop on a processor that three other processes want all the time: each
 * request computes for COMPUTE_NS of processor time. `preempted burn` has some that compute for
 * LONG_NS, `preempted sleep` some that sleep for that long in the middle. Prints how many of those
 * that compute took longer than what is a hold, by their own clock.
 */
#define _GNU_SOURCE
#include <aprof.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define REQUESTS 60
#define COMPUTE_NS 3000000L
#define LONG_NS 40000000L
#define HOLD_NS 10000000L

static int late;

static long now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void compute(long ns) {
  for (long begin = now(CLOCK_THREAD_CPUTIME_ID); now(CLOCK_THREAD_CPUTIME_ID) - begin < ns;)
    ;
}

APROF_ASYNC static void on_read(void) {
  long begin = now(CLOCK_MONOTONIC);
  compute(COMPUTE_NS);
  late += now(CLOCK_MONOTONIC) - begin > HOLD_NS;
}
APROF_ASYNC static void on_burn(void) {
  compute(LONG_NS);
}
APROF_ASYNC static void on_sleep(void) {
  struct timespec t = {.tv_nsec = LONG_NS};
  nanosleep(&t, NULL);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  for (int i = 0; i < 3; i++)
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;)
        ;
    }
  for (int i = 0; i < REQUESTS; i++) {
    poll(NULL, 0, i % 8 == 0);
    if (i % 30 == 7 && strcmp(mode, "burn") == 0)
      on_burn();
    else if (i % 30 == 7 && strcmp(mode, "sleep") == 0)
      on_sleep();
    else
      on_read();
  }
  printf("%d\n", late);
  fflush(stdout);
  signal(SIGTERM, SIG_IGN);
  kill(0, SIGTERM);
  return 0;
}
/* SPDX-License-Identifier: MIT */
