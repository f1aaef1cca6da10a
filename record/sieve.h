/* SPDX-License-Identifier: MIT */
/*
 * Takes requests out of a recording.
 *
 * In: the file of a recording of some requests (TRACE_SHARED), where all else is HELD already. Out:
 * the same with those requests alone that are asked for; of the others, who held which thread.
 * What goes on at its end, and what has lost events, stays, as nobody knows what it was.
 * Cost: that of the recording's story, and 24 bytes an event. Locking: none.
 */
#ifndef APROF_RECORD_SIEVE_H
#define APROF_RECORD_SIEVE_H

#include "trace-file.h"

#include <stdbool.h>

struct sieve_wish {
  uint64_t over;    /* ns; 0: any */
  const char *kind; /* with * and ?; NULL: any */
};
static inline bool sieve_is_wished(const struct sieve_wish *w) {
  return w->over || w->kind;
}

/* From one file to another; `left_out`: so many requests are not in it. NULL, or what is wrong, to
   be freed. */
char *sieve(const char *from, int to, const struct sieve_wish *, uint64_t *left_out);

#endif
