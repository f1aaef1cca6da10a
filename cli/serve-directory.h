/* SPDX-License-Identifier: MIT */
/*
 * A directory that totals are put into as time goes on: what processes did, of which none need
 * live.
 *
 * In: files *.json, each the totals of a process at some time. Out: the processes, the last that is
 * known of each, windows. What has come since is read when somebody asks.
 * Cost: that of reading new files; memory as serve-recorded.h is given it. Locking: none.
 */
#ifndef APROF_CLI_SERVE_DIRECTORY_H
#define APROF_CLI_SERVE_DIRECTORY_H

#include "serve-recorded.h"

#include <time.h>

struct directory {
  const char *path;
  struct timespec seen; /* what changed until then is read */
  struct records records;
};

bool directory_is(const char *path);
/* Takes what has come; to be called before a look, and not while views that it gave are used. */
void directory_scan(struct directory *);
/* As watch_look. */
struct view *directory_look(struct directory *, const struct process_name *, uint64_t range,
                            struct looked *);
/* The last of each process, the directory's until it is asked again. free() the array. */
size_t directory_views(struct directory *, const struct view ***);
void directory_names(const struct directory *, struct process_names *);
void directory_list(struct directory *, struct listing *);
void directory_close(struct directory *);

#endif
