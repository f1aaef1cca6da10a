/*
 * The smallest stackful program: coroutines that keep their stacks, on a
 * scheduler of forty lines over ucontext(3).
 *
 * Two words tell aprof all about it: a function that suspends is APROF_ASYNC,
 * and what suspends it is APROF_AWAIT. Each call of an async function is then
 * a future, and its time is queued, running or waiting, to the nanosecond:
 *
 *     gcc -O2 -g -fplugin=aprof -o stackful stackful.c
 *     aprof run --report -- ./stackful
 *
 * Without the plugin the words vanish and this is a plain C program.
 */
#include <aprof.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

/* ---- the scheduler: sleeping coroutines, the earliest runs first ---- */

enum { STACK = 64 * 1024 };

struct coroutine {
  struct coroutine *next;
  ucontext_t context;
  uint64_t due_ns;
  void (*run)(int);
  int argument, over;
  char stack[STACK];
};

static ucontext_t scheduler;
static struct coroutine *current, *sleeping;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_until(struct coroutine *self, uint64_t due_ns) {
  struct coroutine **at = &sleeping;
  while (*at != NULL && (*at)->due_ns <= due_ns)
    at = &(*at)->next;
  self->due_ns = due_ns;
  self->next = *at;
  *at = self;
}

static void start(void) {
  current->run(current->argument);
  current->over = 1; /* uc_link leads back to the scheduler, which frees it */
}

static void spawn(void (*run)(int), int argument) {
  struct coroutine *self = malloc(sizeof *self);
  if (self == NULL || getcontext(&self->context) != 0) {
    perror("spawn");
    exit(1);
  }
  self->run = run;
  self->argument = argument;
  self->over = 0;
  self->context.uc_stack.ss_sp = self->stack;
  self->context.uc_stack.ss_size = STACK;
  self->context.uc_link = &scheduler;
  makecontext(&self->context, start, 0);
  sleep_until(self, 0);
}

static void run_all(void) {
  while ((current = sleeping) != NULL) {
    sleeping = current->next;
    uint64_t now = now_ns();
    if (current->due_ns > now) {
      uint64_t rest = current->due_ns - now;
      struct timespec pause = {(time_t)(rest / 1000000000u), (long)(rest % 1000000000u)};
      nanosleep(&pause, NULL);
    }
    swapcontext(&scheduler, &current->context);
    if (current->over)
      free(current);
  }
}

/* The one place where a coroutine suspends. */
APROF_AWAIT static void pause_ms(unsigned ms) {
  sleep_until(current, now_ns() + ms * UINT64_C(1000000));
  swapcontext(&current->context, &scheduler);
}

/* ---- the program: three cooks share one kitchen ---- */

static volatile unsigned crumbs;

static void chop(unsigned times) {
  for (unsigned i = 0; i < times * 1000; i++)
    crumbs += i;
}

APROF_ASYNC static int boil(unsigned ms) {
  chop(100);
  pause_ms(ms);
  return 1;
}

APROF_ASYNC static int fry(unsigned ms) {
  chop(20000); /* holds every other cook up: the report says so */
  pause_ms(ms);
  chop(500);
  return 1;
}

APROF_ASYNC static void cook(int number) {
  int dishes = 0;
  for (unsigned i = 0; i < 3; i++) {
    dishes += boil(30);
    dishes += fry(10);
  }
  printf("cook %d made %d dishes\n", number, dishes);
}

int main(void) {
  for (int number = 1; number <= 3; number++)
    spawn(cook, number);
  run_all();
  return 0;
}
/* SPDX-License-Identifier: MIT */
