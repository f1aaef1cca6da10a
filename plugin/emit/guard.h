/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Null pointers on the way to a value.
 *
 *     end call:stop key=a0->owner      if (a0 != 0) end (..., a0->owner, 0);
 *
 * Purpose: the program may pass NULL where a line follows a pointer; then the line
 * does not hold this time, and nothing is read.
 * Cost: a comparison for each pointer followed, behind the gate's flag.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_GUARD_H
#define APROF_PLUGIN_GUARD_H

#include "value.h"

namespace aprof {

/* That all pointers are there which the value (or both of a key) follows; boolean. Null
   where it follows none. Of values that have been made trees without an error. */
tree guard_of(const Value *, const Frame &, const Binding &);
tree guard_of_key(const Key &, const Frame &, const Binding &);

/* The value, or 0 of its type, and the statement, or nothing; `guard` may be null. */
tree value_if(tree guard, tree value);
tree if_given(tree guard, tree statement);

} // namespace aprof

#endif
