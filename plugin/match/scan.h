/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the program says while it is parsed and forgets afterwards: which
 * functions are passed or assigned as which typedef, and which reach the fn= of a
 * create line.
 *
 * Purpose: `type:` places and `| run` parts, whose bodies are known by how
 * functions are used anywhere in the unit. Runs before any body is instrumented.
 * Cost: one walk over each function's tree, only if some line asks for it.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_SCAN_H
#define APROF_PLUGIN_SCAN_H

#include "flow.h"
#include "lang/binding.h"
#include "plugin/gcc.h"

namespace aprof {

/* PLUGIN_PRE_GENERICIZE and PLUGIN_FINISH_DECL. */
void scan_function(void *function, void *);
void scan_declaration(void *declaration, void *);

struct Use {
  tree as;         /* TYPE_DECL, or null where the type has no name */
  tree attributes; /* of the function type it was used as */
};
/* How `function` was passed or assigned in this unit. */
const std::vector<Use> &uses_of(tree function);

/* The create lines with a `| run` whose fn= `function` was seen to reach; valid once
   the whole unit is parsed. */
const std::vector<Reach> &reaches(tree function);

/* ... that got it as it is, not cast to a type with other arguments. */
bool is_passed_as_is(tree function, const Binding *run);

/* The function type that fn= of this `| run` has, or the typedef of a `type:` line: what its
   bodies are called with, whatever they were cast from. Null where it was not seen. */
tree called_as(tree function, const Binding *run);

/* `| run` parts of the create lines whose fn= is declared as this typedef. */
const std::vector<const Binding *> &runs_of_typedef(tree type_decl);

/* The unit's reference to the gate (<aprof.h>), or null. */
tree user_gate();

} // namespace aprof

#endif
