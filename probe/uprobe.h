/* SPDX-License-Identifier: MIT */
/*
 * Breakpoint instructions that the kernel keeps in a program: as many as are wanted, for who is
 * privileged.
 *
 * In: an address of a process. Out: where perf's kind of events `uprobe` wants it. The kernel
 * writes the instruction into the process's own copy of the page, and takes it out with the event,
 * however the command ends. Cost: a line of maps for each mapping. Locking: none.
 */
#ifndef APROF_PROBE_UPROBE_H
#define APROF_PROBE_UPROBE_H

#include <stdbool.h>
#include <stdint.h>

struct uprobe {
  uint32_t type;   /* of perf events; 0: this kernel has none */
  char *file;      /* as this process reaches it; free() it */
  uint64_t offset; /* in there */
};

/* False, with errno: the address is not of a file's (EFAULT), the kernel has no such events
   (ENODEV), or the process cannot be looked at. */
bool uprobe_find(long pid, uint64_t address, struct uprobe *);

#endif
