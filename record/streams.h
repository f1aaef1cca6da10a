/* SPDX-License-Identifier: MIT */
/*
 * The events of all threads of a recording, in the order in which they happened.
 *
 * In: a trace. Out: one event after the other, with what else it has. Threads' clocks agree; of two
 * events of one tick that one comes first which the other waits for: who takes them says whether
 * one can be next.
 * Cost: a frame's memory for each thread; a heap of them. Locking: none.
 */
#ifndef APROF_RECORD_STREAMS_H
#define APROF_RECORD_STREAMS_H

#include "trace-read.h"

struct stream_event {
  uint64_t tick;       /* that it tells: it may be earlier than those before it */
  uint64_t now;        /* when it was found out: never less than of the event before */
  uint64_t a[3], b[3]; /* of its MOREs */
  uint64_t lost;       /* events of this thread that are missing before it */
  uint64_t number;     /* in its ring */
  uint32_t block, kind, future, node;
};

struct streams;

/* `base`: the image in which everything before each block's ring_head is told; `last`: the one that
   knows how many events there were in all; or NULL. Ticks are held between `begin` and `end`. */
struct streams *streams_new(struct trace *, const struct profile *base, const struct profile *last,
                            uint64_t begin, uint64_t end);
/* False at the end. `can`: whether it can be next; where no thread's event of that moment can,
   the first is taken. */
bool streams_next(struct streams *, struct stream_event *,
                  bool (*can)(void *context, const struct stream_event *), void *context);
/* In a recording of what was in the rings each reaches back as far as it could: from this tick on
   all of them are there. Before the first event is taken. */
uint64_t streams_whole_from(const struct streams *);
/* Events so far, as they are in the file; those that were in frames that could not be read. */
uint64_t streams_events(const struct streams *);
void streams_free(struct streams *);

#endif
