/* SPDX-License-Identifier: MIT */
/*
 * A piece of a file, read from its beginning on. Nothing in it is believed: what would lie behind
 * its end is 0, and `short_of` says that it was asked for. Shared by nearby.c and nearby-line.c.
 */
#ifndef APROF_READ_NEARBY_BYTES_H
#define APROF_READ_NEARBY_BYTES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
  const unsigned char *at, *end;
  bool short_of; /* something would have been behind the end, or is of no known kind */
};

static inline uint64_t fixed(struct bytes *b, size_t size) {
  uint64_t value = 0;
  if ((size_t)(b->end - b->at) < size || size > sizeof value) {
    b->short_of = true;
    b->at = b->end;
    return 0;
  }
  memcpy(&value, b->at, size); /* their order is nearby_native's to look at */
  b->at += size;
  return value;
}

static inline void skip(struct bytes *b, uint64_t size) {
  if ((uint64_t)(b->end - b->at) < size)
    b->short_of = true;
  b->at = b->short_of ? b->end : b->at + size;
}

static inline const char *text(struct bytes *b) {
  const char *found = (const char *)b->at;
  const void *end = memchr(b->at, 0, (size_t)(b->end - b->at));
  if (!end) {
    b->short_of = true;
    b->at = b->end;
    return NULL;
  }
  b->at = (const unsigned char *)end + 1;
  return found;
}

static inline const char *text_at(struct bytes of, uint64_t offset) {
  skip(&of, offset);
  return of.short_of ? NULL : text(&of);
}

/* A file of 64 bits whose numbers have their low bytes first, as this machine's, and that is loaded
   as it lies there. */
bool nearby_native(Elf *);

#endif
