/* SPDX-License-Identifier: MIT */
/* Messages to the user: one line on stderr each, where that is still the program's. */
#ifndef APROF_RT_SAY_H
#define APROF_RT_SAY_H

#include <stdbool.h>

/* Remembers what descriptor 2 is; before the program's main(). */
void rt_say_start(void);
/* Is descriptor 2 what it was then? Async-signal-safe; errno stays. */
bool rt_say_heard(void);
/* "aprof: WHATDETAIL", at most 599 bytes. Async-signal-safe. */
void rt_say(const char *what, const char *detail);

#endif
