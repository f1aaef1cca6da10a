/* SPDX-License-Identifier: MIT */
/* Images of a profile in a recording; see image.h. */
#include "image.h"

#include "read/profile-copy.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { RANGE_MOST = 64 * APROF_PAGE };

/* Sums of pages that have none; those of others are odd. */
enum { NEVER_WRITTEN = 0, TO_BE_WRITTEN = 2, EMPTIED = 4 };

struct image {
  struct trace_writer *to;
  enum trace_image which;
  unsigned char *room; /* of the frame that is being filled */
  size_t used;
  uint32_t *sum; /* by page: of what was written of it last, in whichever file */
  uint64_t pages;
  struct aprof_header header; /* as it was then */
};

struct image *image_new(void) {
  struct image *i = allocate(1, sizeof *i);
  i->room = allocate(1, TRACE_RAW_MOST);
  return i;
}

void image_free(struct image *i) {
  if (!i)
    return;
  free(i->room);
  free(i->sum);
  free(i);
}

/* -- ranges ------------------------------------------------------------------------- */

static void flush(struct image *i) {
  struct trace_frame frame = {.type = TRACE_IMAGE, .block = i->which};
  if (i->used)
    trace_write(i->to, &frame, i->room, i->used);
  i->used = 0;
}

static void put(struct image *i, const void *from, size_t size, uint64_t at) {
  struct trace_range range = {.at = at, .size = size};
  if (TRACE_RAW_MOST - i->used < sizeof range + size)
    flush(i);
  memcpy(i->room + i->used, &range, sizeof range);
  memcpy(i->room + i->used + sizeof range, from, size);
  i->used += sizeof range + size;
}

static bool is_zero(const unsigned char *page, size_t size) {
  return !size || (!page[0] && !memcmp(page, page + 1, size - 1));
}

/* Whether that page is not what it was when it was written last. An empty one is not written,
   unless it was something else before: a reset empties counters. */
static bool is_new(struct image *i, const unsigned char *page, size_t size, uint64_t at) {
  uint64_t number = at / APROF_PAGE;
  if (i->pages <= number) {
    uint64_t pages = number + number / 2 + 64;
    i->sum = reallocate(i->sum, pages, sizeof *i->sum);
    memset(i->sum + i->pages, 0, (pages - i->pages) * sizeof *i->sum);
    i->pages = pages;
  }
  uint32_t sum = (uint32_t)crc32(1, page, (uInt)size) | 1u;
  if (is_zero(page, size))
    sum = i->sum[number] == NEVER_WRITTEN ? NEVER_WRITTEN : EMPTIED;
  bool changed = i->sum[number] != sum;
  i->sum[number] = sum;
  return changed;
}

/* Pages of a chunk that have something new, as few ranges. `at`: of the first byte. */
static void put_pages(struct image *i, const unsigned char *from, uint64_t size, uint64_t at) {
  uint64_t begin = 0, end = 0; /* of the range that is being found */
  for (uint64_t done = 0; done < size;) {
    uint64_t length = APROF_PAGE - (at + done) % APROF_PAGE;
    length = length < size - done ? length : size - done;
    if (is_new(i, from + done, length, at + done)) {
      if (end != done || end - begin + length > RANGE_MOST) {
        if (end > begin)
          put(i, from + begin, end - begin, at + begin);
        begin = done;
      }
      end = done + length;
    }
    done += length;
  }
  if (end > begin)
    put(i, from + begin, end - begin, at + begin);
}

/* -- what is wanted ------------------------------------------------------------------- */

enum want { NOTHING, WHOLE, NAMES };

static enum want want_of(uint32_t type) {
  switch (type) {
  case APROF_CHUNK_SITES:
  case APROF_CHUNK_STRINGS:
  case APROF_CHUNK_NODES:
  case APROF_CHUNK_MODULES:
  case APROF_CHUNK_KINDS:
    return NAMES;
  case APROF_CHUNK_BLOCK:
  case APROF_CHUNK_COUNTERS:
  case APROF_CHUNK_FUTURES:
  case APROF_CHUNK_REQUESTS:
  case APROF_CHUNK_SHARES:
    return WHOLE;
  default:
    return NOTHING;
  }
}

static void begin(struct image *i, struct trace_writer *to, enum trace_image which) {
  i->to = to;
  i->which = which;
  i->used = 0;
}

void image_write(struct image *i, struct trace_writer *to, const struct profile *p,
                 enum trace_image which) {
  begin(i, to, which);
  for (uint64_t n = 0; n < i->pages; n++)
    if (i->sum[n] != NEVER_WRITTEN)
      i->sum[n] = TO_BE_WRITTEN;
  i->header = p->header;
  put(i, &p->header, sizeof p->header, 0);
  for (size_t n = 0; n < p->parts; n++) {
    const struct profile_part *part = &p->part[n];
    if (part->type && part->at + part->size <= p->size) {
      put(i, p->data + part->at, sizeof(struct aprof_chunk), part->at);
      if (want_of(part->type) != NOTHING)
        put_pages(i, p->data + part->at + sizeof(struct aprof_chunk),
                  part->size - sizeof(struct aprof_chunk), part->at + sizeof(struct aprof_chunk));
    }
  }
  flush(i);
  struct trace_frame mark = {.type = TRACE_MARK,
                             .block = which,
                             .number = p->consistent,
                             .first = profile_now(p, true, 0)};
  trace_write(to, &mark, NULL, 0);
}

/* -- what has come ---------------------------------------------------------------------- */

static bool has_names(const struct aprof_header *a, const struct aprof_header *b) {
  return a->sites != b->sites || a->nodes != b->nodes || a->modules != b->modules ||
         a->kinds != b->kinds || memcmp(a->tier_names, b->tier_names, sizeof a->tier_names) != 0;
}

static void add_chunk(struct image *i, int fd, uint64_t at, const struct aprof_chunk *chunk) {
  unsigned char pages[16 * APROF_PAGE];
  put(i, chunk, sizeof *chunk, at);
  if (want_of(chunk->type) != NAMES)
    return;
  for (uint64_t done = sizeof *chunk; done < chunk->size;) {
    uint64_t size = sizeof pages - (at + done) % APROF_PAGE;
    size = size < chunk->size - done ? size : chunk->size - done;
    size_t got = profile_read_at(fd, pages, size, at + done);
    put_pages(i, pages, got, at + done);
    if (got < size)
      return;
    done += got;
  }
}

void image_add(struct image *i, struct trace_writer *to, int fd) {
  struct aprof_header now;
  if (!profile_read_header(fd, "", &now, true) || !has_names(&now, &i->header))
    return;
  begin(i, to, TRACE_LATER);
  put(i, &now, sizeof now, 0);
  i->header = now;
  struct aprof_chunk chunk;
  for (uint64_t at = APROF_HEADER_SIZE;
       at < now.used && profile_read_at(fd, &chunk, sizeof chunk, at) == sizeof chunk;) {
    bool fits = chunk.size && chunk.size % APROF_PAGE == 0 && chunk.size <= now.used - at;
    if (fits && chunk.type)
      add_chunk(i, fd, at, &chunk);
    at += fits ? chunk.size : APROF_PAGE;
  }
  flush(i);
}
