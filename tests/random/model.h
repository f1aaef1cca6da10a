/* SPDX-License-Identifier: MIT */
/*
 * The model: what a program's totals must be, worked out in the plainest way.
 *
 * Purpose: the other side of every comparison. It shares no code and no idea of
 * layout with the runtime: futures, waits and slices are remembered one by one
 * and added up at the end; walls and elapsed times are measured by stamps of
 * their own, and the ledger's equations are asserted on the way out.
 * Cost: quadratic here and there, and nobody minds.
 * Locking: none; it runs a whole program at once.
 */
#ifndef TESTS_RANDOM_MODEL_H
#define TESTS_RANDOM_MODEL_H

#include "program.h"
#include "rows.h"

enum model_verdict {
  MODEL_CERTAIN,
  MODEL_AMBIGUOUS,  /* the semantics leave something open: nothing to compare */
  MODEL_UNBALANCED, /* an equation of the ledger fails: a bug of the model */
};

/* The primer (a body entered and left at once, first thing on each thread) is
   part of every program. */
enum model_verdict model_run(const struct program *program, struct rows *rows);

#endif
