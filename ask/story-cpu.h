/* SPDX-License-Identifier: MIT */
/*
 * Where processor time went, by the samples of a recording: native functions, beneath the future
 * that ran them.
 *
 * In: a story with samples, and the view of it. Out: in that view paths for native frames, with the
 * processor time of each, and what is to be said of all samples. Native frames that lie above the
 * future's own function on the stack (the loop, main) are left out; what ran as no future did lies
 * beneath "(no future)" as a whole.
 * Cost: linear in the frames of samples; files of code are opened. Locking: none.
 */
#ifndef APROF_ASK_STORY_CPU_H
#define APROF_ASK_STORY_CPU_H

#include "read/view.h"
#include "record/story.h"

/* Whether it has samples; false after a message that says how to have them. */
bool ask_has_samples(const struct story *);
/* `meant`: as of the view. Nothing where there are no samples. `path`: NULL, or room for each
   sample's path in the view, SIZE_MAX of those that are not meant. */
void ask_story_cpu(struct view *, const struct story *, const bool *meant, size_t *path);

#endif
