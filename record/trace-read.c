/* SPDX-License-Identifier: MIT */
/* Reads the file of a recording; see trace-read.h. */
#include "trace-read.h"

#include "read/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum { STREAMS_MOST = 1 << 20 }; /* blocks that a profile may have */

static void *fail(struct trace_error *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void *fail(struct trace_error *why, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(why->text, sizeof why->text, format, list);
  va_end(list);
  return NULL;
}

/* -- the file -------------------------------------------------------------------- */

static const char *header_fault(const struct trace_header *h, size_t size) {
  if (size < sizeof h->magic || memcmp(h->magic, TRACE_MAGIC, sizeof h->magic))
    return "is not a recording; `aprof record' makes one";
  if (size < sizeof *h)
    return "ends within its header: its recorder was killed before it had begun";
  if (h->version != TRACE_VERSION || h->profile_version != APROF_PROFILE_VERSION)
    return "was recorded by another version of aprof; read it with that version's command";
  if (h->header_size != sizeof *h)
    return "is damaged: its header has an impossible size";
  if (!h->mult || h->clock_source < APROF_CLOCK_TSC || h->clock_source > APROF_CLOCK_VIRTUAL)
    return "is damaged: it names a clock that does not exist";
  return NULL;
}

/* False after a message. */
static bool open_file(struct trace *t, const char *path, struct trace_error *why) {
  struct stat st;
  t->fd = open_regular(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (t->fd < 0 || fstat(t->fd, &st)) {
    fail(why, "cannot open %s: %s", path, open_fault(errno));
    return false;
  }
  t->size = (uint64_t)st.st_size;
  return true;
}

bool trace_is(const char *path) {
  char magic[8];
  int fd = open_regular(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  bool is = read(fd, magic, sizeof magic) == (ssize_t)sizeof magic &&
            !memcmp(magic, TRACE_MAGIC, sizeof magic);
  close(fd);
  return is;
}

/* -- frames -------------------------------------------------------------------- */

/* By its sizes; whether its sum is right is looked at when it is read. */
static bool head_fits(const struct trace *t, uint64_t at, struct trace_frame *head) {
  return at < t->size && t->size - at >= sizeof *head &&
         profile_read_at(t->fd, head, sizeof *head, at) == sizeof *head &&
         head->magic == TRACE_FRAME_MAGIC && head->raw <= TRACE_RAW_MOST &&
         head->stored <= TRACE_STORED_MOST && head->stored <= t->size - at - sizeof *head &&
         (head->flags & TRACE_PACKED || head->stored == head->raw);
}

/* The stored bytes, if they are what was written. */
static bool sum_fits(const struct trace *t, const struct trace_part *part, void *stored) {
  struct trace_frame bare = part->head;
  bare.check = 0;
  uLong check = crc32(0, (const Bytef *)&bare, sizeof bare);
  return profile_read_at(t->fd, stored, bare.stored, part->at + sizeof bare) == bare.stored &&
         crc32(check, stored, bare.stored) == part->head.check;
}

int64_t trace_bytes(struct trace *t, uint32_t frame, void *room) {
  const struct trace_part *part = &t->frame[frame];
  if (!sum_fits(t, part, t->stored))
    return -1;
  if (!(part->head.flags & TRACE_PACKED)) {
    memcpy(room, t->stored, part->head.raw);
    return part->head.raw;
  }
#ifdef HAVE_ZSTD
  size_t got = ZSTD_decompressDCtx(t->unpacker, room, TRACE_RAW_MOST, t->stored, part->head.stored);
  return !ZSTD_isError(got) && got == part->head.raw ? (int64_t)got : -1;
#else
  return -1;
#endif
}

static struct trace_stream *stream_of(struct trace *t, uint32_t block) {
  if (block >= t->blocks) {
    uint32_t blocks = block + block / 2 + 64;
    t->stream_of = reallocate(t->stream_of, blocks, sizeof *t->stream_of);
    memset(t->stream_of + t->blocks, 0, (blocks - t->blocks) * sizeof *t->stream_of);
    t->blocks = blocks;
  }
  if (t->stream_of[block])
    return &t->stream[t->stream_of[block] - 1];
  if (t->streams == t->stream_room) {
    t->stream_room = t->stream_room ? t->stream_room * 2 : 16;
    t->stream = reallocate(t->stream, t->stream_room, sizeof *t->stream);
  }
  t->stream[t->streams] = (struct trace_stream){.block = block};
  t->stream_of[block] = t->streams + 1;
  return &t->stream[t->streams++];
}

static void add_events(struct trace *t, uint32_t block) {
  struct trace_stream *s = stream_of(t, block);
  if (s->count == s->room) {
    s->room = s->room ? s->room * 2 : 16;
    s->frames = reallocate(s->frames, s->room, sizeof *s->frames);
  }
  s->frames[s->count++] = t->frames - 1;
}

static void add_frame(struct trace *t, uint64_t at, const struct trace_frame *head) {
  if (t->frames == t->frame_room) {
    t->frame_room = t->frame_room ? t->frame_room * 2 : 256;
    t->frame = reallocate(t->frame, t->frame_room, sizeof *t->frame);
  }
  t->frame[t->frames++] = (struct trace_part){.at = at, .head = *head};
  if (head->type == TRACE_EVENTS && head->raw % sizeof(struct aprof_trace_event) == 0 &&
      head->block < STREAMS_MOST)
    add_events(t, head->block);
  else if ((head->type == TRACE_MARK || head->type == TRACE_END) &&
           !sum_fits(t, &t->frame[t->frames - 1], t->stored))
    return; /* it says nothing */
  else if (head->type == TRACE_MARK && head->block == TRACE_BASE)
    t->base = *head;
  else if (head->type == TRACE_MARK && head->block == TRACE_LAST)
    t->last = *head;
  else if (head->type == TRACE_END)
    t->end = *head;
}

/* Lists the frames, up to the first that cannot be one. */
static void list_frames(struct trace *t) {
  struct trace_frame head;
  uint64_t at = sizeof t->header;
  for (; !t->end.magic && head_fits(t, at, &head); at += sizeof head + head.stored)
    add_frame(t, at, &head);
  t->truncated = !t->end.magic;
}

struct trace *trace_open(const char *path, struct trace_error *why) {
  struct trace *t = allocate(1, sizeof *t);
  t->stored = allocate(1, TRACE_STORED_MOST);
#ifdef HAVE_ZSTD
  t->unpacker = ZSTD_createDCtx();
#endif
  if (!open_file(t, path, why)) {
    trace_close(t);
    return NULL;
  }
  size_t got = profile_read_at(t->fd, &t->header, sizeof t->header, 0);
  const char *fault = header_fault(&t->header, got);
  if (!fault)
    list_frames(t);
#ifndef HAVE_ZSTD
  for (uint32_t i = 0; !fault && i < t->frames; i++)
    if (t->frame[i].head.flags & TRACE_PACKED)
      fault = "is compressed, and this aprof was built without zstd (Debian: libzstd-dev)";
#endif
  if (!fault && !t->base.magic && !t->last.magic)
    fault = "has no image of the process: it is damaged, or its recorder was killed before it had "
            "begun";
  if (!fault)
    return t;
  fail(why, "%s %s", path, fault);
  trace_close(t);
  return NULL;
}

void trace_close(struct trace *t) {
  if (!t)
    return;
  for (uint32_t i = 0; i < t->streams; i++)
    free(t->stream[i].frames);
  free(t->stream);
  free(t->stream_of);
  free(t->frame);
#ifdef HAVE_ZSTD
  ZSTD_freeDCtx(t->unpacker);
#endif
  if (t->fd >= 0)
    close(t->fd);
  free(t->stored);
  free(t);
}

/* -- images -------------------------------------------------------------------- */

/* Whether that frame is a range of the image that is asked for. The last image counts once it is
   whole. */
static bool is_of_image(const struct trace *t, const struct trace_frame *head, bool latest) {
  return head->type == TRACE_IMAGE &&
         (head->block == TRACE_BASE || (latest && head->block == TRACE_LATER) ||
          (latest && head->block == TRACE_LAST && t->last.magic));
}

static bool write_at(int fd, const void *from, size_t size, uint64_t at) {
  for (size_t done = 0; done < size;) {
    ssize_t some = pwrite(fd, (const char *)from + done, size - done, (off_t)(at + done));
    if (some < 0 && errno == EINTR)
      continue;
    if (some <= 0)
      return false;
    done += (size_t)some;
  }
  return true;
}

/* The ranges of one frame, into the file. */
static bool write_ranges(int fd, const unsigned char *from, uint64_t size) {
  for (uint64_t at = 0; at < size;) {
    struct trace_range range;
    if (size - at < sizeof range)
      return false;
    memcpy(&range, from + at, sizeof range);
    at += sizeof range;
    if (range.size > size - at || range.at > PROFILE_LIMIT - TRACE_RAW_MOST ||
        !write_at(fd, from + at, range.size, range.at))
      return false;
    at += range.size;
  }
  return true;
}

/* As a file of a profile, which the reader of profiles checks. */
static bool write_image(struct trace *t, bool latest, int fd) {
  unsigned char *room = allocate(1, TRACE_RAW_MOST);
  bool done = true;
  for (uint32_t i = 0; i < t->frames && done; i++) {
    if (!is_of_image(t, &t->frame[i].head, latest))
      continue;
    int64_t size = trace_bytes(t, i, room);
    done = size >= 0 && write_ranges(fd, room, (uint64_t)size);
  }
  free(room);
  return done;
}

/* Empty pages are in no image: where it ends with some, the file ends where the profile did. */
static bool extend(int fd) {
  struct aprof_header header;
  struct stat st;
  if (profile_read_at(fd, &header, sizeof header, 0) != sizeof header || fstat(fd, &st) != 0 ||
      header.used > PROFILE_LIMIT || (uint64_t)st.st_size >= header.used)
    return true;
  return ftruncate(fd, (off_t)header.used) == 0;
}

struct profile *trace_image(struct trace *t, bool latest, struct trace_error *why) {
  int fd = memfd_create("aprof-image", MFD_CLOEXEC);
  if (fd < 0)
    return fail(why, "no memory for the image of a process: %s", strerror(errno));
  struct profile *p = NULL;
  complain_never(true);
  if (write_image(t, latest, fd) && extend(fd))
    p = profile_read(fd, "", false, false);
  complain_never(false);
  if (!p)
    fail(why, "the recording is damaged: its image of the process is no profile");
  close(fd);
  return p;
}
