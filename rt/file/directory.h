/* SPDX-License-Identifier: MIT */
/*
 * Tables that grow a piece at a time: a directory leads from the upper bits of a hash
 * to segments of one size, and a full segment is replaced by two. So no event pays for
 * more than one segment, however large the table is (extendible hashing: Fagin,
 * Nievergelt, Pippenger and Strong, 1979).
 *
 * Looking up takes no lock: who finds nothing asks again whether its segment is still
 * the one in the directory. What changes the directory holds rt.lock. Directories
 * and segments are never given back.
 */
#ifndef APROF_RT_DIRECTORY_H
#define APROF_RT_DIRECTORY_H

#include "rt/rt.h"

#define DIRECTORY_DEPTH 20u /* most bits of a hash that tell segments apart */

struct directory {
  uint32_t shift; /* of a hash, to the segment's place: 32 - depth */
  uint32_t reserved;
  void *segment[]; /* atomic */
};

static inline uint32_t directory_depth(const struct directory *d) {
  return 32 - d->shift;
}

/* The segment of this hash. Any thread, async-signal-safe. */
static inline void *directory_at(struct directory *const *directory, uint32_t hash) {
  struct directory *d = __atomic_load_n(directory, __ATOMIC_ACQUIRE);
  return pointer_read(&d->segment[(uint64_t)hash >> d->shift]);
}

/* One that leads to a single segment. False: no memory. rt.lock held. */
bool directory_first(struct directory **directory);

/* Room for segments that share `depth` bits each: the directory is doubled if it tells
   fewer apart. False: no memory, or too deep. rt.lock held. */
bool directory_reach(struct directory **directory, uint32_t depth);

/* The first half of the places of the segment of this hash, which shares `depth` bits,
   leads to `low` from here on, the second half to `high`. rt.lock held. */
void directory_replace(struct directory *directory, uint32_t hash, uint32_t depth, void *low,
                       void *high);

/* What was allocated lies in a profile that this process has let go. */
void directory_reset(void);

#endif
