/* SPDX-License-Identifier: MIT */
/*
 * A story as a view: where the time of its requests went, by path.
 *
 * Purpose: what shows paths (flame graphs, stacks for other tools) shows those of a recording, too,
 * and of some of its requests alone.
 * In: a story, and which of its requests are meant. Out: a view of their futures, all that these
 * ran, waited and were queued, and of each kind of requests how many, and how long, with their
 * distributions. Without threads, other histograms, and what lives: those are of the whole process.
 * Cost: linear in the story's segments. Locking: none.
 */
#ifndef APROF_ASK_STORY_VIEW_H
#define APROF_ASK_STORY_VIEW_H

#include "read/view.h"
#include "slowest.h"

/* `meant`: by number of request, and of these what they did until they ended; NULL: all, and
   futures that are part of none. The story has to
   stay, as its texts are the view's; view_free() it. */
struct view *ask_story_view(const struct story *, const bool *meant, const char *what);

enum story_choice { STORY_SLOW, STORY_REST, STORY_ALL };
/* By number of request, which of those found are chosen; free() it. */
bool *ask_story_meant(const struct story *, const struct slowest *, enum story_choice);

#endif
