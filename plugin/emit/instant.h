/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events of no extent: wake and end, of a call or of a body.
 *
 * Purpose: one statement per key, to be put where the caller wants it.
 * Cost, locking: see pieces.h.
 */
#ifndef APROF_PLUGIN_MOMENT_H
#define APROF_PLUGIN_MOMENT_H

#include "value.h"

namespace aprof {

/* The events of all keys of a wake, end or label line about `name`; `flags` go to their
   records, and variables that they need to the list. Null after an error. */
tree instant_event(const Binding &, const Frame &, const std::string &name, unsigned flags,
                   tree *variables);

} // namespace aprof

#endif
