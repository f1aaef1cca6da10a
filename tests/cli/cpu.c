/* SPDX-License-Identifier: MIT */
/*
 * What the tests of samples and switches record: async functions that do a known thing to their
 * processor.
 *
 *     cpu burn N      N times 10 ms of processor time in burn(), beneath handle()
 *     cpu generated N the same in code that is made while it runs, named in /tmp/perf-PID.map
 *     cpu sleep N     N times 5 ms asleep within a slice, beneath handle()
 *     cpu closed N    as burn, and nobody may look into it
 *     cpu hog N       N times 10 ms of burn(), while another thread wants the same processor
 */
#include <aprof.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000L
enum { STEPS = 20000 };

static enum { BURN, GENERATED, SLEEP, CLOSED, HOG } mode;
static void (*generated)(long steps);

static long cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000 * MS + now.tv_nsec;
}

static void __attribute__((noinline)) burn(void) {
  for (long end = cpu_ns() + 10 * MS; cpu_ns() < end;)
    for (volatile long i = 0; i < STEPS; i++)
      ;
}

static void __attribute__((noinline)) burn_generated(void) {
  for (long end = cpu_ns() + 10 * MS; cpu_ns() < end;)
    generated(100 * STEPS);
  __asm__ volatile("");
}

/* Keeps its caller, which a jump in place of a call would not. */
static void __attribute__((noinline)) middle(void) {
  if (mode == GENERATED)
    burn_generated();
  else
    burn();
  __asm__ volatile("");
}

APROF_AWAIT static void nap(void) {
  nanosleep(&(struct timespec){.tv_nsec = MS / 10}, NULL);
}

APROF_ASYNC static void handle(void) {
  if (mode == SLEEP)
    nanosleep(&(struct timespec){.tv_nsec = 5 * MS}, NULL);
  else
    middle();
  nap();
}

APROF_ASYNC static void serve(long times) {
  for (long i = 0; i < times; i++)
    APROF_REQUEST("turn") {
      handle();
    }
}

/* A loop that counts its argument down: dec %rdi; jnz; ret. */
static int generate(void) {
  static const unsigned char code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
  char path[64];
  void *at =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  FILE *map = fopen(path, "w");
  if (at == MAP_FAILED || !map)
    return -1;
  memcpy(at, code, sizeof code);
  memcpy(&generated, &at, sizeof at);
  fprintf(map, "%lx %zx LazyCompile:count_down\n", (unsigned long)at, sizeof code);
  return fclose(map);
}

static void *hog(void *arg) {
  for (volatile long i = 0;; i++)
    ;
  return arg;
}

static int share_processor(void) {
  pthread_t other;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(sched_getcpu(), &set);
  return sched_setaffinity(0, sizeof set, &set) || pthread_create(&other, NULL, hog, NULL);
}

int main(int argc, char **argv) {
  static const char *const modes[] = {"burn", "generated", "sleep", "closed", "hog"};
  if (argc != 3)
    return EXIT_FAILURE;
  while (strcmp(argv[1], modes[mode]) != 0)
    if (++mode > HOG)
      return EXIT_FAILURE;
  if ((mode == GENERATED && generate()) || (mode == CLOSED && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)) ||
      (mode == HOG && share_processor()))
    return EXIT_FAILURE;
  printf("%d\n", (int)getpid());
  fflush(stdout);
  serve(strtol(argv[2], NULL, 10));
  return 0;
}
