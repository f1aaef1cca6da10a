/* SPDX-License-Identifier: MIT */
/* Threads: which block each counts in; see thread.c. */
#ifndef APROF_RT_THREAD_H
#define APROF_RT_THREAD_H

#include "rt/rt.h"

struct thread *thread_sync(bool birth); /* what an event does when its epoch is not current */
void thread_wipe(void);                 /* in a forked child */
bool thread_keep(bool keep);            /* around a fork inside an event */
void thread_start(void);                /* once per process */
void thread_forget_sites(void);         /* shortcuts: other code may lie at their addresses now */

#endif
