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

struct recorder;

/* What else is done meanwhile, by whom: instead of sleeping. */
struct recording_guest {
  /* For so many ns, or less; false: the recording ends. */
  bool (*go)(void *context, struct recorder *, uint64_t ns);
  void (*end)(void *context, struct recorder *); /* before the recording ends, whatever ended it */
  void *context;
  uint64_t most; /* bytes that the file may have; 0: any number */
};

struct recording_wish {
  const char *output; /* a path, "-", or NULL: NAME.PID.trace here */
  uint64_t span;      /* ns; 0: until it is ended */
  uint64_t ring;      /* bytes of each ring; 0: RECORDING_RING */
  uint64_t rotate;    /* bytes of a file; 0: one file */
  uint64_t keep;      /* files; 0: all of them */
  struct share_wish share;
  struct sieve_wish sieve; /* of files, not of standard output */
  bool last;               /* what is in the rings already */
  bool quiet;
  struct sampler_wish kernel;          /* what the kernel is asked for */
  long wait;                           /* PID of a child that ends with the process; 0: none */
  const struct recording_guest *guest; /* or NULL */
};

/* Of a process that was found, into files. What is said at the end goes to standard error. False
   after a message. */
bool recording_make(const struct found *, const struct recording_wish *);

/* Complains that another process records it, or keeps the switch: what switch_trace has said. */
void recording_refused(const struct found *, const struct aprof_header *, uint32_t other);

/* A file without a name, which goes with this command: its path, and a descriptor. NULL after a
   message. */
char *recording_room(int *fd);

#endif
