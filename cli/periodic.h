/* SPDX-License-Identifier: MIT */
/*
 * Totals of live processes, made again and again.
 *
 * In: which processes, how often, how many files are to stay. Out: PROG.PID.every-N.json, N from 1
 * on, each with all since the start, so that any two are an interval; the oldest go. Purpose: a
 * process of the command's own makes them, so neither the programs nor who started it stop for
 * them. It ends with who started it, however that ends. Cost: that of totals, once in `every`; a
 * third of a processor at most. Locking: none.
 */
#ifndef APROF_CLI_PERIODIC_H
#define APROF_CLI_PERIODIC_H

#include "find.h"

#include <sys/types.h>

struct periodic {
  uint64_t every;   /* ns; 0: none are made */
  uint64_t keep;    /* files of each process; 0: all */
  const char *into; /* directory; NULL: that of each process's other totals */
  /* Calls periodic_write for each process. */
  void (*round)(struct periodic *);
  const void *of; /* which ones, for `round` */
  /* its own */
  bool failed; /* said once, until it works again */
  pid_t maker;
  int stop;
};

#define PERIODIC_EVERY ((uint64_t)10000000000)
enum { PERIODIC_KEEP = 60 };

/* What is wrong with these, as options; or NULL. `keep` UNKNOWN: it was not given. */
const char *periodic_fault(uint64_t every, uint64_t keep);

/* False after a message. */
bool periodic_start(struct periodic *);
/* Behind it none is written any more. */
void periodic_end(struct periodic *);

/* One process, which is called `pid` in names of files; nothing where it does not live. */
void periodic_write(struct periodic *, struct found *, long pid);

#endif
