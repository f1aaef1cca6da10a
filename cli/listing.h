/* SPDX-License-Identifier: MIT */
/*
 * Profiles as rows of a table: what `aprof list' prints, and whoever has to choose among several.
 * Cost: each profile is read once. Locking: none.
 */
#ifndef APROF_CLI_LISTING_H
#define APROF_CLI_LISTING_H

#include "find.h"
#include "show/emit.h"

#include <stdio.h>
#include <sys/types.h>

struct listed {
  char *path, *name, *host; /* path: NULL for a memfd */
  char *build, *labels;     /* or NULL; labels: of the host */
  char *refused;            /* a module that is not profiled; NULL: all are */
  uint32_t refusals;
  dev_t device;
  ino_t inode;
  const char *state;
  int32_t pid;
  int64_t started, touched; /* CLOCK_REALTIME, ns */
  uint64_t created, live, memory;
  bool ended, done; /* done: its totals are written */
};

struct listing {
  struct listed *row;
  size_t rows, room;
};

/* Once, however often it is found. `listing`: a struct listing. */
void listing_add(struct found *, void *listing);
/* The oldest first. */
void listing_print(struct listing *, FILE *);
void listing_json(struct listing *, struct emit *); /* as "profiles"; listing-json.c */
void listing_sort(struct listing *);
void listing_release(struct listing *);
int64_t listing_now(void); /* CLOCK_REALTIME, ns */

#endif
