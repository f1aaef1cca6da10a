/* SPDX-License-Identifier: MIT */
/*
 * Where processor time goes beneath async functions, by samples, as text in 80 columns and as JSON
 * (aprof.cpu/1): what is asked while somebody looks on.
 *
 * In: a story with samples. Out: native functions beneath the futures that ran them, as a tree,
 * each with all beneath it and with its own. Cost: that of ask/story-cpu.h, and a sort. Locking:
 * none.
 */
#ifndef APROF_SHOW_CPU_H
#define APROF_SHOW_CPU_H

#include "record/story.h"

#include <stdbool.h>
#include <stdio.h>

/* Of futures of requests of this kind, and of what lies beneath this function; NULL: all. 0, or
   what an output returns after a message. */
int show_cpu(const struct story *, const char *kind, const char *function, bool json, FILE *out);

#endif
