/* SPDX-License-Identifier: MIT */
/*
 * Something to watch: COUNT requests on each of two threads, the second of which begins late; each
 * is known by its number, so what a probe must find is known, too. Each thread goes when it is told
 * to (a line on standard input), and so the program ends.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 200 };
enum color { RED, GREEN, BLUE };

struct request {
  int length;
  unsigned flag : 3, mode : 5;
  char name[16];
  const char *path;
  struct {
    long id;
  };
  double weight;
  struct request *next;
  signed char small[4];
  int grid[2][3];
  unsigned long many;
  bool odd;
};

static volatile long sink;
long shared_count = 7;

static inline __attribute__((always_inline)) long twice(const struct request *r) {
  return 2 * r->length; /* twice */
}

__attribute__((noipa)) static void note(long n) {
  sink += n;
}

__attribute__((noipa)) static long handle(struct request *r, enum color color) {
  long local = twice(r) + (long)color;
  if (r->length > 5)
    sink += local; /* long ones */
  note(r->id);     /* each */
  sink += local;
  return r->length;
}

__attribute__((noipa)) static long deeper(struct request *r, int left) {
  if (left > 0)
    return deeper(r, left - 1) + 1;
  return handle(r, (enum color)(r->id % 3));
}

/* What it was called with is nowhere any more, but its caller has it still. */
__attribute__((noipa)) static long forget(long id) {
  note(id);
  note(1); /* forgotten */
  return 3;
}

static inline __attribute__((always_inline)) void many_times(long n) {
  sink += n * n;
}

__attribute__((noipa)) static void often(long n) {
  many_times(n);
  many_times(n + 1);
  many_times(n + 2);
  many_times(n + 3);
  many_times(n + 4);
  many_times(n + 5);
}

static void work(long start) {
  struct request other = {.length = 7, .small = {-1, 2, -3, 4}}, r = {.next = &other};
  for (long i = 0; i < COUNT; i++) {
    r.length = (int)(i % 10);
    r.flag = (unsigned)i % 8;
    r.mode = (unsigned)i % 32;
    r.path = i % 2 ? "/one" : "/two";
    strcpy(r.name, i % 4 ? "often" : "rare");
    r.id = i + start;
    r.weight = (double)i / 4;
    r.grid[1][2] = (int)(i % 2) + 5;
    r.many = 0ul - 1 - (unsigned long)i % 2;
    r.odd = i % 2;
    sink += deeper(&r, 3);
    sink += forget(i + start);
    often(i);
  }
}

static char line[16];

static void *work_later(void *start) {
  if (fgets(line, sizeof line, stdin))
    work(*(const long *)start);
  return NULL;
}

int main(void) {
  long second = COUNT;
  pthread_t thread;
  if (!fgets(line, sizeof line, stdin))
    return 1;
  work(0);
  puts("half");
  fflush(stdout);
  pthread_create(&thread, NULL, work_later, &second);
  pthread_join(thread, NULL);
  puts("done");
  fflush(stdout);
  return fgets(line, sizeof line, stdin) ? 0 : 1;
}
