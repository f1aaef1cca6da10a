/* SPDX-License-Identifier: MIT */
/*
 * hurry PROFILE TIMES: the time of a program whose clock is virtual goes so many times as fast as
 * ours, until this is ended: a day of a program, and of whoever reads its profile, takes minutes.
 */
#include <aprof/profile.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

enum { STEP_NS = 100000 };

int main(int argc, char **argv) {
  uint64_t times = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
  prctl(PR_SET_TIMERSLACK, 1);
  int fd = times ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
  struct aprof_header *header =
      fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *header, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (header == MAP_FAILED || header->clock_source != APROF_CLOCK_VIRTUAL) {
    fputs("hurry PROFILE TIMES, of a program with clock:virtual\n", stderr);
    return 2;
  }
  for (uint64_t last = now_ns(), now;; last = now) {
    nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
    now = now_ns();
    __atomic_fetch_add(&header->virtual_now, (now - last) * times, __ATOMIC_RELAXED);
  }
}
