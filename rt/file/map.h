/* SPDX-License-Identifier: MIT */
/* A map from 64-bit keys to numbers that only grows: look-ups take no lock, and no event pays for
   more than one segment of growth. */
#ifndef APROF_RT_MAP_H
#define APROF_RT_MAP_H

#include "directory.h"

struct map {
  struct directory *directory; /* NULL: not started */
};

/* Empty. False: no memory. rt.lock held. */
bool map_start(struct map *map);

/* The number of this key; 0: it has none, or another thread is just adding it. Any thread,
   async-signal-safe; exact under rt.lock. */
uint32_t map_find(const struct map *map, uint64_t key);

/* The key, which has none, has this number from here on. False: no memory, it has none
   still. rt.lock held. */
bool map_add(struct map *map, uint64_t key, uint32_t number);

/* The key, which has a number, has this one from here on: to who looks under rt.lock, too. */
void map_change(struct map *map, uint64_t key, uint32_t number);

/* Calls `each` with every key. rt.lock held. */
void map_each(const struct map *map, void (*each)(uint64_t key, uint32_t number, void *with),
              void *with);

#endif
