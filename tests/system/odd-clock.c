/*
 * A library to preload that has clocks of its own in place of the C library's, as those do
 * that let a program live in another year, or time stand still. ODD_CLOCK says which:
 *
 *   frozen   always the same moment
 *   back     each reading a second before the one before
 *   late     the thread loses its processor behind the first reading
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int ask_kernel(clockid_t clock, struct timespec *now) {
  return (int)syscall(SYS_clock_gettime, clock, now);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int readings;
  int reading = clock == CLOCK_MONOTONIC ? __atomic_fetch_add(&readings, 1, __ATOMIC_RELAXED) : 1;
  const char *kind = getenv("ODD_CLOCK");
  if (kind == NULL || strcmp(kind, "late") == 0) {
    int result = ask_kernel(clock, now);
    if (kind != NULL && reading == 0)
      usleep(300);
    return result;
  }
  now->tv_sec = strcmp(kind, "back") == 0 ? 1577836800 - reading : 1577836800;
  now->tv_nsec = 0;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec time = {0, 0};
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &time);
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1000;
  return 0;
}
/* SPDX-License-Identifier: MIT */
