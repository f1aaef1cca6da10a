/* SPDX-License-Identifier: MIT */
/*
 * From the events of a recording to its story.
 *
 * In: a trace: its image at the beginning, then all threads' events in order, then names. Out: the
 * story, first in ticks, which is what the counters are compared with (balance.h); then in ns.
 * Events are hostile: whatever they say, each future is a chain of segments, each request has
 * a begin and an end, and what contradicts itself is marked as not whole.
 * Cost: some 100 ns an event; the story's memory, and 64 bytes for each future's record that lives.
 * Locking: none.
 */
#ifndef APROF_RECORD_REPLAY_H
#define APROF_RECORD_REPLAY_H

#include "story-build.h"
#include "trace-read.h"

struct replay {
  struct story *story;           /* in ticks */
  struct profile *base, *latest; /* images; base: NULL in a recording of what was in the rings */
  uint32_t *path_of;             /* of nodes, by their numbers */
  uint32_t nodes;
  uint64_t begin, end, mult; /* ticks; ns per tick << 32 */
};

/* NULL: see `why`. */
struct replay *replay_new(struct trace *, struct trace_error *why);
/* The path of a node; 0, (other), where there is none of that number. */
static inline uint32_t replay_path(const struct replay *r, uint32_t node) {
  return node < r->nodes ? r->path_of[node] : 0;
}
/* Where what a future of that epoch has open ends: with the epoch, if that is over before `end`. */
uint64_t replay_end_in(const struct aprof_header *, uint32_t epoch, uint64_t end);
/* Takes the story, in ns and finished. */
struct story *replay_finish(struct replay *);
void replay_free(struct replay *);

#endif
