/* SPDX-License-Identifier: MIT */
/*
 * A story made by hand: what a small shop would have done, to the nanosecond.
 *
 * Purpose: formats of recordings are tried on one whose numbers are known. Requests come every
 * 100 us on one loop; each asks a pool for its item, and each twentieth waits for that 16 times as
 * long, in another place. Names mean something to one format or another.
 */
#ifndef TESTS_CLI_HAND_STORY_H
#define TESTS_CLI_HAND_STORY_H

#include "record/story-build.h"

enum {
  HAND_APART = 100000, /* ns from one request to the next */
  HAND_SLOW_EVERY = 20,
  HAND_SLOW_WAITS = 16, /* times HAND_APART longer */
  HAND_TIER_DB = 1,
  HAND_TIER_RENDER = 2
};
#define HAND_STARTED INT64_C(1790000000123456789)

/* story_free() it. The last is cut, and so is not whole; one future is in no request. */
struct story *hand_story(uint32_t requests);
bool hand_is_slow(const struct story *, uint32_t request);

#endif
