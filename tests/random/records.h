/* SPDX-License-Identifier: MIT */
/*
 * All that the runtime has written into the profile of this very process, record by record.
 *
 * Purpose: two runs of one program are the same if these rows are. Left out is what only fast
 * events have a use for, and what tells how an event came: shortcuts, and how many were general
 * ones. Cost: one pass. Locking: none; the process is quiet.
 */
#ifndef TESTS_RANDOM_RECORDS_H
#define TESTS_RANDOM_RECORDS_H

#include "aprof/profile.h"
#include "rows.h"

/* "future N", "thread N", "node N", "request N", "thread N's PATH", "thread N's event N", ... */
void records_rows(const struct aprof_header *header, struct rows *rows);

/* Adds how many events all threads had, and how many of these were fast ones. */
void records_tally(const struct aprof_header *header, uint64_t *events, uint64_t *fast);

#endif
