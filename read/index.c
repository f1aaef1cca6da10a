/* SPDX-License-Identifier: MIT */
/* What belongs together, found by a text; see index.h. */
#include "index.h"

#include "util.h"

#include <stdlib.h>
#include <string.h>

struct index_entry {
  char *key; /* NULL: free */
  const void *value;
  uint64_t hash;
};

void index_new(struct index *x, size_t room) {
  x->used = 0;
  for (x->room = 16; x->room < room * 2;)
    x->room *= 2;
  x->entry = allocate(x->room, sizeof *x->entry);
}

void index_free(struct index *x) {
  for (size_t i = 0; i < x->room; i++)
    free(x->entry[i].key);
  free(x->entry);
}

/* FNV-1a; its upper bits are the better ones. */
static uint64_t hash_of(const char *key) {
  uint64_t hash = 0xcbf29ce484222325u;
  while (*key)
    hash = (hash ^ (unsigned char)*key++) * 0x100000001b3u;
  return hash ^ hash >> 32;
}

static struct index_entry *find(const struct index *x, const char *key, uint64_t hash) {
  size_t at = hash & (x->room - 1);
  while (x->entry[at].key && (x->entry[at].hash != hash || strcmp(x->entry[at].key, key)))
    at = (at + 1) & (x->room - 1);
  return &x->entry[at];
}

static void widen(struct index *x) {
  struct index wider = {.entry = allocate(x->room * 2, sizeof *x->entry), .room = x->room * 2};
  for (size_t i = 0; i < x->room; i++)
    if (x->entry[i].key)
      *find(&wider, x->entry[i].key, x->entry[i].hash) = x->entry[i];
  free(x->entry);
  x->entry = wider.entry;
  x->room = wider.room;
}

void index_put(struct index *x, char *key, const void *value) {
  uint64_t hash = hash_of(key);
  struct index_entry *entry = find(x, key, hash);
  if (entry->key) {
    free(key);
    return;
  }
  *entry = (struct index_entry){.key = key, .value = value, .hash = hash};
  if (2 * ++x->used > x->room)
    widen(x);
}

const void *index_get(const struct index *x, char *key) {
  const void *value = find(x, key, hash_of(key))->value;
  free(key);
  return value;
}
