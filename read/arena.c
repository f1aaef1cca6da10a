/* SPDX-License-Identifier: MIT */
/* Memory that is given back at once; see arena.h. */
#include "arena.h"

#include "util.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16 };

struct arena_chunk {
  struct arena_chunk *before;
  _Alignas(ALIGNMENT) char bytes[];
};

void *arena_get(struct arena *a, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
    return allocate(SIZE_MAX, 1); /* which ends here */
  bytes = (bytes + (bytes == 0) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (a->room - a->used < bytes) {
    size_t room = bytes > ARENA_CHUNK ? bytes : ARENA_CHUNK;
    struct arena_chunk *chunk = allocate(1, sizeof *chunk + room);
    chunk->before = a->last;
    a->last = chunk;
    a->before += a->room;
    a->used = 0;
    a->room = room;
  }
  a->used += bytes;
  return a->last->bytes + a->used - bytes;
}

const char *arena_text(struct arena *a, const char *text) {
  if (!text)
    return NULL;
  size_t size = strlen(text) + 1;
  return memcpy(arena_get(a, size, 1), text, size);
}

void arena_free(struct arena *a) {
  for (struct arena_chunk *chunk = a->last, *before; chunk; chunk = before) {
    before = chunk->before;
    free(chunk);
  }
  *a = (struct arena){0};
}
