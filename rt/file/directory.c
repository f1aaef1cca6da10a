/* SPDX-License-Identifier: MIT */
/* Directories of tables that grow by segments; see directory.h. */
#include "directory.h"

#include "arena.h"

#define SMALL_ROOM 496u /* words of a page, but for the chunk's head: for small ones */

static uint64_t *small;
static uint32_t small_left;

void directory_reset(void) {
  small = NULL;
  small_left = 0;
}

static struct directory *directory_new(uint32_t depth) {
  uint32_t words = (uint32_t)(sizeof(struct directory) / sizeof(uint64_t)) + (1u << depth);
  if (words > SMALL_ROOM / 2)
    return arena_chunk(APROF_CHUNK_PRIVATE, 0, 0, words, sizeof(uint64_t));
  if (words > small_left) {
    small = arena_chunk(APROF_CHUNK_PRIVATE, 0, 0, SMALL_ROOM, sizeof(uint64_t));
    small_left = small != NULL ? SMALL_ROOM : 0;
    if (small == NULL)
      return NULL;
  }
  small_left -= words;
  small += words;
  return (struct directory *)(small - words);
}

bool directory_first(struct directory **directory) {
  *directory = directory_new(0);
  if (*directory != NULL)
    (*directory)->shift = 32;
  return *directory != NULL;
}

bool directory_reach(struct directory **directory, uint32_t depth) {
  struct directory *old = *directory, *doubled;
  uint32_t before = directory_depth(old);
  if (depth <= before)
    return true;
  if (depth > DIRECTORY_DEPTH || (doubled = directory_new(before + 1)) == NULL)
    return false;
  doubled->shift = old->shift - 1;
  for (uint32_t i = 0; i < 1u << before; i++)
    doubled->segment[2 * i] = doubled->segment[2 * i + 1] = old->segment[i];
  __atomic_store_n(directory, doubled, __ATOMIC_SEQ_CST);
  return true;
}

void directory_replace(struct directory *directory, uint32_t hash, uint32_t depth, void *low,
                       void *high) {
  uint32_t count = 1u << (directory_depth(directory) - depth);
  uint32_t first = (uint32_t)((uint64_t)hash >> directory->shift) & ~(count - 1);
  for (uint32_t i = 0; i < count; i++)
    __atomic_store_n(&directory->segment[first + i], i < count / 2 ? low : high, __ATOMIC_SEQ_CST);
}
