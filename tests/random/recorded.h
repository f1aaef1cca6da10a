/* SPDX-License-Identifier: MIT */
/*
 * This very process recorded as the command does it, and read back: what the events of a recording
 * say, against the counters, path by path, in ticks.
 *
 * Purpose: record/ has to say the same of a random program, wherever it was when the recording
 * began, went on in another file, and ended. Cost: two images a file. Locking: none; the process is
 * quiet while it is asked.
 */
#ifndef TESTS_RANDOM_RECORDED_H
#define TESTS_RANDOM_RECORDED_H

#include <stdio.h>

/* Begins to record; the trace is on. */
void recorded_begin(void);
/* Goes on in another file. */
void recorded_rotate(void);
/* Ends it: of how many paths events and counters differ; each is told, NULL: none is. */
unsigned recorded_differs(FILE *file);

#endif
