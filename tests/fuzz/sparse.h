/*
 * Sparse images: how profiles are kept in the corpus.
 *
 * Purpose: a profile is mostly zeros at fixed offsets. An image is its size, then
 * pieces of it, each with its own offset, so that a fuzzer which makes one piece
 * longer does not move all others. All numbers are little-endian:
 *     size:u32  { offset:u32  length:u16  bytes }...
 * Cost: the expanded file, at most SPARSE_LIMIT. Locking: none.
 */
#ifndef TESTS_FUZZ_SPARSE_H
#define TESTS_FUZZ_SPARSE_H

#include <stddef.h>
#include <stdint.h>

#define SPARSE_LIMIT ((size_t)4 << 20)
#define SPARSE_LIVE 0x80000000u /* in the size: read it as a live process's */

struct sparse_piece {
  uint32_t offset;
  size_t length, at; /* at: of its bytes within the image */
};

/* The piece whose head lies at `at` of the image, cut where the image ends. Returns
   where the next one is, 0 where there is none. */
size_t sparse_next(const uint8_t *image, size_t size, size_t at, struct sparse_piece *piece);
#define SPARSE_FIRST 4u

/* The size and flag at its beginning; 0 for an image too short for them. */
uint32_t sparse_size(const uint8_t *image, size_t size);

/* An open, unlinked file that holds the expanded image; -1 with errno. */
int sparse_expand(const uint8_t *image, size_t size);

/* The image of `bytes`; malloc'd. */
uint8_t *sparse_pack(const uint8_t *bytes, size_t length, size_t *size);

#endif
/* SPDX-License-Identifier: MIT */
