/* SPDX-License-Identifier: MIT */
/* Programs that give up system calls; see confine.c. Any thread, async-signal-safe. */
#ifndef APROF_RT_CONFINE_H
#define APROF_RT_CONFINE_H

#include <stdbool.h>

/* Was the process started behind a filter that is not that of all around it, as a container's
   is: one that somebody made for this program, and that may kill it for what only we call? */
bool confine_foreign(void);
void confine_watch(void);       /* once, at attach */
bool confine_never(void);       /* no filter at the start, nor any way to one by now */
void confine_opened(void);      /* this process has its profile now */
void confine_forget(void);      /* in a child: what threads of its parent were about to ask */
void confine_left(void);        /* this thread's question was left by a handler */
bool is_confined(void);         /* is there a filter that was not at the start: no system calls */
bool was_confined_lately(void); /* ... or was there a moment ago: for what is frequent */
/* This thread holds signals back, and has asked; or does not any more. As it was before. */
bool confine_holds(bool asked);

/* May the program come to have a filter while it runs? See confine-ways.c. */
void find_ways(void); /* in the modules that are there now */
bool may_be_confined(void);

#endif
