/* One future that waits for 200 ms, by the kernel's clock and nobody else's. With an argument
   it ends without totals: the profile stays. */
#define _GNU_SOURCE
#include <aprof.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

APROF_AWAIT static __attribute__((noinline)) void pause_ms(long ms) {
  struct timespec rest = {0, ms * 1000000};
  syscall(SYS_nanosleep, &rest, NULL);
}

APROF_ASYNC static __attribute__((noinline)) int nap(long ms) {
  pause_ms(ms);
  return 3;
}

int main(int argc, char **argv) {
  (void)argv;
  struct timespec from, to;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &from);
  int result = nap(200);
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &to);
  printf("%lld\n", (to.tv_sec - from.tv_sec) * 1000000000LL + to.tv_nsec - from.tv_nsec);
  fflush(stdout);
  if (argc > 1)
    _exit(result);
  return result;
}
/* SPDX-License-Identifier: MIT */
