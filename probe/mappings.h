/* SPDX-License-Identifier: MIT */
/*
 * What code a live process has in memory, and which build of which file it is.
 *
 * In: /proc/PID/maps. Out: its executable mappings, those that have come since, too; a file is
 * known by its build-id, so that its names are found on another machine.
 * Cost: a walk over the maps, and the notes of each file once. Locking: none.
 */
#ifndef APROF_PROBE_MAPPINGS_H
#define APROF_PROBE_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAPPING_BUILD_ID = 20 };

struct mapping {
  uint64_t start, end, offset; /* offset: of `start`, in the file */
  char *path;                  /* "" : of no file, as generated code is; "[vdso]" */
  uint8_t build_id[MAPPING_BUILD_ID];
  uint32_t build_id_length; /* 0: it has none */
};

struct mappings {
  long pid;
  struct mapping *list; /* in the order in which they were found */
  size_t count, room;
};

void mappings_begin(struct mappings *, long pid);
void mappings_free(struct mappings *);
/* Adds those that are new; how many. */
size_t mappings_read(struct mappings *);
/* The one that was found last and has it; NULL: none. */
const struct mapping *mappings_at(const struct mappings *, uint64_t address);

#endif
