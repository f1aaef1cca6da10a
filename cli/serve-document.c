/* SPDX-License-Identifier: MIT */
/* Shared texts; see serve-document.h. */
#include "serve-document.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

enum { GOOD_FOR = 10 }; /* times what it cost */

static size_t held;

int64_t monotonic_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void keep(struct document *d, bool kept) {
  size_t bytes = d ? d->length + (d->packed ? d->packed->length : 0) : 0;
  if (!d || d->kept == kept)
    return;
  d->kept = kept;
  held = kept ? held - bytes : held + bytes;
}

struct document *document_make(document_writer *write, void *context) {
  struct document *d = allocate(1, sizeof *d);
  FILE *out = open_memstream(&d->bytes, &d->length);
  bool written = out && write(context, out);
  if (!out || fclose(out) || !written) {
    free(d->bytes);
    free(d);
    return NULL;
  }
  d->holders = 1;
  held += d->length;
  return d;
}

struct document *document_hold(struct document *d) {
  if (d)
    d->holders++;
  return d;
}

void document_release(void *document) {
  struct document *d = document;
  if (!d || --d->holders)
    return;
  document_release(d->packed);
  held -= d->length;
  free(d->bytes);
  free(d);
}

/* -- packed --------------------------------------------------------------------------------- */

const char *packing_head(void) {
  static const char head[PACKED_HEAD] = {0x1f, (char)0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3};
  return head;
}

static void put_little(char *to, uint32_t number) {
  for (int i = 0; i < 4; i++)
    to[i] = (char)(number >> 8 * i);
}

static uint32_t get_little(const char *from) {
  uint32_t number = 0;
  for (int i = 0; i < 4; i++)
    number |= (uint32_t)(unsigned char)from[i] << 8 * i;
  return number;
}

void packing_end(const struct packing *p, char end[PACKED_END]) {
  end[0] = 3; /* the last block, which is empty */
  end[1] = 0;
  put_little(end + 2, p->crc);
  put_little(end + 6, (uint32_t)p->length);
}

void packing_add(struct packing *p, const struct document *packed) {
  const char *end = packed->bytes + packed->length - PACKED_END;
  uint32_t length = get_little(end + 6);
  p->crc = (uint32_t)crc32_combine(p->crc, get_little(end + 2), length);
  p->length += length;
}

/* The blocks between head and end; false without memory. */
static bool deflate_all(const struct document *d, struct document *to, size_t room) {
  z_stream z = {.next_in = (Bytef *)(void *)d->bytes,
                .avail_in = (uInt)d->length,
                .next_out = (Bytef *)(void *)(to->bytes + PACKED_HEAD),
                .avail_out = (uInt)(room - PACKED_HEAD - PACKED_END)};
  if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return false;
  bool done = deflate(&z, Z_FULL_FLUSH) == Z_OK && !z.avail_in && z.avail_out;
  to->length = PACKED_HEAD + z.total_out;
  deflateEnd(&z);
  return done;
}

struct document *document_packed(struct document *d) {
  if (d->packed || d->length > UINT32_MAX / 2)
    return d->packed;
  struct document *to = allocate(1, sizeof *to);
  size_t room = PACKED_HEAD + PACKED_END + compressBound(d->length) + 64;
  to->bytes = allocate(room, 1);
  to->holders = 1;
  if (!deflate_all(d, to, room)) {
    free(to->bytes);
    free(to);
    return NULL;
  }
  memcpy(to->bytes, packing_head(), PACKED_HEAD);
  const struct packing p = {(uint32_t)crc32(0, (const Bytef *)d->bytes, (uInt)d->length),
                            d->length};
  packing_end(&p, to->bytes + to->length);
  to->length += PACKED_END;
  to->bytes = reallocate(to->bytes, to->length, 1);
  held += d->kept ? 0 : to->length;
  return d->packed = to;
}

size_t documents_held(void) {
  return held;
}

static void latest_forget(struct latest *k) {
  keep(k->document, false);
  document_release(k->document);
  k->document = NULL;
}

struct document *latest_get(struct latest *k, document_writer *write, void *context) {
  int64_t begin = monotonic_now();
  if (begin >= k->good_until) {
    latest_forget(k);
    k->document = document_make(write, context);
    keep(k->document, true);
    k->made = monotonic_now();
    k->cost = k->made - begin;
    k->good_until = k->made + GOOD_FOR * k->cost;
  }
  return document_hold(k->document);
}

void latest_drop(struct latest *k) {
  latest_forget(k);
  *k = (struct latest){0};
}
