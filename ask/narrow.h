/* SPDX-License-Identifier: MIT */
/*
 * A view of some kinds of requests alone: whoever shows it shows these.
 *
 * Purpose: functions, paths and awaits have what they did beneath the functions in which those
 * requests begin (beneath.h), kinds and what is alive are those that are meant. What is not kept by
 * path goes: of a function that ran elsewhere, too, its distributions, longest runs, wakers and
 * whom it delayed. Threads, loops, misses and health stay those of the process. Functions stay
 * where they are in the list, those that did nothing there with nothing. Cost: that of beneath.h.
 * Locking: none.
 */
#ifndef APROF_ASK_NARROW_H
#define APROF_ASK_NARROW_H

#include "requests.h"

/* False where it has none of these: then nothing of requests is left. */
bool ask_narrow(struct view *, const struct request_filter *);

#endif
