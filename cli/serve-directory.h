/* SPDX-License-Identifier: MIT */
/*
 * A directory that totals are put into as time goes on: what processes did, of which none need
 * live.
 *
 * In: files *.json, each the totals of a process at some time. Out: the processes, the last that is
 * known of each, windows. What has come since is read when somebody asks.
 * Cost: that of reading new files; memory as history.h is given it, of the processes that were
 * written about last. Locking: none.
 */
#ifndef APROF_CLI_SERVE_DIRECTORY_H
#define APROF_CLI_SERVE_DIRECTORY_H

#include "listing.h"
#include "read/view.h"

#include <time.h>

struct recorded;

struct directory {
  const char *path;
  struct timespec seen; /* what changed until then is read */
  struct recorded *first;
};

bool directory_is(const char *path);
/* As watch_look. */
struct view *directory_look(struct directory *, int64_t pid, uint64_t range);
/* The last of each process, the directory's until it is asked again. free() the array. */
size_t directory_views(struct directory *, const struct view ***);
void directory_list(struct directory *, struct listing *);
void directory_close(struct directory *);

#endif
