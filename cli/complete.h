/* SPDX-License-Identifier: MIT */
/*
 * What may stand where the user is typing: `aprof complete WORD...'.
 *
 * Purpose: shells ask with all words up to that one, and get a line for each that fits: the
 * word, a tab, what it is. A line that begins with a colon asks the shell for what it knows
 * itself: :files, :dirs, :commands. All of it comes from the tables of commands and options, so
 * completion/ has nothing to be kept up to date. Cost: that of looking for live processes.
 * Locking: none.
 */
#ifndef APROF_CLI_COMPLETE_H
#define APROF_CLI_COMPLETE_H

#include "options.h"

/* A command whose first word this is prints what fits, and ends: the others are those up to the one
   that is being typed. So it goes to programs of ours as well. */
#define COMPLETE_MARK "\ncomplete"
void complete_arguments(const struct arguments *, char **word, size_t words)
    __attribute__((noreturn));
/* One that fits what is typed. */
void complete_offer(const char *typed, const char *word, const char *what);

#endif
