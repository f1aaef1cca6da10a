/* SPDX-License-Identifier: MIT */
/* Segments of the table of keys, from when they are made until they are used again; see key-
   segments.c. rt.lock held. */
#ifndef APROF_RT_KEY_SEGMENTS_H
#define APROF_RT_KEY_SEGMENTS_H

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

#define KEY_WORDS 1024u
#define KEY_ENOUGH (KEY_WORDS / 2) /* words ever taken: beyond, a segment is replaced */
#define KEY_SPARSE 7u /* bits of the directory: a table of so few segments is kept half as full */
#define KEY_TOMB 1u   /* in a word: of a future that went; the header lies at this index */

struct key_segment {
  uint32_t used;             /* words that were ever taken, or are never to be; atomic */
  uint32_t depth;            /* upper bits of the hash that all keys here share; rt.lock */
  struct key_segment *older; /* whose words are still being copied; atomic */
  uint32_t replaced;         /* its words are copied elsewhere from here on; atomic */
  uint32_t retired;          /* mark: no look-up that began behind it finds it; rt.lock */
  uint32_t spared;           /* of `used`: words that are never to be; rt.lock */
  uint32_t reserved;
  struct key_segment *next; /* of those that cannot; rt.lock */
  uint64_t word[KEY_WORDS]; /* hash << 32 | index; 0: never taken */
};

/* Words of a segment that stay free. Look-ups hardly ever pass by other keys then, which a large
   table's memory is not worth. */
static inline uint32_t key_spared(uint32_t depth) {
  return depth < KEY_SPARSE ? KEY_WORDS / 4 : 0;
}
/* An empty one, whose keys share so many bits of the hash. NULL: no memory. */
struct key_segment *key_segment_new(uint32_t depth);
/* No look-up that begins now finds it any more. */
void key_segment_retire(struct key_segment *segment);
void key_segments_reset(void);

#pragma GCC visibility pop

#endif
