/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which announcements of calls (`at`) have to be taken back.
 *
 *     at (site); read_block (b);       announced, and read_block may be no body after all:
 *     at (NULL);                       nothing that begins later waits there
 *
 * Taken back is what is still announced where the next event of this thread may be one that asks
 * for it. Where each way on comes to an event that forgets it first (the next announcement, the
 * body's own leave), with nothing in between that could call a body, none is needed: a gate less.
 *
 * Where events are switched on inside a body, that one's end is no event: what it announced last
 * holds a little longer then, as where they are switched off before it would be taken back.
 *
 * Purpose: call.cc notes both places, pass.cc has the ones settled when the function is walked.
 * Cost: nothing at run time; of the compiler, a look at the functions that have some.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_ANNOUNCED_H
#define APROF_PLUGIN_ANNOUNCED_H

#include "plugin/gcc.h"

namespace aprof {

/* Of one function: statements that do nothing, and stand where that is. */
struct Announced {
  std::unordered_set<gimple *> forgotten; /* from here on, by an event that comes next */
  std::unordered_set<gimple *> over;      /* behind the call: to be taken back, unless... */
};

/* A statement that does nothing, for one of these. */
gimple *mark(gimple_seq *);

/* Puts the events that take back into the function's body; leaves: whichever way the body is left,
   its own event is the next one. */
void take_back(gimple_seq *body, const Announced &, bool leaves);

} // namespace aprof

#endif
