/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The work on one call; see call.cc.
 *
 * Purpose: puts what the lines of a call, or of an assignment, ask for around it.
 * Cost, locking: see pieces.h.
 */
#ifndef APROF_PLUGIN_CALL_H
#define APROF_PLUGIN_CALL_H

#include "call-events.h"

namespace aprof {

/* True: the statement at `*gsi` is a new one that holds the call. */
bool instrument_call(gimple_stmt_iterator *gsi, const Caller &);

/* The same for an assignment to a member (store:). */
bool instrument_store(gimple_stmt_iterator *gsi, const Caller &);

/* Events stand behind a call of it that may return twice (setjmp and its kin). */
bool is_returned_to(tree function);

} // namespace aprof

#endif
