/* SPDX-License-Identifier: MIT */
/*
 * Many futures, sites and threads at once, and how long an application thread is held up.
 *
 *     scale [futures=1000000] [threads=64]
 *
 * Steps are named by the lines of standard input; each prints a line when it is over:
 *
 *   futures    one thread brings `futures` futures to life, each by its key
 *   sites      it calls 5000 async functions, an await in each: 10 000 sites
 *   wrap       the counters of a thread that has ended are set near to where 32 and 53 bits
 *              overflow, as if 1e10 events had come before, and the next thread goes on
 *   threads S F  `threads` threads run futures, and call F of the functions, at random, for
 *              S seconds
 *
 * A line: step, iterations, CPU ns per iteration, the longest one in us by the CPU clock of
 * its thread, how many of them took over 100 us; the last two again by the wall clock. By
 * the CPU clock it does not matter who else wants the processor: what takes long is the
 * iteration itself, so what the profiler does in it; sleeping for a lock would show in the
 * wall clock alone, beside all that the machine does otherwise.
 *
 * At the end: what came about by the program's own count, for comparison with the totals.
 */
#define _GNU_SOURCE
#include <aprof.h>
#include <aprof/profile.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EVENT __attribute__((noinline, noclone))
enum { MOST_THREADS = 1024 };
#define LONG_NS 100000u

/* ---- 5000 functions, an await in each ---- */

APROF_AWAIT EVENT static void rest(void) {
  __asm__ volatile("");
}
#define F1(n)                                                                                      \
  APROF_ASYNC EVENT static void f##n(void) {                                                       \
    rest();                                                                                        \
  }
