/* SPDX-License-Identifier: MIT */
/*
 * A place of a live process that is watched, alone or while the process is recorded; then it is
 * known which requests came by.
 *
 * Cost: see probe/watch.h, record/recorder.h. Locking: none; one at a time.
 */
#ifndef APROF_CLI_PROBED_H
#define APROF_CLI_PROBED_H

#include "probe/watch.h"
#include "recording.h"

#define PROBED_RATE 10000u              /* hits a second, at most, where nobody says otherwise */
#define PROBED_ROOM (UINT64_C(1) << 30) /* bytes of a recording that nobody asked for */

struct probed {
  const struct watch *asked; /* but for `tell`, `keep` and `context`, which are made here */
  void (*log)(const struct probe_result *, const struct probe_hit *); /* or NULL */
  const char *label;                                                  /* or NULL */
  double slowest;                                                     /* or 0 */
  bool if_hit; /* samples of the recording count in requests that came by, from there on */

  /* Made here. */
  struct debug debug;
  struct places places;
  struct watch watch;
  struct watching *watching;
  struct probe_result *result;
  struct recorder *recorder;
  uint32_t number; /* of the place, there */
  bool armed, refused;
};

/* Finds the place. False after a message. `directory`: more debug information; or NULL. */
bool probed_open(struct probed *, long pid, const char *directory);
/* Watches until it is over. False after a message. */
bool probed_alone(struct probed *);
/* The same, while it is recorded as is wished. `refused`, or not `armed`: nothing was watched. */
bool probed_recorded(struct probed *, const struct found *, struct recording_wish *);
/* Whose hits were, as that recording has it. False after a message. probed-join.c */
bool probed_join(struct probed *, const char *file);
void probed_close(struct probed *);

/* A recording in which that place is watched; `if_hit`: see above. False after a message. */
bool probed_recording(const struct found *, struct recording_wish *, const char *place,
                      bool if_hit);

#endif
