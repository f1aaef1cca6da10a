/* SPDX-License-Identifier: MIT */
/*
 * The recorder: from the rings of a process into a file.
 *
 * In: the file of a profile. Out: a recording, frame by frame (trace-file.h). Everything is done
 * from outside: the process is never stopped and never waits; what it overwrites before it has
 * been fetched is counted by number.
 * Cost: a copy of each event, and its compression. Who calls poll says how often; `recorder_pause`
 * says how often is often enough.
 * Locking: none; one recorder a process (switch.h).
 */
#ifndef APROF_RECORD_RECORDER_H
#define APROF_RECORD_RECORDER_H

#include "read/profile.h"
#include "timeline.h"

struct recorder;

struct recorder_numbers {
  uint64_t events, lost; /* fetched; that are missing */
  uint64_t ringless;     /* of these: there was no room for a ring */
  uint64_t unplaced;     /* of threads that got no room at all: they are in no number */
  uint64_t written;      /* bytes of the file that is being written */
  uint64_t begun, kept;  /* requests meanwhile; of these, in a recording of some */
  uint64_t lag;          /* ns since what was fetched last was asked for */
  int error;             /* errno of the file, or 0 */
};

/* What goes on in `fd` is recorded into `to`: an image of now, then events. `what`: for messages.
   NULL after one. `left`: its process has ended. */
struct recorder *recorder_begin(int fd, const char *what, int to, uint64_t rate, bool left);
/* The same of what is in the rings already: no image of its beginning. */
struct recorder *recorder_of_rings(int fd, const char *what, int to, uint64_t rate, bool left);
/* The kernel's side of it, made at the first call: who samples adds to it, and its clocks are seen
   to. */
struct timeline *recorder_timeline(struct recorder *, uint64_t sample_ns, uint32_t flags);
/* A place that is watched meanwhile, for who asks the recording by it: what requests that come by
   are marked with, or ""; as it was asked for, and what else it is called. `if_hit`: samples count
   in requests that came by, from there on. Its number. */
uint32_t recorder_probe(struct recorder *, bool if_hit, const char *label, const char *const *name,
                        size_t names);
/* It was come by, at that ns of CLOCK_MONOTONIC. */
void recorder_hit(struct recorder *, uint32_t probe, int tid, uint64_t time);
/* Fetches what is new. */
void recorder_poll(struct recorder *);
/* From now on it looks at how late the loops are, and knows nothing of what was before; */
void recorder_watch(struct recorder *);
/* ns, the most since it was asked last (lag.h); UINT64_MAX: events were lost meanwhile, or soon
   will be, as this process falls behind. */
uint64_t recorder_lag(struct recorder *);
/* ns until the next poll is due. */
uint64_t recorder_pause(const struct recorder *);
void recorder_numbers(const struct recorder *, struct recorder_numbers *);
/* Ends the file with an image of now, and goes on in another one that begins with it. errno of the
   old file, or 0. */
int recorder_rotate(struct recorder *, int to);
/* Begins another file beside it, with an image of now: from here on both are written. */
void recorder_begin_next(struct recorder *, int to);
/* The first file ends as it is; the one beside it is the first now. errno of the old file, or 0. */
int recorder_take_next(struct recorder *);
/* In a copy of the process that records, as fork makes them: the first file is ended as by
   recorder_end, in a copy of its own. The other process goes on and does not notice. Its descriptor
   can be read. */
void recorder_end_copy(struct recorder *, int to, bool left);
/* Ends the file: an image of now, and all events up to that. `left`: the process has ended. */
void recorder_end(struct recorder *, bool left);
void recorder_free(struct recorder *);

#endif
