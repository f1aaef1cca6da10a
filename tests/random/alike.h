/* SPDX-License-Identifier: MIT */
/*
 * A program by fast events, and once more by general ones alone: both leave the same behind.
 *
 * Purpose: what a fast event does is what the general one of its name does. No rule is needed that
 * says what that is, so a program may do anything, and every record, counter and word of a ring is
 * compared. Cost: two processes each. Locking: none.
 */
#ifndef TESTS_RANDOM_ALIKE_H
#define TESTS_RANDOM_ALIKE_H

#include "shrink.h"

/* Of the programs so far that came to an end: how many events there were, and how many of these
   were fast ones in the one run. */
struct alike_tally {
  uint64_t events, fast;
};
extern struct alike_tally *alike_tally;
void alike_init(void);

#define ALIKE_FAST_LEAST 20u /* of 100: else nothing has been compared */

enum outcome alike(const struct program *program, bool quiet);

#endif
