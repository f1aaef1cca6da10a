/* SPDX-License-Identifier: MIT */
/* Is this the process that made the profile, or one that was forked from it? */
#ifndef APROF_RT_PROCESS_H
#define APROF_RT_PROCESS_H

#include <stdbool.h>

enum process_mark {
  PROCESS_OURS = 1,   /* the profile is this process's, or will be */
  PROCESS_FORKED = 2, /* there is that of its parent, until its first future */
};
/* What holds of this process from here on. Enters the kernel. */
void process_mark(enum process_mark mark);

/* Is this the process that made the profile? Asks the kernel only where it may be asked. Any
   thread, async-signal-safe. */
bool process_ours(void);

/* A child made by vfork, in its parent's memory: until it is another program it has no
   profile of its own, and no thread of it is one of the parent's. */
bool process_vforked(void);

#endif
