/*
 * The time of each event, in multiples of two reads of the time stamp counter,
 * which are measured in the same run. Compiled with the plugin, and once without.
 *
 *     events [off] [threads=N] [live=N] [order=hot|random]
 *
 * Each number is the median of many short batches, less nothing: the loop is part
 * of it. Prints one line per event: name, ns, multiple, and the spread (the middle
 * half of the batches, in percent of the median).
 */
#include <aprof.h>

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define EVENT __attribute__((noinline, noclone))
enum { BATCH = 64, BATCHES = 4001 };

/* ---- the events, as in instructions.c ---- */

APROF_AWAIT EVENT static void rest(void) {
  __asm__ volatile("");
}
APROF_ASYNC EVENT static long leaf(long value) {
  __asm__ volatile("" : "+r"(value));
  return value;
}
APROF_ASYNC EVENT static void coroutine(void) {
  rest();
}
APROF("run key=k:a0 multi") EVENT static void turn(char *object) {
  __asm__ volatile("" : : "r"(object));
}
APROF("create key=r:a0 fn=a1")
EVENT static void request(char *object, int (*then)(char *, int)) {
  __asm__ volatile("" : : "r"(object), "r"(then));
}
APROF("run key=r:a0 pending=0") EVENT static int progress(char *object, int value) {
  __asm__ volatile("" : "+r"(value) : "r"(object));
  return value;
}

/* ---- what one thread measures ---- */

struct bench {
  int processor, random;
  size_t live;
  char *objects; /* of `live` futures that stay */
  uint32_t *order;
  size_t at;
  uint64_t *ticks;
  FILE *out;
  double two_reads;
};

static pthread_barrier_t together;
static double ns_per_tick;

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void report(struct bench *b, const char *name, double per) {
  qsort(b->ticks, BATCHES, sizeof *b->ticks, ascending);
  double median = (double)b->ticks[BATCHES / 2] / per;
  double spread = (double)(b->ticks[BATCHES * 3 / 4] - b->ticks[BATCHES / 4]) / per;
  if (b->two_reads == 0)
    b->two_reads = median;
  if (b->out != NULL)
    fprintf(b->out, "%-12s %8.2f ns %7.2f x  +-%3.0f %%\n", name, median * ns_per_tick,
            median / b->two_reads, 50 * spread / median);
}

#define MEASURE(name, statement)                                                                   \
  do {                                                                                             \
    pthread_barrier_wait(&together);                                                               \
    for (int batch = 0; batch < BATCHES; batch++) {                                                \
      uint64_t begin = __rdtsc();                                                                  \
      for (int i = 0; i < BATCH; i++) {                                                            \
        statement;                                                                                 \
      }                                                                                            \
      b->ticks[batch] = __rdtsc() - begin;                                                         \
    }                                                                                              \
    report(b, name, BATCH);                                                                        \
  } while (0)

static char *next_object(struct bench *b) {
  size_t index = b->at;
  b->at = index + 1 < b->live ? index + 1 : 0;
  return &b->objects[64 * (size_t)(b->random ? b->order[index] : index)];
}

APROF_ASYNC EVENT static void inside(struct bench *b) {
  MEASURE("pair", rest());
  MEASURE("call", leaf(i));
}

static void *measure(void *arg) {
  struct bench *b = arg;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(b->processor, &set);
  sched_setaffinity(0, sizeof set, &set);
  b->ticks = malloc(BATCHES * sizeof *b->ticks);
  b->objects = malloc((b->live + 1) * 64);
  b->order = malloc(b->live * sizeof *b->order);
  if (b->ticks == NULL || b->objects == NULL || b->order == NULL)
    abort();
  uint64_t random = 88172645463325252ull;
  for (size_t i = 0; i < b->live; i++) {
    size_t other =
        (random ^= random << 13, random ^= random >> 7, random ^= random << 17) % (i + 1);
    b->order[i] = b->order[other];
    b->order[other] = (uint32_t)i;
    turn(&b->objects[64 * i]); /* comes to life */
  }
  char *spare = &b->objects[64 * b->live];
  volatile uint64_t sink;
  MEASURE("2 x rdtsc", sink = __rdtsc(); sink = __rdtsc());
  (void)sink;
  struct timespec now;
  MEASURE("2 x gettime", clock_gettime(CLOCK_MONOTONIC, &now);
          clock_gettime(CLOCK_MONOTONIC, &now));
  inside(b);
  MEASURE("key", turn(next_object(b)));
  MEASURE("stack-life", coroutine());
  MEASURE("key-life", request(spare, progress); progress(spare, 0); progress(spare, 1));
  return NULL;
}

static void calibrate(void) {
  struct timespec a, z;
  clock_gettime(CLOCK_MONOTONIC, &a);
  uint64_t begin = __rdtsc();
  do
    clock_gettime(CLOCK_MONOTONIC, &z);
  while ((z.tv_sec - a.tv_sec) * 1000000000L + z.tv_nsec - a.tv_nsec < 20000000);
  ns_per_tick = (double)((z.tv_sec - a.tv_sec) * 1000000000L + z.tv_nsec - a.tv_nsec) /
                (double)(__rdtsc() - begin);
}

int main(int argc, char **argv) {
  int threads = 1, off = 0, random = 0;
  size_t live = 16;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "off") == 0)
      off = 1;
    else if (strncmp(argv[i], "threads=", 8) == 0)
      threads = atoi(argv[i] + 8);
    else if (strncmp(argv[i], "live=", 5) == 0)
      live = strtoul(argv[i] + 5, NULL, 10);
    else if (strncmp(argv[i], "order=", 6) == 0)
      random = strcmp(argv[i] + 6, "random") == 0;
    else {
      fprintf(stderr, "usage: events [off] [threads=N] [live=N] [order=hot|random]\n");
      return 2;
    }
  }
  if (threads < 1 || threads > 64 || live < 1)
    return 2;
  calibrate();
  leaf(0); /* a profile begins with the first future */
  if (off)
    aprof_enable(0);
  pthread_barrier_init(&together, NULL, (unsigned)threads);
  struct bench benches[64] = {{0}};
  pthread_t started[64];
  for (int i = 0; i < threads; i++) {
    benches[i] = (struct bench){.processor = i, .random = random, .live = live};
    benches[i].out = i == 0 ? stdout : NULL;
    if (pthread_create(&started[i], NULL, measure, &benches[i]) != 0)
      return 1;
  }
  for (int i = 0; i < threads; i++)
    pthread_join(started[i], NULL);
  return 0;
}
