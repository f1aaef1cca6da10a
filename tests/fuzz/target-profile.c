/*
 * Fuzz target: the profile reader, from bytes to report.
 *
 * Input: a sparse image (sparse.h). What is asked: totals of it are made or
 * refused, and totals that were made are JSON that the report reads.
 */
#include "cli/find.h"
#include "read/json.h"
#include "read/verify.h"
#include "read/view.h"
#include "show/report.h"
#include "show/totals.h"
#include "sparse.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

/* Of another version it would be refused at its twelfth byte: an image of an older layout
   is as good a hostile one as any. */
static void make_current(int fd) {
  uint32_t version = APROF_PROFILE_VERSION;
  struct aprof_header header;
  off_t at = (off_t)offsetof(struct aprof_header, version);
  if (pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header)
    if (pwrite(fd, &version, sizeof version, at) < 0)
      abort();
}

/* A clock that is not fitted yet is measured for 20 ms: too long here. */
static bool may_be_live(int fd) {
  struct aprof_header header;
  return profile_read_header(fd, "fuzzed", &header, true) &&
         (header.clock_source != APROF_CLOCK_TSC || header.fit_mult);
}

/* Totals are JSON whatever they were made of, and only numbers that are beyond all
   that a report takes keep one from being made. */
static void report(const char *text, size_t length, FILE *out) {
  char *fault = NULL;
  cJSON *json = json_parse(text, length, &fault);
  if (!json)
    abort();
  struct view *v = view_read(json, "totals of a fuzzed profile", &fault);
  if (v) {
    report_json(v, &report_defaults, NULL, out);
    report_print(v, &report_defaults, out);
  }
  view_free(v);
  json_free(json);
  free(fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere;
  if (!nowhere)
    nowhere = fopen("/dev/null", "w");
  int fd = sparse_expand(data, size);
  if (fd < 0)
    return 0;
  make_current(fd);
  bool live = (sparse_size(data, size) & SPARSE_LIVE) && may_be_live(fd);
  struct view_request request = {.reason = live ? "request" : "recovered"};
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  bool made = totals_make(fd, "fuzzed", live ? PROFILE_LIVE : PROFILE_LEFT, &request, out);
  fclose(out);
  if (made)
    report(text, length, nowhere);
  free(text);
  close(fd);
  return 0;
}

/* -- mutations ------------------------------------------------------------------- */

static uint64_t state;

static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* Of the pieces of the image each is as likely; false where there is none. */
static bool any_piece(const uint8_t *data, size_t size, struct sparse_piece *chosen) {
  struct sparse_piece piece;
  size_t pieces = 0;
  for (size_t at = SPARSE_FIRST; (at = sparse_next(data, size, at, &piece)) != 0;)
    if (piece.length && next_random() % ++pieces == 0)
      *chosen = piece;
  return pieces != 0;
}

/* A number of the profile, aligned as the profile has it, becomes another one: an
   extreme, its neighbour, one from elsewhere, or an offset. */
static void change_number(uint8_t *data, size_t size, const struct sparse_piece *piece) {
  static const uint64_t extremes[] = {0,          1,          0x7fffffff, 0xffffffff,
                                      UINT64_MAX, 1ull << 63, 4096,       ~0xfffull};
  static const unsigned units[] = {1, 8, 64, 128, 4096};
  size_t width = next_random() % 2 ? 8 : next_random() % 4 ? 4 : 1;
  size_t skip = (width - piece->offset % width) % width;
  if (piece->length < skip + width)
    return;
  size_t fields = (piece->length - skip) / width;
  uint8_t *at = data + piece->at + skip + next_random() % fields * width;
  struct sparse_piece other;
  uint64_t value = 0;
  memcpy(&value, at, width);
  switch (next_random() % 5) {
  case 0:
    value = extremes[next_random() % (sizeof extremes / sizeof *extremes)];
    break;
  case 1:
    value += next_random() % 2 ? 1 : UINT64_MAX;
    break;
  case 2:
    value ^= 1ull << next_random() % (8 * width);
    break;
  case 3:
    value = next_random() % (sparse_size(data, size) + 1ull) / units[next_random() % 5];
    break;
  default:
    if (any_piece(data, size, &other) && other.length >= width)
      memcpy(&value, data + other.at + next_random() % (other.length - width + 1), width);
  }
  memcpy(at, &value, width);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
  struct sparse_piece piece;
  state = seed * 0x9e3779b97f4a7c15u + 1;
  if (next_random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, room);
  for (uint64_t changes = 1 + next_random() % 6; changes--;) {
    if (!any_piece(data, size, &piece))
      return LLVMFuzzerMutate(data, size, room);
    if (next_random() % 4)
      change_number(data, size, &piece);
    else if (piece.length >= 8) /* in place: what is inserted falls off the end */
      LLVMFuzzerMutate(data + piece.at + next_random() % (piece.length - 7), 8, 8);
  }
  return size;
}
/* SPDX-License-Identifier: MIT */
