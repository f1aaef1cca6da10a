/* SPDX-License-Identifier: MIT */
/*
 * Recordings that a user names, and which of their requests are meant.
 *
 * Purpose: the one place that opens several for a command. Cost: that of their stories.
 * Locking: none.
 */
#ifndef APROF_CLI_RECORDINGS_H
#define APROF_CLI_RECORDINGS_H

#include "ask/slowest.h"
#include "probe/sampler.h"
#include "record/story.h"

struct recordings {
  struct story **story;
  bool **meant; /* of each by number of request; NULL: all are */
  size_t stories;
};

/* Whether any target is one. */
bool recordings_are(char *const *target, size_t targets);
/* Each is one, or a live process that is recorded for `span` ns; without any the only one that
   lives. `filter`: NULL, or which requests are meant; `kernel`: NULL, or what the kernel is asked
   for of live ones. False after a message. */
bool recordings_open(struct recordings *, char *const *target, size_t targets, uint64_t span,
                     const struct slowest_filter *filter, const struct sampler_wish *kernel);
void recordings_release(struct recordings *);

#endif
