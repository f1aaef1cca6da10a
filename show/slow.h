/* SPDX-License-Identifier: MIT */
/*
 * The slowest requests: those that a profile keeps, and those of a recording.
 *
 * Purpose: both are one command, and have its options. Cost: as each says. Locking: none.
 */
#ifndef APROF_SHOW_SLOW_H
#define APROF_SHOW_SLOW_H

#include "ask/requests.h"
#include "record/story.h"

#include <stdio.h>

struct slow_options {
  uint64_t rows;  /* of each kind; 0: all */
  uint64_t over;  /* ns */
  double percent; /* of a recording: only the slowest so many; 0: the first `rows` */
  bool paths;     /* of a live process: record it */
  bool follow;    /* of a live process: a line for each as it ends */
  uint64_t most;  /* such lines a second; 0: any number */
  const struct request_filter *requests;
};

/* Those that are kept, of one kind by its name, or (NULL) of all; aprof.slow/1. */
void slow_kept_json(struct view *, const char *kind, FILE *out);
/* slow-paths.c: each as its critical path, laid out in time; aprof.slowest/1. */
int slow_paths_print(const struct story *, const void *options, FILE *out);
int slow_paths_json(const struct story *, const void *options, FILE *out);

#endif
