/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which member of a struct a call goes through.
 *
 * Purpose: finds for `icall:` the reference obj->field behind a call, also where an
 * earlier statement of the same sequence has loaded it into a variable:
 *
 *     cb = req->cb;              the call is through req->cb, as long as nothing
 *     if (cb) cb (req);          between the two may change cb or req
 *
 * Cost: asked only where some line has an icall: place.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_FIELD_H
#define APROF_PLUGIN_FIELD_H

#include "plugin/gcc.h"

namespace aprof {

/* The expression behind the compiler's temporaries. */
tree through_temporaries(tree value);

/* A COMPONENT_REF, valid before the call; null where it cannot be told. */
tree called_member(gimple_stmt_iterator call);

} // namespace aprof

#endif
