/* SPDX-License-Identifier: MIT */
/* The kernel's own clocks, whatever stands in the place of clock_gettime; see vdso.c. Any thread,
   async-signal-safe; a system call only where the kernel has no other way. */
#ifndef APROF_RT_VDSO_H
#define APROF_RT_VDSO_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

void vdso_find(void);                 /* once, before the profile */
uint64_t vdso_clock(clockid_t clock); /* ns */
bool vdso_is_at(uintptr_t code);      /* does code of the kernel's own lie there? */

#endif
