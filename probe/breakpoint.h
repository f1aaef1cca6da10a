/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side: hardware breakpoints on the threads of another process, by perf events, which
 * any user may put on processes of his own; each hit leaves a record in a ring.
 *
 * Nothing is written to the process, no signal reaches it; closing the descriptors ends all of it,
 * so does the end of this process. Cost: a descriptor for each thread and address, a ring for each
 * thread. Locking: none.
 */
#ifndef APROF_PROBE_BREAKPOINT_H
#define APROF_PROBE_BREAKPOINT_H

#include "machine.h"
#include "probe.h"

#include <poll.h>

/* One hit, as the kernel wrote it down; what it points to holds until the next is read. */
struct breakpoint_hit {
  int tid;
  uint64_t address, time; /* ns of CLOCK_MONOTONIC */
  uint64_t reg[MACHINE_REGISTERS];
  const uint8_t *stack;
  size_t stack_size;
};

struct breakpoints;

/* `stack`: bytes of it that each hit comes with, a multiple of 8. `instructions`: the processor's
   own breakpoints are left alone, see uprobe.h. */
struct breakpoints *breakpoints_new(long pid, uint32_t stack, bool instructions);
void breakpoints_free(struct breakpoints *);

/* Arms an address on all threads there are, and on those that come. 0, or an errno. Without any
   (0: none is known yet) it is seen what is mapped. */
int breakpoints_arm(struct breakpoints *, uint64_t address);
/* Whether code was mapped since this was asked last, and when, in ns as above. */
bool breakpoints_mapped(struct breakpoints *, uint64_t *when);
/* Looks for threads that have begun; `now` as above. */
void breakpoints_threads(struct breakpoints *, uint64_t now);
/* All of them count no more. */
void breakpoints_stop(struct breakpoints *);

/* Waits until there may be hits, or so many ms; `end` is polled, too (-1: nothing): true where it
   has something. */
bool breakpoints_wait(struct breakpoints *, int end, int ms);
/* The next hit that was written down; false: there is none now. Those of one thread come in order.
 */
bool breakpoints_next(struct breakpoints *, struct breakpoint_hit *);

/* So often an address came by, whether it was written down or not. */
uint64_t breakpoints_count(const struct breakpoints *, uint64_t address);
void breakpoints_say(const struct breakpoints *, struct probe_result *);

/* What an errno of breakpoints_arm means, and what to do; of `what`. */
void breakpoints_refused(const struct breakpoints *, int error, const char *what);

#endif
