/* SPDX-License-Identifier: MIT */
/*
 * The time of each event, in multiples of two reads of the time stamp counter,
 * which are measured in the same run. Compiled with the plugin, and once without.
 *
 *     events [off] [threads=N] [live=N] [order=hot|random] [batches=N] [key]
 *
 * Prints the lines of measure.h; `key` leaves out what does not depend on how many
 * futures are alive.
 */
#include "annotated.h"
#include "measure.h"

#define LAP 32768 /* runs by key, of two events of the trace each: 1 MB */

/* ---- what one thread measures ---- */

struct options {
  int threads, off, random, key_only, batches;
  size_t live;
};

/* On lines of its own: a thread that counts must not take its neighbour's. */
struct bench {
  _Alignas(128) const struct options *options;
  int processor;
  char *objects; /* of the futures that stay; and a spare one */
  uint32_t *order;
  size_t at;
};

static pthread_barrier_t together;

static char *next_object(struct bench *b) {
  size_t index = b->at;
  b->at = index + 1 < b->options->live ? index + 1 : 0;
  return &b->objects[64 * (size_t)(b->options->random ? b->order[index] : index)];
}

APROF_ASYNC EVENT static void inside(struct meter *m) {
  MEASURE(m, "pair", rest());
  MEASURE(m, "call", leaf(i));
  MEASURE(m, "span", plain_span());
}

/* Futures come to life, and an order to run them in: a shuffle that is always the same. */
static void populate(struct bench *b, size_t live) {
  b->objects = malloc((live + 1) * 64);
  b->order = malloc(live * sizeof *b->order);
  if (b->objects == NULL || b->order == NULL)
    abort();
  uint64_t random = 88172645463325252ull;
  for (size_t i = 0; i < live; i++) {
    size_t other =
        (random ^= random << 13, random ^= random >> 7, random ^= random << 17) % (i + 1);
    b->order[i] = b->order[other];
    b->order[other] = (uint32_t)i;
    turn(&b->objects[64 * i]);
  }
}

static void *measure(void *arg) {
  struct bench *b = arg;
  const struct options *o = b->options;
  populate(b, o->live);
  for (int i = 0; i < LAP; i++) /* of a ring, whose pages are new in its first */
    turn(next_object(b));
  char *spare = &b->objects[64 * o->live];
  struct meter meter =
      measure_start(b->processor, o->batches, &together, b->processor == 0 ? stdout : NULL);
  MEASURE(&meter, "key", turn(next_object(b)));
  if (o->key_only)
    return NULL;
  inside(&meter);
  MEASURE(&meter, "stack-life", coroutine());
  MEASURE(&meter, "key-life", request(spare, progress); progress(spare, 0); progress(spare, 1));
  MEASURE(&meter, "woken-life", watch(spare, arrived); ring(spare); arrived(spare));
  MEASURE(&meter, "stopped-life", watch(spare, arrived); ring(spare); stop(spare));
  MEASURE(&meter, "request", whole(spare));
  return NULL;
}

static int parse_options(struct options *o, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "off") == 0)
      o->off = 1;
    else if (strcmp(argv[i], "key") == 0)
      o->key_only = 1;
    else if (strncmp(argv[i], "threads=", 8) == 0)
      o->threads = atoi(argv[i] + 8);
    else if (strncmp(argv[i], "live=", 5) == 0)
      o->live = strtoul(argv[i] + 5, NULL, 10);
    else if (strncmp(argv[i], "batches=", 8) == 0)
      o->batches = atoi(argv[i] + 8);
    else if (strcmp(argv[i], "order=hot") == 0 || strcmp(argv[i], "order=random") == 0)
      o->random = argv[i][6] == 'r';
    else
      return 0;
  }
  return o->threads >= 1 && o->threads <= 64 && o->live >= 1 && o->batches >= 4;
}

int main(int argc, char **argv) {
  struct options options = {.threads = 1, .live = 16, .batches = 4001};
  if (!parse_options(&options, argc, argv)) {
    fprintf(stderr, "usage: events [off] [threads=N] [live=N] [order=hot|random] [batches=N]"
                    " [key]\n");
    return 2;
  }
  leaf(0); /* a profile begins with the first future */
  if (options.off)
    aprof_enable(0);
  pthread_barrier_init(&together, NULL, (unsigned)options.threads);
  struct bench benches[64] = {{0}};
  pthread_t started[64];
  for (int i = 0; i < options.threads; i++) {
    benches[i] = (struct bench){.options = &options, .processor = i};
    if (pthread_create(&started[i], NULL, measure, &benches[i]) != 0)
      return 1;
  }
  for (int i = 0; i < options.threads; i++)
    pthread_join(started[i], NULL);
  return 0;
}
