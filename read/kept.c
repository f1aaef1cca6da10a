/* SPDX-License-Identifier: MIT */
/* Distributions from one reading to the next; see kept.h. */
#include "kept.h"

#include "util.h"

#include <stdlib.h>
#include <string.h>

/* No histogram belongs to two distributions, so the first one identifies it. */
struct entry {
  uint32_t first; /* 0: free */
  uint32_t offsets;
  uint64_t reading; /* when it was good last */
  uint64_t max;
  struct distribution of;
};

struct kept {
  uint64_t reading;
  struct entry *entry;
  size_t entries, room; /* room: a power of two, or 0 */
};

struct kept *kept_new(void) {
  return allocate(1, sizeof(struct kept));
}

void kept_free(struct kept *k) {
  if (!k)
    return;
  for (size_t i = 0; i < k->room; i++)
    free(k->entry[i].of.bucket);
  free(k->entry);
  free(k);
}

void kept_next(struct kept *k) {
  k->reading++;
}

static struct entry *entry_of(const struct kept *k, uint32_t first) {
  size_t at = (first * (uint64_t)0x9e3779b97f4a7c15) >> 32;
  for (at &= k->room - 1; k->entry[at].first && k->entry[at].first != first;)
    at = (at + 1) & (k->room - 1);
  return &k->entry[at];
}

static bool is_fresh(const struct profile *p, const uint32_t *offset, size_t offsets) {
  for (size_t i = 0; i < offsets; i++)
    if (profile_is_fresh(p, offset[i]))
      return true;
  return false;
}

bool kept_get(struct kept *k, struct arena *arena, const struct profile *p, const uint32_t *offset,
              size_t offsets, uint64_t max, struct distribution *of) {
  struct entry *e = k->room ? entry_of(k, offset[0]) : NULL;
  if (!e || !e->first || e->offsets != offsets || e->max != max || e->reading + 1 < k->reading ||
      (e->reading < k->reading && is_fresh(p, offset, offsets)))
    return false;
  e->reading = k->reading;
  *of = e->of;
  of->bucket = arena_get(arena, of->count, sizeof *of->bucket);
  memcpy(of->bucket, e->of.bucket, of->count * sizeof *of->bucket);
  return true;
}

static void grow(struct kept *k) {
  struct kept larger = {.room = k->room ? k->room * 2 : 256};
  larger.entry = allocate(larger.room, sizeof *larger.entry);
  for (size_t i = 0; i < k->room; i++)
    if (k->entry[i].first)
      *entry_of(&larger, k->entry[i].first) = k->entry[i];
  free(k->entry);
  k->entry = larger.entry;
  k->room = larger.room;
}

void kept_put(struct kept *k, const uint32_t *offset, size_t offsets, uint64_t max,
              const struct distribution *of) {
  if (k->entries * 2 >= k->room)
    grow(k);
  struct entry *e = entry_of(k, offset[0]);
  k->entries += !e->first;
  struct bucket *copy = reallocate(e->of.bucket, of->count + !of->count, sizeof *copy);
  memcpy(copy, of->bucket, of->count * sizeof *copy);
  *e = (struct entry){offset[0], (uint32_t)offsets, k->reading, max, *of};
  e->of.bucket = copy;
}
