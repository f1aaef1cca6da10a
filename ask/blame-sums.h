/* SPDX-License-Identifier: MIT */
/*
 * What each function held a thread for, summed up block by block of the thread's slices: who was
 * queued behind many of them need not look at each.
 *
 * In: a story, how many paths are of one function. Out: of any whole blocks the same sums, to the
 * nanosecond, as their slices have one by one.
 *
 * Cost: linear in the slices, of which a block has twice as many as the thread has functions; then
 * linear in these functions. Locking: none.
 */
#ifndef APROF_ASK_BLAME_SUMS_H
#define APROF_ASK_BLAME_SUMS_H

#include "on-cpu.h"

/* By path: the lowest one that is of the same function; free() it. */
uint32_t *blame_functions(const struct story *);

/* Of those slices that have a share of at least 1 ns. */
struct blame_sum {
  uint64_t time, count;
};

struct blame_blocks {
  unsigned among;        /* so many threads share the blame */
  uint32_t block;        /* slices of one; 0: there are none, as the slices are few or overlap */
  uint32_t columns;      /* functions */
  uint32_t *function;    /* by column: path */
  struct blame_sum *sum; /* by block and column: of all slices before the block */
  struct on_cpu *held;   /* likewise; NULL: was not asked for */
  uint64_t *end;         /* by block: of the last slice before it that has a share */
};

struct blame_sums {
  uint32_t *function; /* by path: see blame_functions */
  uint32_t *of_slice; /* by slice: its function, as futures lie all over the memory */
  bool with_held;
  uint32_t threads;
  struct blame_blocks *of; /* by thread */
};

/* `with_held`: also what a thread had of its slices, if the story knows. */
struct blame_sums *blame_sums_new(const struct story *, bool with_held);
void blame_sums_free(struct blame_sums *);

/* Of a slice, for what it made late as long as it is. */
uint64_t blame_share(const struct blame_sums *, const struct story_slice *);
/* How many threads share the blame for what this one made late. */
unsigned blame_among(const struct story *, const struct story_thread *);
/* Adds of `time`, a share of a stretch of the thread, what the thread had of it. */
void blame_add_held(const struct story *, uint32_t thread, uint64_t begin, uint64_t end,
                    uint64_t time, struct on_cpu *sum);

/* The slices of each request's own futures. */
struct blame_own;
struct blame_own *blame_own_new(const struct story *, const struct blame_sums *);
void blame_own_free(struct blame_own *);
/* The shares of those from `first` to before `behind` that are of the function. */
uint64_t blame_own_time(const struct blame_own *, uint32_t request, uint32_t function,
                        uint32_t first, uint32_t behind);

#endif
