/* SPDX-License-Identifier: MIT */
/*
 * What has come of a program, and the shortest one of which the same comes.
 *
 * Purpose: a failing seed tells a few events. Cost: hundreds of runs, 20 seconds at most. Locking:
 * none.
 */
#ifndef TESTS_RANDOM_SHRINK_H
#define TESTS_RANDOM_SHRINK_H

#include "program.h"

enum outcome { AGREE = 0, DIFFER = 1, BROKEN = 2, OPEN = 3 };

/* Runs it in processes of their own. Quiet: only the verdict; else what differs goes to stderr. */
typedef enum outcome judges(const struct program *program, bool quiet);

/* The verdict of that, made in a process of its own, which has a minute: a program takes
   milliseconds, on a busy machine more. */
enum outcome judged_apart(judges *judge, const struct program *program, bool quiet);

extern bool report_all; /* the program as it came, too */

/* The shortest found that fails as this one does goes to stderr, and what is wrong with it. `what`:
   of the program; `differ`: what a difference is. */
void report(const struct program *failing, const char *what, judges *judge, const char *differ);

#endif
