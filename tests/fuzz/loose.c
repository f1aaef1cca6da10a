/* SPDX-License-Identifier: MIT */
/* Loose recordings; see loose.h. */
#include "loose.h"

#include <aprof/profile.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

size_t loose_next(const uint8_t *loose, size_t size, size_t at, size_t *begin, size_t *end) {
  struct trace_frame head;
  if (at > size || size - at < sizeof head)
    return 0;
  memcpy(&head, loose + at, sizeof head);
  size_t rest = size - at - sizeof head,
         raw = head.raw < TRACE_RAW_MOST ? head.raw : TRACE_RAW_MOST;
  *begin = at + sizeof head;
  *end = *begin + (raw < rest ? raw : rest);
  return *end;
}

static void put(int fd, const void *from, size_t size) {
  if (write(fd, from, size) != (ssize_t)size)
    abort();
}

static void put_frame(int fd, const uint8_t *head, const uint8_t *content, size_t size) {
  struct trace_frame frame;
  memcpy(&frame, head, sizeof frame);
  frame.magic = TRACE_FRAME_MAGIC;
  frame.flags = 0;
  frame.raw = frame.stored = (uint32_t)size;
  frame.check = 0;
  uLong check = crc32(0, (const Bytef *)&frame, sizeof frame);
  frame.check = (uint32_t)crc32(check, content, (uInt)size);
  put(fd, &frame, sizeof frame);
  put(fd, content, size);
}

int loose_tighten(const uint8_t *loose, size_t size) {
  struct trace_header header;
  size_t begin, end;
  if (size < sizeof header)
    return -1;
  int fd = memfd_create("fuzzed", MFD_CLOEXEC);
  if (fd < 0)
    abort();
  memcpy(&header, loose, sizeof header);
  memcpy(header.magic, TRACE_MAGIC, sizeof header.magic);
  header.version = TRACE_VERSION;
  header.header_size = sizeof header;
  header.profile_version = APROF_PROFILE_VERSION;
  put(fd, &header, sizeof header);
  for (size_t at = LOOSE_FIRST, next; (next = loose_next(loose, size, at, &begin, &end)) != 0;
       at = next)
    put_frame(fd, loose + at, loose + begin, end - begin);
  return fd;
}
