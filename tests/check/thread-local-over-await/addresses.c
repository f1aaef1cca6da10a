/* SPDX-License-Identifier: MIT */
/* Addresses of what each thread has of its own. */
#include <aprof.h>

#include <errno.h>

#ifdef __cplusplus
extern "C" {
#endif
APROF_AWAIT void pause_now(void);
int work(void);
#ifdef __cplusplus
}
#define THREAD thread_local
#else
#define THREAD _Thread_local
#endif

static THREAD int counter;
static int shared;

APROF_ASYNC int bad(void) {
  int *count = &counter, *error = &errno;
  work();
  *count += 1;
  pause_now();
  *count += 1;   /* BAD */
  return *error; /* BAD */
}

static THREAD char buffer[8];

static int *own_counter(void) {
  return &counter;
}

static int *any_counter(int n) {
  return n ? &counter : &shared;
}

APROF_ASYNC char by_ways(void) {
  char *begin = buffer, first = buffer[0];
  int *count = own_counter(), *any = any_counter(first);
  pause_now();
  *count += 1; /* BAD */
  *any += 1;
  *begin = first; /* BAD */
  return first + buffer[0];
}

APROF_ASYNC int good(void) {
  int *count = &counter, *all = &shared, saved = errno;
  *count += 1;
  pause_now();
  *all += 1;
  count = &counter;
  *count += 1;
  return saved;
}
