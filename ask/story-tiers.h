/* SPDX-License-Identifier: MIT */
/*
 * What one request spent in each tier.
 *
 * In: a request of a story. Out: by number of tier what ran and waited in it, until the request
 * ended; of number 0 what is in none. What is queued is in no tier. All exec is the request's, and
 * so is all waiting. Cost: linear in its segments. Locking: none.
 */
#ifndef APROF_ASK_STORY_TIERS_H
#define APROF_ASK_STORY_TIERS_H

#include "record/story.h"

struct story_tier {
  uint64_t exec, waiting;
};

void ask_story_tiers(const struct story *, const struct story_request *,
                     struct story_tier[STORY_TIERS]);

#endif
