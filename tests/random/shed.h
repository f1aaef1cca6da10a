/* SPDX-License-Identifier: MIT */
/*
 * What can be compared of programs on threads that shed detail (rt/count/govern.h).
 *
 * Purpose: the same programs and the same model, at each step; what the step gives up is
 * taken out of both sides. Nothing is decided by a governor: a program has one step.
 * Cost: one pass. Locking: none.
 */
#ifndef TESTS_RANDOM_SHED_H
#define TESTS_RANDOM_SHED_H

#include "aprof/profile.h"
#include "program.h"
#include "rows.h"

/* Without time, where the step has no clock of its own. */
void shed_program(struct program *program, uint32_t step);

/* Without histograms, nor what is told of the longest slice; by function instead of by path,
   from where paths are shed. Those of a step that sheds nothing stay as they are. */
void shed_rows(struct rows *rows, uint32_t step);

#endif
