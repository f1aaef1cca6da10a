/* SPDX-License-Identifier: MIT */
/*
 * The kernel's time line of a live process: samples of what its threads run, and when they leave a
 * processor and come back, by perf events on each thread, from outside.
 *
 * No signal reaches the process and nothing is written to it. Threads that come later are watched
 * from their beginning, or a moment after. Needs the user's own process; where the kernel refuses,
 * it is said by which rule (perf.h).
 * Cost: a descriptor and a ring for each thread; of the process some microseconds a sample, and a
 * record for each switch. Locking: none.
 */
#ifndef APROF_PROBE_SAMPLER_H
#define APROF_PROBE_SAMPLER_H

#include "mappings.h"

struct sampler;

enum { SAMPLER_FRAMES = 128 };

struct sampler_wish {
  uint32_t hertz; /* samples a second of processor time; 0: none */
  bool dwarf;     /* callers by unwind tables, of a copy of the stack; else by frame pointers */
  bool switches;
};

enum sampler_what {
  SAMPLER_SAMPLE,
  SAMPLER_ON,        /* the thread goes on on a processor */
  SAMPLER_PREEMPTED, /* it left one, and would have gone on */
  SAMPLER_BLOCKED,   /* it left one, as it waits for something */
  SAMPLER_OVER,      /* it has ended */
  SAMPLER_WATCHED,   /* from now on this is told of it */
  SAMPLER_LOST       /* what it did since its last record is not known in full */
};

struct sampler_record {
  enum sampler_what what;
  uint64_t time;         /* ns of CLOCK_MONOTONIC */
  int tid;               /* as the process itself has it */
  bool kernel;           /* it ran in the kernel then */
  const uint64_t *frame; /* addresses: where it was, then where each caller goes on */
  size_t frames;
};

struct sampler_numbers {
  uint64_t samples, switches, lost; /* lost: records */
  uint64_t threads, unwatched;      /* that are or were watched; that could not be */
  bool no_kernel;                   /* only what runs in user space is sampled */
  bool throttled;                   /* the kernel gave fewer samples than were asked for */
};

/* NULL, and *why says what refuses it (perf.h), until the next of such texts. */
struct sampler *sampler_new(long pid, const struct sampler_wish *, const char **why);
void sampler_free(struct sampler *);

struct sampler_sink {
  void (*record)(const struct sampler_record *, void *context); /* of a thread in order */
  void (*mapping)(const struct mapping *, void *context);       /* before records that need it */
  void *context;
};
/* Hands over what has come since. */
void sampler_poll(struct sampler *, const struct sampler_sink *);
void sampler_numbers(const struct sampler *, struct sampler_numbers *);

#endif
