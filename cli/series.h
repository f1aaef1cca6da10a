/* SPDX-License-Identifier: MIT */
/*
 * Totals of processes that come into a directory as time goes on.
 *
 * In: a directory of files *.json, each the totals of a process at some time. Out: these files in
 * order, the last totals, and what happened in the last seconds before some others.
 * Cost: that of reading files, of a window those that are younger than its beginning. Locking: none.
 */
#ifndef APROF_CLI_SERIES_H
#define APROF_CLI_SERIES_H

#include "read/view.h"

#include <time.h>

struct series_file {
  char *path;
  struct timespec written;
};

/* Those that have changed since `seen`, which is moved on, the oldest first; `*seen` of zeros: all.
   To be freed, and each path. */
struct series_file *series_files(const char *directory, struct timespec *seen, size_t *count);

/* The last totals of the process that they are of; of more than one the command ends (CLI_USAGE)
   after a list of them. NULL after a message. */
struct view *series_last(const char *directory);

/* Turns `now` into what happened in the last `ns` before it: the difference to those totals of its
   process that were made next to that moment. All since its start, or since a reset, where that
   is younger. `directory` NULL: there are none. False after a message where none are near enough. */
bool series_cut(struct view *now, const char *directory, uint64_t ns);

#endif
