/* SPDX-License-Identifier: MIT */
/*
 * The profile of this very process as the command reads it, against the model's rows.
 *
 * Purpose: the reader of `aprof` and that of these tests share no code; here the first has
 * to say the same of a random program, wherever it stopped.
 * Cost: one pass over the profile. Locking: none; the process is quiet.
 */
#ifndef TESTS_RANDOM_COMMAND_H
#define TESTS_RANDOM_COMMAND_H

#include "rows.h"

/*
 * Compares what both know: counts and times of all functions together (the command names
 * those that are known by their address in its own way), of each await by its name, of each
 * thread, and the health. Returns how many numbers differ, printed to `file` unless it is
 * NULL; at least 1 where the profile cannot be read. After execute().
 */
unsigned command_differs(const struct rows *expected, FILE *file);

#endif
