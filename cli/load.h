/* SPDX-License-Identifier: MIT */
/*
 * Views of whatever a user names.
 *
 * Purpose: the one place that makes views for commands: as things are, or of a time from now on.
 * Cost: that of reading them, and that time. Locking: none.
 */
#ifndef APROF_CLI_LOAD_H
#define APROF_CLI_LOAD_H

#include "ask/option.h"
#include "find.h"
#include "read/view.h"

/* `target`: totals, a profile, "-" (totals on standard input), or what find_profile takes.
   `wanted`: its loop, lives and histograms; of a loop alone totals tell nothing. NULL after a
   message. */
struct view *view_load(const char *target, const struct view_request *wanted);

/* Of all live processes that are profiled, or of those that are `target`, each its own; how many.
   What cannot be read is left out after a message. free() the array. */
size_t view_load_live(const char *target, struct view ***);
/* Whether that live process has this PID or NAME. */
bool found_is(const struct found *, const char *target);

/* -- from now on ------------------------------------------------------------------- */

/* Views, and how they come to be. */
struct load {
  struct view_request wanted;
  uint64_t span;   /* ns to measure from now on; 0: what there is is shown */
  uint64_t window; /* of that the last ns (window.h); 0: all */
  struct view **view;
  struct found *found; /* where there is a span: of which process each is */
  size_t views;
};

/* The options of a struct load: --for alone, and --window, too. */
extern const struct option_row load_for[], load_options[];
/* What is wrong with the two, where they are given, perhaps with an `interval`; or NULL. */
const char *load_fault(const struct load *, bool interval);

/* One more, see view_load; false after a message. */
bool load_add(struct load *, const char *target);
/* All live processes that are profiled. What cannot be read is left out after a message. */
void load_add_live(struct load *);
/* Those of this PID or NAME, however many; so many they are. */
size_t load_add_named(struct load *, const char *name);
/* Once all are there: waits for the span, and turns each into what happened in it. Ctrl-C, and the
   end of all these processes, end the span before its time. False after a message. */
bool load_finish(struct load *);
void load_release(struct load *);

#endif
