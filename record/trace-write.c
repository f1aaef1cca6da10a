/* SPDX-License-Identifier: MIT */
/* Writes the file of a recording; see trace-write.h. */
#include "trace-write.h"

#include "read/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* The fastest: a recorder must not fall behind. */
enum { LEVEL = 1 };

struct trace_writer {
  int fd, error;
  uint64_t written;
  struct trace_writer *other; /* has the same; or NULL */
  unsigned char *stored;
#ifdef HAVE_ZSTD
  ZSTD_CCtx *zstd;
#endif
};

static void put(struct trace_writer *w, const void *from, size_t size) {
  for (size_t done = 0; done < size && !w->error;) {
    ssize_t some = write(w->fd, (const char *)from + done, size - done);
    if (some < 0 && errno != EINTR)
      w->error = errno;
    if (some > 0) {
      done += (size_t)some;
      w->written += (size_t)some;
    }
  }
}

struct trace_writer *trace_writer_new(int fd, const struct trace_header *header) {
  struct trace_writer *w = allocate(1, sizeof *w);
  w->fd = fd;
  w->stored = allocate(1, TRACE_STORED_MOST);
#ifdef HAVE_ZSTD
  w->zstd = ZSTD_createCCtx();
#endif
  put(w, header, sizeof *header);
  return w;
}

void trace_writer_join(struct trace_writer *one, struct trace_writer *other) {
  one->other = other;
}

void trace_writer_move(struct trace_writer *w, int to) {
  int from = w->fd;
  uint64_t size = w->written;
  w->fd = to;
  w->written = 0;
  w->other = NULL;
  while (w->written < size && !w->error) {
    uint64_t left = size - w->written;
    size_t wanted = left < TRACE_STORED_MOST ? (size_t)left : TRACE_STORED_MOST;
    ssize_t some = pread(from, w->stored, wanted, (off_t)w->written);
    if (some > 0)
      put(w, w->stored, (size_t)some);
    else if (some == 0 || errno != EINTR)
      w->error = some ? errno : EIO;
  }
}

/* Bytes that it takes in w->stored; 0: it is better left as it is. */
static size_t pack(struct trace_writer *w, const void *raw, size_t size) {
#ifdef HAVE_ZSTD
  size_t packed =
      w->zstd ? ZSTD_compressCCtx(w->zstd, w->stored, TRACE_STORED_MOST, raw, size, LEVEL) : size;
  return !ZSTD_isError(packed) && packed < size ? packed : 0;
#else
  (void)w, (void)raw, (void)size;
  return 0;
#endif
}

void trace_write(struct trace_writer *w, const struct trace_frame *frame, const void *raw,
                 size_t size) {
  struct trace_frame head = *frame;
  size_t packed = pack(w, raw, size);
  const void *stored = packed ? w->stored : raw;
  head.magic = TRACE_FRAME_MAGIC;
  head.flags = packed ? TRACE_PACKED : 0;
  head.raw = (uint32_t)size;
  head.stored = (uint32_t)(packed ? packed : size);
  head.check = 0;
  head.reserved = 0;
  uLong check = crc32(0, (const Bytef *)&head, sizeof head);
  head.check = (uint32_t)(size ? crc32(check, stored, head.stored) : check);
  for (struct trace_writer *to = w; to; to = to->other) {
    put(to, &head, sizeof head);
    put(to, stored, head.stored);
  }
}

uint64_t trace_written(const struct trace_writer *w) {
  return w->written;
}

int trace_write_error(const struct trace_writer *w) {
  return w->error;
}

void trace_writer_free(struct trace_writer *w) {
  if (!w)
    return;
#ifdef HAVE_ZSTD
  ZSTD_freeCCtx(w->zstd);
#endif
  free(w->stored);
  free(w);
}
