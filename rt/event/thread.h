/* SPDX-License-Identifier: MIT */
/* Threads: which block each counts in; see thread.c. */
#ifndef APROF_RT_THREAD_H
#define APROF_RT_THREAD_H

#include "rt/rt.h"

/* What an event does when the epoch is not the thread's, or the trace went on or off; NULL: it
   cannot be recorded. */
SLOW struct thread *thread_sees(bool birth);
void thread_wipe(void);         /* in a forked child */
bool thread_keep(bool keep);    /* around a fork inside an event */
void thread_start(void);        /* once per process */
void thread_forget_sites(void); /* shortcuts: other code may lie at their addresses now */

#endif
