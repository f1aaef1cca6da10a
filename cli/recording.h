/* SPDX-License-Identifier: MIT */
/*
 * Recordings of what a user names.
 *
 * Purpose: switches the trace of a live process on, records it for a while, and switches it off
 * again, whatever ends the command. Cost: see record/recorder.h. Locking: see record/switch.h.
 */
#ifndef APROF_CLI_RECORDING_H
#define APROF_CLI_RECORDING_H

#include "find.h"
#include "probe/sampler.h"
#include "record-share.h"
#include "record/sieve.h"

#define RECORDING_RING (16ull << 20)

struct recording_wish {
  const char *output; /* a path, "-", or NULL: NAME.PID.trace here */
  uint64_t span;      /* ns; 0: until it is ended */
  uint64_t ring;      /* bytes of each ring; 0: RECORDING_RING */
  uint64_t rotate;    /* bytes of a file; 0: one file */
  uint64_t keep;      /* files; 0: all of them */
  struct share_wish share;
  struct sieve_wish sieve; /* of files, not of standard output */
  bool last;          /* what is in the rings already */
  bool quiet;
  struct sampler_wish kernel; /* what the kernel is asked for */
  long wait;                  /* PID of a child that ends with the process; 0: none */
};

/* Of a process that was found, into files. What is said at the end goes to standard error. False
   after a message. */
bool recording_make(const struct found *, const struct recording_wish *);

/* Complains that another process records it, or keeps the switch: what switch_trace has said. */
void recording_refused(const struct found *, const struct aprof_header *, uint32_t other);

/* The path of a recording: `target` if it is one, else of one that is made of that live process for
   so long, with what the kernel is asked for (NULL: nothing), which is gone when this command has
   ended. NULL after a message. */
char *recording_of(const char *target, uint64_t span, const struct sampler_wish *);
/* Before that, of one that was made so; takes the path. */
void recording_forget(char *path);

#endif
