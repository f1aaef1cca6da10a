/* SPDX-License-Identifier: MIT */
/*
 * Which functions of each process were told one by one, from one time to the next.
 *
 * Purpose: a function that is told now and in the sum of others then makes two series of one; the
 * less functions change places, the longer series are. Cost: linear in processes. Locking: none.
 */
#ifndef APROF_SHOW_FORMAT_MEMORY_H
#define APROF_SHOW_FORMAT_MEMORY_H

#include "ask/top.h"

struct format_memory;

/* Of the process that has these labels; NULL for NULL. */
struct top_memory *format_memory_of(struct format_memory **, const char *labels);
/* Those that were not asked for since the last call are forgotten. */
void format_memory_forget(struct format_memory **);

#endif
