/* SPDX-License-Identifier: MIT */
/*
 * How far something is, for whoever waits for it.
 *
 * Purpose: a line on standard error, where that is a terminal, of what takes over a second; it is
 * gone once that is over. Cost: a look at the clock. Locking: none.
 */
#ifndef APROF_CLI_PROGRESS_H
#define APROF_CLI_PROGRESS_H

#include <stddef.h>

/* Every time that something is done. The first begins the second. */
void progress_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Before anything else is printed. */
void progress_end(void);

#endif
