/* SPDX-License-Identifier: MIT */
/*
 * Names of the addresses in a recording.
 *
 * In: a story with samples. Out: for an address its function, place and whose code it is, of the
 * file of that build, wherever it lies on this machine, or of what the process said of code that it
 * generated.
 * Cost: each file is opened once, each address looked up once. Locking: none.
 */
#ifndef APROF_RECORD_NATIVE_H
#define APROF_RECORD_NATIVE_H

#include "story.h"

struct native;

enum native_whose { NATIVE_PROGRAM, NATIVE_LIBRARY, NATIVE_GENERATED, NATIVE_UNKNOWN };

struct native_frame {
  const char *name;  /* never NULL: at worst "libfoo.so", or "(unknown)" */
  const char *file;  /* or NULL */
  uint32_t line;     /* where the function begins */
  uint32_t function; /* the same number for the same function */
  uint8_t whose;     /* enum native_whose */
  bool known;        /* the name is the function's */
};

struct native *native_new(const struct story *);
void native_free(struct native *);
/* Numbers of functions so far are below that. */
uint32_t native_functions(const struct native *);
/* Of the so-manieth address of a sample, the innermost first: what was inlined there, the innermost
   first, and then the function itself; `*count` of them, one at least. They hold as long as
   `native`. */
const struct native_frame *native_frames(struct native *, const struct story_sample *,
                                         uint32_t number, uint32_t *count);

#endif
