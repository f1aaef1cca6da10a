/* SPDX-License-Identifier: MIT */
/*
 * A view of whatever a user names.
 * Cost: that of reading it. Locking: none.
 */
#ifndef APROF_CLI_LOAD_H
#define APROF_CLI_LOAD_H

#include "read/view.h"

/* `target`: totals, a profile, "-" (totals on standard input), or what find_profile takes. `loop`: of
   this thread alone, which totals do not tell apart; 0: of all. NULL after a message. */
struct view *view_load(const char *target, int64_t loop);
/* The same, of a request's loop, lives and histograms. */
struct view *view_load_for(const char *target, const struct view_request *wanted);

#endif
