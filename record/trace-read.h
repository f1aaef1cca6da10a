/* SPDX-License-Identifier: MIT */
/*
 * Reads the file of a recording.
 *
 * In: a path. Out: its header, its frames by kind, checked; its images as profiles. What is damaged
 * ends the file there: what stands before is used, and `truncated` says so.
 * Cost: opening reads the head of each frame; its sum is checked when it is read.
 * Locking: none.
 */
#ifndef APROF_RECORD_TRACE_READ_H
#define APROF_RECORD_TRACE_READ_H

#include "read/profile-copy.h"
#include "trace-file.h"

struct trace_error {
  char text[256];
};

/* The frames of one block, in order: numbers in trace.frame. */
struct trace_stream {
  uint32_t block;
  uint32_t *frames;
  uint32_t count, room;
};

struct trace_part {
  uint64_t at; /* of its head, in the file */
  struct trace_frame head;
};

struct trace {
  struct trace_header header;
  int fd;
  uint64_t size;
  struct trace_part *frame;
  uint32_t frames, frame_room;
  struct trace_stream *stream;
  uint32_t streams, stream_room;
  uint32_t *stream_of, blocks;        /* by block number: stream + 1; 0: it has none */
  struct trace_frame end, base, last; /* END, and the MARKs; magic 0: there is none */
  bool truncated;                     /* it has no END, or ends in the middle of a frame */
  unsigned char *stored;              /* of the frame that is being read */
  void *unpacker;
};

/* NULL: see `why`. */
struct trace *trace_open(const char *path, struct trace_error *why);
void trace_close(struct trace *);
/* A file that begins as a recording does. */
bool trace_is(const char *path);

/* Its bytes into `room` (TRACE_RAW_MOST bytes): how many; -1: it is damaged. */
int64_t trace_bytes(struct trace *, uint32_t frame, void *room);

/* The image at its beginning, or (`latest`) with all that was written since: NULL where there is
   none that can be read, after a message in `why`. */
struct profile *trace_image(struct trace *, bool latest, struct trace_error *why);

#endif
