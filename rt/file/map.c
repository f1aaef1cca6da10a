/* SPDX-License-Identifier: MIT */
/* Maps that only grow; see map.h. What is once in a segment stays as it is, so a look-up
   that still goes on in one that was replaced finds what was there before. */
#include "map.h"

#include "arena.h"

#define SLOTS 512u             /* of a segment: two pages */
#define ENOUGH (SLOTS / 4 * 3) /* taken: beyond, it is replaced by two */

struct segment {
  uint32_t used, depth;
  uint64_t key[SLOTS];
  uint32_t number[SLOTS]; /* atomic, written last; 0: free */
};

static uint32_t hash_of(uint64_t key) {
  return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32);
}

/* Where the key is, or would be; and its number, or 0. Both are told by one look at the slot:
   another key may be put there behind it. */
static uint32_t slot_of(const struct segment *s, uint64_t key, uint32_t *number) {
  uint32_t slot = hash_of(key) % SLOTS;
  while ((*number = __atomic_load_n(&s->number[slot], __ATOMIC_ACQUIRE)) != 0 &&
         s->key[slot] != key)
    slot = (slot + 1) % SLOTS;
  return slot;
}

static void put(struct segment *s, uint64_t key, uint32_t number) {
  uint32_t none, slot = slot_of(s, key, &none);
  s->key[slot] = key;
  __atomic_store_n(&s->number[slot], number, __ATOMIC_RELEASE);
  s->used++;
}

static struct segment *segment_new(uint32_t depth) {
  struct segment *s = arena_chunk(APROF_CHUNK_PRIVATE, 0, 0, 1, sizeof *s);
  if (s != NULL)
    s->depth = depth;
  return s;
}

/* Two for one, complete before they are found. */
static bool split(struct map *map, const struct segment *full, uint32_t hash) {
  uint32_t depth = full->depth;
  struct segment *half[2];
  if (!directory_reach(&map->directory, depth + 1) || (half[0] = segment_new(depth + 1)) == NULL ||
      (half[1] = segment_new(depth + 1)) == NULL)
    return false;
  for (uint32_t i = 0; i < SLOTS; i++)
    if (full->number[i] != 0)
      put(half[hash_of(full->key[i]) << depth >> 31], full->key[i], full->number[i]);
  directory_replace(map->directory, hash, depth, half[0], half[1]);
  return true;
}

bool map_start(struct map *map) {
  struct directory *directory;
  struct segment *first = segment_new(0);
  if (first == NULL || !directory_first(&directory))
    return false;
  directory->segment[0] = first;
  __atomic_store_n(&map->directory, directory, __ATOMIC_RELEASE);
  return true;
}

uint32_t map_find(const struct map *map, uint64_t key) {
  const struct segment *s = directory_at(&map->directory, hash_of(key));
  uint32_t number;
  slot_of(s, key, &number);
  return number;
}

bool map_add(struct map *map, uint64_t key, uint32_t number) {
  uint32_t hash = hash_of(key);
  struct segment *s = directory_at(&map->directory, hash);
  while (s->used >= ENOUGH) {
    if (!split(map, s, hash)) {
      if (s->used >= SLOTS - 1)
        return false;
      break;
    }
    s = directory_at(&map->directory, hash);
  }
  put(s, key, number);
  return true;
}

void map_change(struct map *map, uint64_t key, uint32_t number) {
  struct segment *s = directory_at(&map->directory, hash_of(key));
  uint32_t before, slot = slot_of(s, key, &before);
  __atomic_store_n(&s->number[slot], number, __ATOMIC_RELEASE);
}

void map_each(const struct map *map, void (*each)(uint64_t key, uint32_t number, void *with),
              void *with) {
  const struct directory *d = map->directory;
  const struct segment *before = NULL;
  for (uint32_t i = 0; d != NULL && i < 1u << directory_depth(d); i++) {
    const struct segment *s = d->segment[i];
    for (uint32_t slot = 0; s != before && slot < SLOTS; slot++)
      if (s->number[slot] != 0)
        each(s->key[slot], s->number[slot], with);
    before = s;
  }
}
