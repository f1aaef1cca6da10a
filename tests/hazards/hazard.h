/*
 * What the programs and the hazards of this folder share.
 *
 * A program is a way to schedule futures: it offers work(). A hazard is what may
 * happen to a process meanwhile: a function that calls work() and whatever else it
 * likes, and returns the number that main() prints. Any hazard runs with any program
 * that stands it; see main.c.
 */
#ifndef HAZARD_H
#define HAZARD_H

#include <aprof.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a program offers. Any thread; result depends on `rounds` only. */
unsigned long work(unsigned rounds);
/* May work() be left at any instruction by siglongjmp, and fork in the middle? (No
   malloc, no library with a state of its own.) */
extern const bool work_is_simple;
/* May a forked child end by exit()? libuv's destructor joins threads that it has not. */
extern const bool children_may_exit;

/* Called by work() in the middle of its futures, on their stacks, where not NULL. */
extern void (*hook)(void);
static inline void call_hook(void) {
  if (__builtin_expect(hook != NULL, 0))
    hook();
}
extern size_t stack_size;     /* of coroutines, where the program has any */
extern bool destroy_suspended; /* ... of which some go while they are suspended */

/* How often each hazard happens: argv[2]. */
extern unsigned count;

/* A short async function with an await, of no program. */
unsigned long small_future(unsigned n);

/* Ends the process with a message for what the test itself could not do. */
void must(bool ok, const char *what);

unsigned next_random(unsigned *state, unsigned below);

struct hazard {
  const char *name;
  unsigned long (*run)(void);
  bool simple_only; /* of programs whose work_is_simple */
};
extern const struct hazard signal_hazards[], fork_hazards[], thread_hazards[], race_hazards[],
    exit_hazards[], file_hazards[];

#ifdef __cplusplus
}
#endif

#endif
/* SPDX-License-Identifier: MIT */
