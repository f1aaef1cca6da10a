/* SPDX-License-Identifier: MIT */
/*
 * Memory that is given back at once.
 *
 * Purpose: what a view consists of is made piece by piece and never freed before all of it.
 * Cost: a chunk at a time from malloc. Locking: none.
 */
#ifndef APROF_READ_ARENA_H
#define APROF_READ_ARENA_H

#include <stddef.h>

enum { ARENA_CHUNK = 64 << 10 }; /* at least */

struct arena {
  struct arena_chunk *last;
  size_t used, room; /* bytes of the last chunk */
  size_t before;     /* of all others */
};

/* Zeroed memory; ends the program without. */
void *arena_get(struct arena *, size_t count, size_t size);
/* A copy of a text; NULL of none. */
const char *arena_text(struct arena *, const char *text);
/* Bytes that it has taken. */
static inline size_t arena_size(const struct arena *a) {
  return a->before + a->room;
}
void arena_free(struct arena *);

#endif
