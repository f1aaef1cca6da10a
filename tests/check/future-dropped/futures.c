/* SPDX-License-Identifier: MIT */
/* Futures that somebody has to wait for, end, or keep. */
#include <aprof.h>

#include <stdlib.h>

struct promise;
struct state {
  int line;
};
#ifdef __cplusplus
extern "C" {
#endif
APROF("create key=ret") struct promise *promise_new(void);
APROF("create key=ret ready") struct promise *promise_run(void);
APROF("end key=a0") void promise_free(struct promise *);
APROF("await") void promise_wait(struct promise *);
void keep(struct promise *);
int test(int);
#ifdef __cplusplus
}
#endif

static struct promise *last;

void lost_at_once(void) {
  promise_new(); /* BAD */
  promise_run();
}

int lost_early(int n) {
  struct promise *promise = promise_new(); /* BAD */
  if (!promise)
    return -1;
  if (test(n))
    return -2;
  promise_wait(promise);
  promise_free(promise);
  return 0;
}

int well(int n) {
  struct promise *promise, *other = promise_new(), *third = promise_new();
  if ((promise = promise_new()) == NULL) {
    promise_free(other);
    keep(third);
    return -1;
  }
  if (test(n)) {
    promise_free(promise);
    goto end;
  }
  last = promise;
end:
  keep(third);
  promise_free(other);
  return 0;
}

struct pair {
  struct promise *first, *second;
};

void overwritten(int n) {
  struct promise *promise = promise_new(); /* BAD */
  if (test(n))
    promise = promise_new();
  promise_wait(promise);
}

void once_more(int n) {
  struct promise *promise = NULL;
  if (test(n))
    promise = promise_new();
  if (!promise)
    promise = promise_new();
  promise_wait(promise);
}

void chosen(int n) {
  struct promise *promise = n ? promise_new() : NULL;
  if (promise)
    promise_wait(promise);
}

struct pair in_a_list(void) {
  struct pair pair = {promise_new(), promise_new()};
  return pair;
}

struct promise *handed_on(void) {
  struct promise *promise = promise_new();
  return promise;
}

void ends_all(int n) {
  struct promise *promise = promise_new();
  if (test(n))
    exit(1);
  promise_free(promise);
}

APROF("run key=a0 pending=0") int steps(struct state *state) {
  if (state->line++ < 3)
    return 0;
  return 1;
}

void drop(void) {
  struct state state = {0}, asked = {0}, looped = {0};
  static struct state kept;
  steps(&state); /* BAD */
  while (!steps(&asked))
    test(0);
  for (int i = 0; i < 9; i++)
    steps(&looped);
  steps(&kept);
}

/* What makes one and only returns it, by a variable; what keeps it as well. */
static struct promise *connect_to(int n) {
  struct promise *promise = promise_new();
  if (!promise)
    return NULL;
  return n ? promise : promise;
}

static struct promise *made(int n) {
  struct promise *promise = promise_new();
  if (!promise && n)
    exit(1);
  return promise;
}

static struct promise *made_and_kept(void) {
  struct promise *promise = promise_new();
  keep(promise);
  return promise;
}

void of_others(int n) {
  struct promise *promise = made(n), *other = made_and_kept(); /* BAD */
  struct promise *third = connect_to(n); /* BAD */
  (void)other, (void)third;
  if (test(n))
    promise_wait(promise);
}

void in_a_struct(int n) {
  struct pair pair = {promise_new(), NULL}, ended = {.second = promise_new()}; /* BAD */
  promise_free(ended.second);
  if (test(n))
    return;
  promise_free(pair.first);
}
