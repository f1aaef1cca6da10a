/* SPDX-License-Identifier: MIT */
/*
 * Packets of a Perfetto trace: events, the tracks they lie on, and the names that they share.
 *
 * Purpose: how Perfetto spells what perfetto.c tells. Cost: a buffer for the longest packet, and
 * the names of a story while they are written. Locking: none.
 */
#ifndef APROF_SHOW_PERFETTO_H
#define APROF_SHOW_PERFETTO_H

#include "ask/story-wakes.h"
#include "formats.h"
#include "perfetto.pb-c.h"

enum perfetto_type { SLICE_BEGIN = 1, SLICE_END, INSTANT }; /* as Perfetto numbers them */

/* Kinds of tracks, a part of their ids. */
enum perfetto_track {
  TRACK_PROCESS,
  TRACK_THREAD,
  TRACK_KIND,
  TRACK_REQUEST,
  TRACK_FUTURE,
  TRACK_REST,
  TRACK_PROCESSOR
};

/* Names of categories, of notes on events, and of events that no path has. */
enum perfetto_category {
  CATEGORY_NONE,
  CATEGORY_SLICE,
  CATEGORY_RUN,
  CATEGORY_WAKE,
  CATEGORY_REQUEST,
  CATEGORY_FUTURE,
  CATEGORY_STATE,
  CATEGORY_PROCESSOR
};
enum perfetto_note {
  NOTE_PATH = 1,
  NOTE_TIER,
  NOTE_REQUEST,
  NOTE_TRACE,
  NOTE_EXEC,
  NOTE_QUEUED,
  NOTE_WAITING,
  NOTE_END,
  NOTES
};
enum perfetto_name {
  NAME_RUNNING,
  NAME_QUEUED,
  NAME_ASIDE,
  NAME_WAKES,
  NAME_ON, /* a processor */
  NAME_PREEMPTED,
  NAME_BLOCKED,
  NAMES
};

struct perfetto {
  FILE *out;
  const struct format_options *options;
  const struct story *s;
  size_t story;
  struct story_wakes wakes;
  uint32_t *by_from; /* of wakes, in order of who woke */
  unsigned char *buffer;
  size_t room;
};

uint64_t perfetto_track(const struct perfetto *, enum perfetto_track, uint32_t number);
/* Clocks, names and rows for threads: before all events of a story. */
void perfetto_begin(struct perfetto *);
void perfetto_put_track(struct perfetto *, uint64_t track, uint64_t parent, const char *name);

/* An event that is being put together; it stays where it is, as it points into itself. */
struct perfetto_event {
  Perfetto__TrackEvent event;
  uint64_t category, flow;
  Perfetto__DebugAnnotation note[NOTES], *notes[NOTES];
};

void perfetto_event(struct perfetto_event *, uint64_t track, enum perfetto_type,
                    enum perfetto_category);
void perfetto_note(struct perfetto_event *, enum perfetto_note, const char *text);
void perfetto_note_number(struct perfetto_event *, enum perfetto_note, uint64_t);
/* Named as the path, and at its place. */
void perfetto_path(struct perfetto_event *, const struct story *, uint32_t path);
void perfetto_tier(struct perfetto_event *, const struct story *, const struct story_segment *);
void perfetto_name(struct perfetto_event *, const struct story *, enum perfetto_name);
void perfetto_put(struct perfetto *, struct perfetto_event *, uint64_t at);
void perfetto_put_end(struct perfetto *, uint64_t track, uint64_t at);
/* What belongs to no track. */
void perfetto_put_data(struct perfetto *, Perfetto__InternedData *);
void perfetto_put_sample(struct perfetto *, Perfetto__PerfSample *, uint64_t at);

/* perfetto-kernel.c: samples, and who had a processor. */
void perfetto_kernel(struct perfetto *);

#endif
