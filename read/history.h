/* SPDX-License-Identifier: MIT */
/*
 * Readings of one process over time, and windows: what happened in the last seconds.
 *
 * In: views of a process as time goes on. Out: differences of two. The younger a reading is, the
 * closer to the next it is kept: a second apart for a window of ten, minutes apart for one of
 * hours. Readings of another process, of before a reset, and of before the clock became coarse are
 * dropped, and windows begin anew.
 * Cost: of memory what it is given, or of the last reading alone where that is more: with less of
 * it steps are wider; a window costs what a difference does. Locking: none.
 */
#ifndef APROF_READ_HISTORY_H
#define APROF_READ_HISTORY_H

#include "moments.h"
#include "view.h"

struct history;

/* `longest`: the longest window that is wanted, ns; `memory`: bytes. */
struct history *history_new(uint64_t longest, size_t memory);
void history_free(struct history *);
/* Forgets what has no room then; the last one stays. */
void history_limit(struct history *, size_t memory);

/* Bytes of its readings. */
size_t history_memory(const struct history *);

/* Takes the view, and forgets all that were given out. */
void history_add(struct history *, struct view *);
/* The last one; NULL: there is none. It is the history's. */
struct view *history_now(const struct history *);

/* What happened in about the last `ns`, as far as is known: its process.elapsed says of how long
   it is. To be freed before more is added. NULL where there is nothing to subtract: there is one
   reading only, no time has passed, or the process, or its last reset, is younger than that: then
   all since is history_now. */
struct view *history_window(const struct history *, uint64_t ns);
/* How far from the beginning of `now`'s last `ns` the view `earlier` lies, ns; UNKNOWN: they have
   no interval between them. */
uint64_t history_off(const struct view *now, const struct view *earlier, uint64_t ns);
/* It is older than that beginning; and whether one that lies so far off may stand for it. */
bool history_is_older(const struct view *now, const struct view *earlier, uint64_t ns);
bool history_is_near(uint64_t off, uint64_t ns);
/* The process, or its last reset, is younger than that: all since then is its last `ns`. */
bool history_is_whole(const struct view *now, uint64_t ns);
/* That, or a copy of history_now where there is none, or `ns` is 0. NULL: nothing is known. */
struct view *history_over(const struct history *, uint64_t ns);

/* Adds what its readings tell of the time that the moments cover. `kind`: only its requests; NULL:
   of all. */
void history_moments(const struct history *, struct moments *, const char *kind);

#endif
