/* SPDX-License-Identifier: MIT */
/* Chunks of the profile: the only allocator. Bump allocation under rt.lock; nothing is ever given
   back. */
#include <string.h>

#include "arena.h"

#include "profile.h"
#include "rt/rt.h"

#define ROUND_UP(n, to) (((n) + (to)-1) / (to) * (to))
#define STRINGS_CHUNK (64u * 1024u)
#define STRINGS_CACHE 256u

static uint64_t strings_next, strings_end;
static uint32_t strings_seen[STRINGS_CACHE]; /* by hash: offset / 8 of the last such */

void arena_reset(void) {
  strings_next = strings_end = 0;
  memset(strings_seen, 0, sizeof strings_seen);
}

void *arena_chunk(uint32_t type, uint32_t owner, uint32_t first, uint32_t count, uint32_t element) {
  uint64_t size = ROUND_UP(sizeof(struct aprof_chunk) + (uint64_t)count * element, APROF_PAGE);
  uint64_t at = rt.header->used;
  if (at + size > rt.capacity || !profile_commit(at + size))
    return NULL;
  struct aprof_chunk *chunk = (struct aprof_chunk *)(rt_base() + at);
  chunk->size = size;
  chunk->owner = owner;
  chunk->first = first;
  chunk->count = count;
  chunk->element = element;
  publish_fence();
  __atomic_store_n(&rt.header->used, at + size, __ATOMIC_RELEASE);
  if (type != APROF_CHUNK_FUTURES && type != APROF_CHUNK_KINDS && type != APROF_CHUNK_BLOCK &&
      type != APROF_CHUNK_RING)
    __atomic_store_n(&chunk->type, type, __ATOMIC_RELEASE);
  return chunk + 1;
}

void arena_publish(void *elements, uint32_t type) {
  struct aprof_chunk *chunk = (struct aprof_chunk *)elements - 1;
  __atomic_store_n(&chunk->type, type, __ATOMIC_RELEASE);
}

#define STRING_LENGTH 4095u /* what is longer is cut */

/* Events come here, so this calls no function of libc: a program may define it itself, and its body
   would run in the middle of an event. */
static size_t measure(const char *text, uint32_t *hash) {
  size_t length = 0;
  uint32_t h = 2166136261u;
  for (; length < STRING_LENGTH && text[length] != '\0'; length++)
    h = (h ^ (unsigned char)text[length]) * 16777619u;
  *hash = h;
  return length;
}

static bool is_same(const char *old, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (old[i] != text[i])
      return false;
  return old[length] == '\0';
}

uint32_t arena_string(const char *text) {
  if (text == NULL)
    return 0;
  uint32_t hash;
  size_t length = measure(text, &hash);
  uint32_t *seen = &strings_seen[hash % STRINGS_CACHE];
  if (*seen != 0 && is_same(at_offset(*seen), text, length))
    return *seen;
  uint64_t room = ROUND_UP(length + 1, 8);
  if (strings_next + room > strings_end) {
    char *chunk = arena_chunk(APROF_CHUNK_STRINGS, 0, 0,
                              STRINGS_CHUNK - (uint32_t)sizeof(struct aprof_chunk), 1);
    if (chunk == NULL)
      return 0;
    strings_next = (uint64_t)(chunk - rt_base());
    strings_end = strings_next + STRINGS_CHUNK - sizeof(struct aprof_chunk);
  }
  char *copy = rt_base() + strings_next;
  memcpy(copy, text, length);
  copy[length] = '\0';
  *seen = (uint32_t)(strings_next >> 3);
  strings_next += room;
  return *seen;
}
