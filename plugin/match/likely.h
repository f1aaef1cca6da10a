/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that another unit may give to a create.
 *
 *     conn.c:    void on_timer (uv_timer_t *t) { ... }
 *     server.c:  uv_timer_start (&t, on_timer, 10, 0);
 *
 * Purpose: while conn.c is compiled nothing says that on_timer is a callback but its
 * type, which is that of the parameter. So each public function of such a type gets the
 * `| run` of that line. What is none of these loses a look-up of a key, no more: the
 * futures of the line were each made for one function, and another one is not their run.
 * Only where the type tells something (it points to a struct, or has three parameters),
 * and the key is made of arguments as they are: nothing of a stranger's is followed.
 * Cost: a comparison of types per public function and line, where some line asks for it.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_LIKELY_H
#define APROF_PLUGIN_LIKELY_H

#include "lang/binding.h"
#include "plugin/gcc.h"

namespace aprof {

/* While parsing: what reaches the fn= of `create` is declared as `type`. */
void likely_type(tree type, const Binding *create);

/* Once the unit is parsed: the `| run` parts that `function` may have. */
std::vector<const Binding *> likely_runs(tree function);

} // namespace aprof

#endif
