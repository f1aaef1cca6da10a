/* Coroutines with stacks of their own, on ucontext: 24 at a time, round robin. */
#include "hazard.h"

#include <string.h>
#include <ucontext.h>

const bool children_may_exit = true;
const bool work_is_simple = true;

enum { COROUTINES = 24, LARGEST = 64 * 1024 };

struct coroutine {
  ucontext_t context;
  unsigned number, over;
  unsigned long result;
};

static __thread struct coroutine coroutines[COROUTINES];
static __thread ucontext_t scheduler;
static __thread struct coroutine *volatile current;
static __thread char stacks[COROUTINES][LARGEST] __attribute__((aligned(4096)));

/* Another thread's variables never show up in a resumed coroutine here, but the
   compiler must not keep their address over a switch either. */
static __attribute__((noinline)) struct coroutine *running(void) { return current; }

APROF_AWAIT static __attribute__((noinline)) void yield(void) {
  swapcontext(&running()->context, &scheduler);
}

APROF_ASYNC static __attribute__((noinline)) unsigned long step(unsigned n) {
  call_hook();
  yield();
  return n * 7ul;
}

APROF_ASYNC static __attribute__((noinline)) unsigned long request(unsigned n) {
  unsigned long sum = 0;
  for (unsigned i = 0; i < 4; i++) {
    sum += step(n + i);
    if (i & 1)
      yield();
  }
  return sum;
}

static void start(void) {
  struct coroutine *self = running();
  self->result = request(self->number);
  self->over = 1;
}

static void begin(struct coroutine *self, unsigned number) {
  memset(self, 0, sizeof *self);
  getcontext(&self->context);
  self->number = number;
  self->context.uc_stack.ss_sp = stacks[self - coroutines];
  self->context.uc_stack.ss_size = stack_size;
  self->context.uc_link = &scheduler;
  makecontext(&self->context, start, 0);
}

unsigned long work(unsigned rounds) {
  unsigned long sum = 0;
  for (unsigned round = 0; round < rounds; round++) {
    for (unsigned i = 0; i < COROUTINES; i++)
      begin(&coroutines[i], round + i);
    unsigned steps = destroy_suspended ? round % 7 : 100;
    for (unsigned left = COROUTINES; left > 0 && steps > 0; steps--)
      for (unsigned i = 0; i < COROUTINES; i++)
        if (!coroutines[i].over) {
          current = &coroutines[i];
          swapcontext(&scheduler, &coroutines[i].context);
          left -= coroutines[i].over;
        }
    for (unsigned i = 0; i < COROUTINES; i++)
      sum += coroutines[i].over ? coroutines[i].result : 1;
  }
  return sum;
}
/* SPDX-License-Identifier: MIT */
