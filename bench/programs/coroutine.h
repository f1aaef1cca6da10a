/* SPDX-License-Identifier: MIT */
/*
 * Coroutines for the programs here: a stack each, and a switch that saves what a called
 * function must keep and no more. A switch takes a few nanoseconds, where ucontext(3)
 * enters the kernel twice: what a profiler adds is seen at its worst.
 */
#ifndef COROUTINE_H
#define COROUTINE_H

#include <stdint.h>
#include <stdlib.h>

enum { COROUTINE_STACK = 64 * 1024 };

struct coroutine {
  void *top; /* of its stack while it does not run */
  void (*run)(void *);
  void *argument;
  char *stack;
};

/* Goes on at `to`, and comes back when somebody switches to `*from`. */
void coroutine_switch(void **from, void *to);

#if defined __x86_64__
__asm__(".text\n.globl coroutine_switch\n.type coroutine_switch,@function\n"
        "coroutine_switch:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  mov %rsp,(%rdi)\n  mov %rsi,%rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n  ret\n"
        ".globl coroutine_first\ncoroutine_first:\n" /* rbx: the coroutine */
        "  mov %rbx,%rdi\n  call coroutine_start\n  hlt\n");
#else
#error "a switch for this processor is missing"
#endif

void coroutine_first(void);
void coroutine_start(struct coroutine *self);

/* `run` must not return. 0, or -1 without memory. */
static inline int coroutine_init(struct coroutine *c, void (*run)(void *), void *argument) {
  c->stack = malloc(COROUTINE_STACK);
  if (c->stack == NULL)
    return -1;
  c->run = run;
  c->argument = argument;
  uintptr_t end = ((uintptr_t)c->stack + COROUTINE_STACK) & ~(uintptr_t)15;
  void **top = (void **)end - 9; /* six registers, the address to go to, and two words, so
                                    that the stack is aligned for the call there */
  for (int i = 0; i < 9; i++)
    top[i] = NULL;
  top[4] = c; /* rbx */
  top[6] = (void *)coroutine_first;
  c->top = top;
  return 0;
}

void coroutine_start(struct coroutine *self) {
  self->run(self->argument);
  abort();
}

#endif
