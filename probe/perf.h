/* SPDX-License-Identifier: MIT */
/*
 * Perf events of another process's threads: opening one, its ring, and why the kernel refuses.
 *
 * Purpose: what breakpoints and samples share. Whose descriptor is closed is watched no more; so
 * ends all of it with this process. Cost: a descriptor and a ring for each thread. Locking: none.
 */
#ifndef APROF_PROBE_PERF_H
#define APROF_PROBE_PERF_H

#include "machine.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PERF_RECORD_ROOM = 1 << 16 }; /* no record is longer */

/* A descriptor, or -1 with errno. */
int perf_open(const struct perf_event_attr *, int tid);

/* -- rings ----------------------------------------------------------------------------- */

struct perf_ring {
  void *map; /* NULL: there is none */
  size_t room;
};

/* Of `most` bytes, or half of that again and again, as what a user may lock in memory is little;
   not less than `least`. False with errno. */
bool perf_ring_map(struct perf_ring *, int fd, size_t most, size_t least);
void perf_ring_unmap(struct perf_ring *);
/* The next record, copied to `record` (PERF_RECORD_ROOM bytes, aligned), as it may come round the
   ring's end; NULL: there is none. */
struct perf_event_header *perf_ring_next(struct perf_ring *, void *record);

/* Goes over a record, word by word; behind its end there are zeros. */
struct perf_words {
  const uint8_t *at, *end;
};
struct perf_words perf_words(const struct perf_event_header *);
uint64_t perf_word(struct perf_words *);
/* PERF_SAMPLE_REGS_USER of machine_mask(), by their numbers in DWARF. */
void perf_registers(struct perf_words *, uint64_t reg[MACHINE_REGISTERS]);
/* How many records the kernel had no room for: of a PERF_RECORD_LOST. */
uint64_t perf_lost(const struct perf_event_header *);

/* -- why not --------------------------------------------------------------------------- */

/* What a refusal depends on. */
struct perf_facts {
  int error;       /* errno of perf_event_open, or of mapping its ring */
  bool privileged; /* this command may watch whatever it wants: root, or CAP_PERFMON */
  long paranoid;   /* kernel.perf_event_paranoid */
  bool theirs;     /* the process is another user's */
  bool closed;     /* it is ours, and not dumpable: it has changed its user, or says so */
  bool filtered;   /* a filter of system calls (seccomp) is on this command */
};

/* Of that process, now. `root`: below which /proc is looked at, "" but for tests. */
struct perf_facts perf_facts(int error, long pid, const char *root);
/* The rule that refuses, and what to do, as "the kernel allows ...; ask as root". */
const char *perf_refusal(const struct perf_facts *);

#endif
