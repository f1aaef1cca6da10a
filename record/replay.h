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

/* Whose each event of the recording is, by block; those of a block in order. Futures and requests
   by their numbers in the story as it is before it ends. */
struct replay_mark {
  uint64_t number;       /* of the event in its ring */
  uint32_t future, from; /* NONE: it is of none; of a JOIN: that it was before */
  uint32_t request;      /* NONE: see `future` */
};
struct replay_marks {
  struct replay_list {
    struct replay_mark *mark;
    size_t count, room;
  } * block;
  uint32_t blocks;
  /* All events have been played. Requests that never were are to be left out of everything. */
  void (*played)(struct replay_marks *, const struct story *, const bool *undone,
                 uint32_t undone_count, uint64_t mult);
};
struct replay *replay_marked(struct trace *, struct trace_error *why, struct replay_marks *);

/* NULL: see `why`. */
struct replay *replay_new(struct trace *, struct trace_error *why);
/* The path of a node; 0, (other), where there is none of that number. */
static inline uint32_t replay_path(const struct replay *r, uint32_t node) {
  return node < r->nodes ? r->path_of[node] : 0;
}
/* Where what a future of that epoch has open ends: with the epoch, if that is over before `end`. */
static inline uint64_t replay_end_in(const struct aprof_header *h, uint32_t epoch, uint64_t end) {
  if (epoch == h->epoch)
    return h->enabled ? end : h->epochs[epoch % APROF_EPOCHS].begin_tick;
  uint64_t over = h->epochs[epoch % APROF_EPOCHS].end_tick;
  return h->epoch - epoch >= APROF_EPOCHS ? 0 : over && over < end ? over : end;
}
/* Takes the story, in ns and finished. */
struct story *replay_finish(struct replay *);
void replay_free(struct replay *);

#endif
