/* Spans: each way out of a body and of a call closes them, and tiers are around the wait. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#define A(text) __attribute__((aprof(text)))
#define NOINLINE __attribute__((noinline))

static jmp_buf back;

struct operations {
  int (*flush)(int);
};
typedef int visitor(int);

NOINLINE int count(int x) { return x + 1; }
NOINLINE void db_query(int x) { printf("query %d\n", x); }
NOINLINE void maybe(int x) { printf("maybe %d\n", x); }
NOINLINE int cached(int x) {
  db_query(x);
  return x;
}

static void cleaned(int *x) { printf("cleanup %d\n", *x); }

int parse(int x) {
  int held __attribute__((cleanup(cleaned))) = x;
  if (x == 0)
    return 1;
  for (;;) {
    if (x > 2)
      goto out;
    x = count(x);
  }
out:
  return x;
}

void render_page(int x) {
  if (x > 1)
    return;
  printf("page %d\n", x);
}
void render_nothing(void) { printf("no page\n"); }

A("span") static int attributed(int x) { return x * 2; }
A("span call: tier=called") NOINLINE int called(int x) { return x * 3; }

NOINLINE void jumped_over(int x) { longjmp(back, x); }

/* No future: what ran is told by an event of its own, and the span stays open. */
NOINLINE int goes_back(int x) {
  volatile int times = 0;
  if (setjmp(back) < 2) {
    times++;
    jumped_over(times);
  }
  return times + x;
}
NOINLINE int goes_back_twice(int x) { return goes_back(x) + goes_back(x); }

A("async") A("span tier=loop") NOINLINE int future_goes_back(void) {
  volatile int times = 0;
  if (setjmp(back) < 2) {
    times++;
    jumped_over(times);
  }
  return times;
}

static int seen(int x) { return x + 7; }
NOINLINE static int visit(visitor *each, int x) { return each(x); }

static int flush(int x) { return x - 1; }
static const struct operations table = {flush};
NOINLINE static const struct operations *find(void) { return &table; }

static void fetched(int *key) { printf("fetched %d\n", *key); }
NOINLINE int fetch(int *key, void (*done)(int *)) {
  done(key);
  return *key;
}

/* The tier of a span is that of what the call waits for, too. */
NOINLINE void load(int *key, void (*done)(int *)) { done(key); }
NOINLINE void spawn(int *key) { printf("spawned %d\n", *key); }

int serve(int x) {
  if (x == 0)
    return 0;
  parse(0);
  parse(x);
  db_query(x);
  cached(x);
  maybe(1);
  maybe(2);
  return serve(x - 1);
}

int main(void) {
  int keys[2] = {0, 3};
  printf("parse: %d %d\n", parse(0), parse(1));
  render_page(0);
  render_page(1);
  render_page(2);
  render_nothing();
  printf("attributes: %d %d\n", attributed(2), called(2));
  printf("goes back: %d\n", goes_back_twice(1));
  printf("future goes back: %d\n", future_goes_back());
  printf("visit: %d\n", visit(seen, 1));
  printf("flush: %d\n", find()->flush(4));
  fetch(&keys[0], fetched);
  fetch(&keys[1], fetched);
  load(&keys[1], fetched);
  spawn(&keys[0]);
  printf("serve: %d\n", serve(2));
  return 0;
}
/* SPDX-License-Identifier: MIT */
