/* SPDX-License-Identifier: MIT */
/*
 * Writes the file of a recording, frame by frame.
 *
 * In: a header, then frames in the order of trace-file.h. Out: bytes in a file, or a pipe.
 * Cost: a write for each frame, and what zstd takes. Locking: none.
 */
#ifndef APROF_RECORD_TRACE_WRITE_H
#define APROF_RECORD_TRACE_WRITE_H

#include "trace-file.h"

#include <stdbool.h>
#include <stddef.h>

struct trace_writer;

/* Writes the header to `fd`, which stays the caller's. */
struct trace_writer *trace_writer_new(int fd, const struct trace_header *);
/* One frame; of `frame` type, block, number, first, last and lost are taken. At most TRACE_RAW_MOST
   bytes. */
void trace_write(struct trace_writer *, const struct trace_frame *frame, const void *raw,
                 size_t size);
/* From now on what is written to `one` is written to `other`, too; NULL: to none. */
void trace_writer_join(struct trace_writer *one, struct trace_writer *other);
/* All of it so far is copied to another file, where it goes on, alone; what was written so far
   stays as it is. Its descriptor can be read. */
void trace_writer_move(struct trace_writer *, int to);
/* Bytes so far. */
uint64_t trace_written(const struct trace_writer *);
/* 0, or errno of the first write that failed: nothing was written since. */
int trace_write_error(const struct trace_writer *);
void trace_writer_free(struct trace_writer *);

#endif