#define P1(n) f##n,
#define TEN(x, n) x(n##0) x(n##1) x(n##2) x(n##3) x(n##4) x(n##5) x(n##6) x(n##7) x(n##8) x(n##9)
#define HUNDRED(x, n)                                                                              \
  TEN(x, n##0)                                                                                     \
  TEN(x, n##1)                                                                                     \
  TEN(x, n##2) TEN(x, n##3) TEN(x, n##4) TEN(x, n##5) TEN(x, n##6) TEN(x, n##7) TEN(x, n##8)       \
      TEN(x, n##9)
#define THOUSAND(x, n)                                                                             \
  HUNDRED(x, n##0)                                                                                 \
  HUNDRED(x, n##1)                                                                                 \
  HUNDRED(x, n##2) HUNDRED(x, n##3) HUNDRED(x, n##4) HUNDRED(x, n##5) HUNDRED(x, n##6)             \
      HUNDRED(x, n##7) HUNDRED(x, n##8) HUNDRED(x, n##9)
#define ALL(x) THOUSAND(x, 1) THOUSAND(x, 2) THOUSAND(x, 3) THOUSAND(x, 4) THOUSAND(x, 5)
ALL(F1)
static void (*const functions[])(void) = {ALL(P1)};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- futures by key ---- */

APROF("run key=k:a0 multi") EVENT static void turn(char *object) {
  __asm__ volatile("" : : "r"(object));
}
static char *objects;
static size_t futures = 1000000;

static int threads = 64;
static atomic_uint_fast64_t runs, calls;

/* ---- how long things take ---- */

struct gaps {
  uint64_t iterations, cpu_max, cpu_long, wall_max, wall_long, cpu_before, wall_before, cpu_begin;
};

static uint64_t read_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void gaps_begin(struct gaps *g) {
  memset(g, 0, sizeof *g);
  g->wall_before = read_clock(CLOCK_MONOTONIC);
  g->cpu_begin = g->cpu_before = read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static void gaps_step(struct gaps *g) {
  uint64_t wall = read_clock(CLOCK_MONOTONIC), cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
  uint64_t took = cpu - g->cpu_before, passed = wall - g->wall_before;
  g->iterations++;
  g->cpu_long += took > LONG_NS;
  g->wall_long += passed > LONG_NS;
  if (took > g->cpu_max)
    g->cpu_max = took;
  if (passed > g->wall_max)
    g->wall_max = passed;
  g->cpu_before = cpu;
  g->wall_before = wall;
}

static void gaps_print(const char *step, const struct gaps *g, uint64_t cpu) {
  printf("%s\t%llu\t%.0f\t%.0f\t%llu\t%.0f\t%llu\n", step, (unsigned long long)g->iterations,
         (double)cpu / (double)g->iterations, (double)g->cpu_max / 1e3,
         (unsigned long long)g->cpu_long, (double)g->wall_max / 1e3,
         (unsigned long long)g->wall_long);
  fflush(stdout);
}

/* ---- the steps ---- */

static void step_futures(void) {
  struct gaps g;
  gaps_begin(&g);
  for (size_t i = 0; i < futures; i++) {
    turn(&objects[i]);
    gaps_step(&g);
  }
  runs += futures;
  gaps_print("futures", &g, g.cpu_before - g.cpu_begin);
}

static void step_sites(void) {
  struct gaps g;
  gaps_begin(&g);
  for (int i = 0; i < FUNCTIONS; i++) {
    functions[i]();
    gaps_step(&g);
  }
  calls += FUNCTIONS;
  gaps_print("sites", &g, g.cpu_before - g.cpu_begin);
}

struct worker {
  pthread_t thread;
  int number;
  unsigned functions;
  double seconds;
  struct gaps gaps;
};

static void *work(void *argument) {
  struct worker *w = argument;
  uint64_t random = 88172645463325252ull + (uint64_t)w->number * 0x9e3779b97f4a7c15ull;
  size_t share = futures / (size_t)threads, first = share * (size_t)w->number;
  uint64_t end = read_clock(CLOCK_MONOTONIC) + (uint64_t)(w->seconds * 1e9);
  gaps_begin(&w->gaps);
  do {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    turn(&objects[first + (size_t)(random >> 20) % share]);
    functions[random % w->functions]();
    gaps_step(&w->gaps);
  } while (w->gaps.wall_before < end);
  runs += w->gaps.iterations;
  calls += w->gaps.iterations;
  return NULL;
}

static void step_threads(double seconds, unsigned count) {
  static struct worker workers[MOST_THREADS];
  struct gaps all = {0};
  uint64_t cpu = 0;
  for (int i = 0; i < threads; i++) {
    workers[i] = (struct worker){.number = i, .functions = count, .seconds = seconds};
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
      abort();
  }
  for (int i = 0; i < threads; i++) {
    struct gaps *g = &workers[i].gaps;
    pthread_join(workers[i].thread, NULL);
    cpu += g->cpu_before - g->cpu_begin;
    all.iterations += g->iterations;
    all.cpu_long += g->cpu_long;
    all.wall_long += g->wall_long;
    all.cpu_max = g->cpu_max > all.cpu_max ? g->cpu_max : all.cpu_max;
    all.wall_max = g->wall_max > all.wall_max ? g->wall_max : all.wall_max;
  }
  gaps_print("threads", &all, cpu);
}

/* ---- as if much had happened before ---- */

static struct aprof_header *find_profile(void) {
  char line[1024];
  FILE *maps = fopen("/proc/self/maps", "r");
  unsigned long from;
  struct aprof_header *found = NULL;
  while (maps != NULL && found == NULL && fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, "aprof") != NULL && strstr(line, " 00000000 ") != NULL &&
        strstr(line, "rw-s") != NULL && sscanf(line, "%lx-", &from) == 1 &&
        memcmp((void *)from, APROF_PROFILE_MAGIC, 8) == 0)
      found = (struct aprof_header *)from;
  if (maps != NULL)
    fclose(maps);
  return found;
}

static void *one_of_each(void *argument) {
  (void)argument;
  for (int i = 0; i < 1000; i++)
    functions[0]();
  calls += 1000;
  return NULL;
}

static void in_a_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, one_of_each, NULL) != 0)
    abort();
  pthread_join(thread, NULL);
}

static uint64_t added; /* to the calls that totals must have */

static struct aprof_chunk *next_chunk(struct aprof_header *h, struct aprof_chunk *chunk) {
  char *next = chunk == NULL ? (char *)h + APROF_HEADER_SIZE
                             : (char *)chunk + (chunk->size != 0 ? chunk->size : APROF_PAGE);
  return next < (char *)h + h->used ? (struct aprof_chunk *)next : NULL;
}

/* The counters of what the thread did: no other counts that many, and before it had its block
   another one may have made a few calls. */
static struct aprof_counters *counters_of_it(struct aprof_header *h, uint32_t *owner) {
  for (struct aprof_chunk *chunk = NULL; (chunk = next_chunk(h, chunk)) != NULL;) {
    struct aprof_counters *c = (struct aprof_counters *)(chunk + 1);
    *owner = chunk->owner;
    for (uint32_t i = 0; chunk->type == APROF_CHUNK_COUNTERS && i < chunk->count; i++)
      if (c[i].function.done / 1000 == 1 && c[i].function.exec > 0)
        return &c[i];
  }
  fprintf(stderr, "scale: what a thread did is not in the profile\n");
  exit(1);
}

/* The block that the thread left has `much` more of everything; serials and the sequence
   wrap 500 futures later. */
static void wind_on(struct aprof_header *h, uint64_t much) {
  uint32_t owner;
  struct aprof_counters *c = counters_of_it(h, &owner);
  c->function.done += much;
  c->function.exec += much * 1000;
  added += much;
  for (struct aprof_chunk *chunk = NULL; (chunk = next_chunk(h, chunk)) != NULL;) {
    struct aprof_block *block = (struct aprof_block *)(chunk + 1);
    if (chunk->type != APROF_CHUNK_BLOCK || chunk->first != owner)
      continue;
    block->serial = UINT32_MAX - 500;
    block->sequence += 2 * much;
    block->at_step[0].events += much; /* of a thread that is over */
    block->step_event += much;
  }
}

static void step_wrap(void) {
  struct aprof_header *h = find_profile();
  in_a_thread();
  if (h != NULL) /* else it is off */
    wind_on(h, 10000000000u);
  in_a_thread();
  printf("wrap\t%llu\n", (unsigned long long)added);
  fflush(stdout);
}

int main(int argc, char **argv) {
  char line[64];
  double seconds;
  unsigned count;
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], "futures=", 8) == 0)
      futures = strtoul(argv[i] + 8, NULL, 10);
    else if (strncmp(argv[i], "threads=", 8) == 0)
      threads = atoi(argv[i] + 8);
    else
      futures = 0;
  if (threads < 1 || threads > MOST_THREADS || futures < (size_t)threads) {
    fprintf(stderr, "usage: scale [futures=N] [threads=N], steps on standard input\n");
    return 2;
  }
  objects = malloc(futures);
  if (objects == NULL)
    return 1;
  memset(objects, 0, futures);
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (strcmp(line, "futures\n") == 0)
      step_futures();
    else if (strcmp(line, "sites\n") == 0)
      step_sites();
    else if (strcmp(line, "wrap\n") == 0)
      step_wrap();
    else if (sscanf(line, "threads %lf %u", &seconds, &count) == 2 && count >= 1 &&
             count <= FUNCTIONS)
      step_threads(seconds, count);
  }
  printf("end\t%llu\t%llu\n", (unsigned long long)runs, (unsigned long long)(calls + added));
  return 0;
}
