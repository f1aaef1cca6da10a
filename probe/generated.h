/* SPDX-License-Identifier: MIT */
/*
 * Names of code that a process generates while it runs, as those that do so (node
 * --perf-basic-prof, java with perf-map-agent, LuaJIT, .NET, python -X perf) write them:
 * /tmp/perf-PID.map.
 *
 * In: addresses that are of no file. Out: those of the names that are of one of them.
 * Cost: a walk over the file, when it is asked. Locking: none.
 */
#ifndef APROF_PROBE_GENERATED_H
#define APROF_PROBE_GENERATED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct generated {
  long pid;
  uid_t owner;       /* of the process: nobody else names its code */
  uint64_t *address; /* that were met */
  size_t count, room;
};

void generated_begin(struct generated *, long pid);
void generated_free(struct generated *);
void generated_add(struct generated *, uint64_t address);

typedef void generated_visit(uint64_t start, uint64_t end, const char *name, void *context);
void generated_name(struct generated *, generated_visit *, void *context);
/* The same of a file that is open as `fd`, which is closed. */
void generated_name_of(struct generated *, int fd, generated_visit *, void *context);

#endif
