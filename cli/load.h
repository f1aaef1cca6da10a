/* SPDX-License-Identifier: MIT */
/*
 * A view of whatever a user names.
 * Cost: that of reading it. Locking: none.
 */
#ifndef APROF_CLI_LOAD_H
#define APROF_CLI_LOAD_H

#include "read/view.h"

/* `target`: totals, a profile, "-" (totals on standard input), or what find_profile takes.
   `wanted`: its loop, lives and histograms; of a loop alone totals tell nothing. NULL after a
   message. */
struct view *view_load(const char *target, const struct view_request *wanted);

/* Of all live processes that are profiled, each its own; how many. What cannot be read is left out
   after a message. free() the array. */
size_t view_load_live(struct view ***);

#endif
