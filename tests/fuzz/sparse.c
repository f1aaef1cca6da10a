/* Sparse images; see sparse.h. */
#include "sparse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEAD = 6, GAP = 16, LONGEST = 4096 };

uint32_t sparse_size(const uint8_t *image, size_t size) {
  uint32_t value = 0;
  if (size >= SPARSE_FIRST)
    memcpy(&value, image, sizeof value);
  return value;
}

size_t sparse_next(const uint8_t *image, size_t size, size_t at, struct sparse_piece *piece) {
  uint16_t length;
  if (size < HEAD || at > size - HEAD)
    return 0;
  memcpy(&piece->offset, image + at, sizeof piece->offset);
  memcpy(&length, image + at + 4, sizeof length);
  piece->at = at + HEAD;
  piece->length = length < size - piece->at ? length : size - piece->at;
  return piece->at + piece->length;
}

int sparse_expand(const uint8_t *image, size_t size) {
  size_t whole = sparse_size(image, size) & ~SPARSE_LIVE;
  struct sparse_piece piece;
  if (whole > SPARSE_LIMIT)
    whole = SPARSE_LIMIT;
  int fd = memfd_create("fuzzed", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, (off_t)whole)) {
    close(fd);
    return -1;
  }
  for (size_t at = SPARSE_FIRST; (at = sparse_next(image, size, at, &piece)) != 0;) {
    size_t length = piece.length;
    if (piece.offset >= whole)
      continue;
    if (length > whole - piece.offset)
      length = whole - piece.offset;
    if (pwrite(fd, image + piece.at, length, (off_t)piece.offset) != (ssize_t)length) {
      close(fd);
      return -1;
    }
  }
  return fd;
}

/* The first byte from `at` on that is followed by GAP zeros, or the end. */
static size_t end_of_piece(const uint8_t *bytes, size_t length, size_t at) {
  size_t zeros = 0, begin = at;
  while (at < length && zeros < GAP && at - begin < LONGEST)
    zeros = bytes[at++] ? 0 : zeros + 1;
  return at - zeros;
}

uint8_t *sparse_pack(const uint8_t *bytes, size_t length, size_t *size) {
  uint8_t *image = malloc(SPARSE_FIRST + length * (HEAD + 1));
  uint32_t whole = (uint32_t)length;
  memcpy(image, &whole, sizeof whole);
  *size = SPARSE_FIRST;
  for (size_t at = 0; at < length;) {
    if (!bytes[at]) {
      at++;
      continue;
    }
    size_t end = end_of_piece(bytes, length, at);
    uint32_t offset = (uint32_t)at;
    uint16_t piece = (uint16_t)(end - at);
    memcpy(image + *size, &offset, sizeof offset);
    memcpy(image + *size + 4, &piece, sizeof piece);
    memcpy(image + *size + HEAD, bytes + at, piece);
    *size += HEAD + piece;
    at = end;
  }
  return image;
}
/* SPDX-License-Identifier: MIT */
