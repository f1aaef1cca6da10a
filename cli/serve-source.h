/* SPDX-License-Identifier: MIT */
/*
 * What there is to serve: readings of processes, made when somebody asks.
 *
 * Purpose: nothing is read while nobody asks. Each process is one that the user may read; they come
 * and go between readings. Cost: that of reading; see serve-document.h. Locking: none.
 */
#ifndef APROF_CLI_SERVE_SOURCE_H
#define APROF_CLI_SERVE_SOURCE_H

#include "read/view.h"
#include "serve-document.h"

struct source {
  const char *target; /* a PID or NAME; NULL: all */
  uint64_t functions; /* in metrics, one by one */
  struct latest metrics[2], processes;
  struct view **last; /* as they were scraped: counters do not fall */
  size_t lasts;
};

/* Each held for the caller. */
struct document *source_metrics(struct source *, bool open);
struct document *source_processes(struct source *);
void source_close(struct source *);

#endif
