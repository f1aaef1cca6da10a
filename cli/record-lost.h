/* SPDX-License-Identifier: MIT */
/*
 * What is said of events that a recording lacks.
 *
 * Purpose: why they are missing, and what helps against that. Cost: some lines to stderr, at the
 * end. Locking: none.
 */
#ifndef APROF_CLI_RECORD_LOST_H
#define APROF_CLI_RECORD_LOST_H

#include "record/recorder.h"

void record_say_lost(const struct recorder_numbers *);

#endif
