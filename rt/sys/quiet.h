/* SPDX-License-Identifier: MIT */
/* Signals that the kernel sends for what this library does itself never reach the program; see
   quiet.c. Async-signal-safe; does nothing once the program has given up system calls. */
#ifndef APROF_RT_QUIET_H
#define APROF_RT_QUIET_H

#include <stdbool.h>
#include <stdint.h>

struct quiet {
  uint64_t mask, pending;
  bool on;
};
/* No SIGXFSZ, SIGPIPE or SIGTTOU comes in for what is done between the two. */
void quiet_begin(struct quiet *q);
void quiet_end(const struct quiet *q);

/* Signals that are held back from this thread, a set: bit N - 1 is signal N. */
uint64_t signals_pending(void);

#endif
