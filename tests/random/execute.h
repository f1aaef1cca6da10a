/* SPDX-License-Identifier: MIT */
/*
 * Drives the runtime with a program, through a gate as instrumented code does.
 *
 * Purpose: real threads, one event at a time in the program's order; tokens on
 * the threads' own stacks and on regions that stand for coroutines' stacks.
 * Cost: a switch of threads where the program switches. Locking: a semaphore
 * per thread hands the turn around.
 */
#ifndef TESTS_RANDOM_EXECUTE_H
#define TESTS_RANDOM_EXECUTE_H

#include "program.h"
#include "rows.h"

/* Runs it in this process, in which nothing else may have been profiled, and
   reads the profile while the threads are still there. Returns false, with a
   line on stderr, where there is no profile. */
bool execute(const struct program *program, struct rows *rows);

#endif
