/* SPDX-License-Identifier: MIT */
/* Totals at exit and on a signal; see dump.c. */
#ifndef APROF_RT_DUMP_H
#define APROF_RT_DUMP_H

#include <stdbool.h>
#include <stdint.h>

/* Once, by the loader: takes the signal, which `on_signal` handles. */
void dump_attach(void (*on_signal)(int number));
void dump_start(void);  /* finds the command; takes the signal, if it is the default's again */
void dump_forget(void); /* in a child: commands that its parent started, or was about to */
bool dump_over(void);   /* the last totals were asked for, and say more than any to come */
/* Starts the command, at that tick; -1: there are no totals, and a message says why.
 * Async-signal-safe. */
int dump_request(const char *reason, uint64_t tick);
/* Has those of signal `sequence` made, waits until they are there, and puts where into `path`. -1:
   a message says why there are none. Not async-signal-safe. */
#define DUMP_PATH 4096
int dump_tell(uint64_t sequence, uint64_t tick, char path[DUMP_PATH]);

#endif
