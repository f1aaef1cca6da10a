/* SPDX-License-Identifier: MIT */
/*
 * Requests taken out of recordings that are written.
 *
 * Purpose: `aprof record --kind --over`: a file that is complete is replaced by one without what
 * was not asked for, at once, or beside the recording that goes on. Cost: that of record/sieve.h;
 * beside, in a process of its own, which stands back for others. Locking: none.
 */
#ifndef APROF_CLI_RECORD_SIEVE_H
#define APROF_CLI_RECORD_SIEVE_H

#include "record/sieve.h"

/* The file at `path`. What cannot be written stays as it is: false, after a message. */
bool record_sieve(const char *path, const struct sieve_wish *, uint64_t *left_out);
/* ... beside; what is under way at the end is waited for. */
void record_sieve_beside(const char *path, const struct sieve_wish *);
void record_sieve_wait(void);

#endif
