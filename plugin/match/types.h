/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Types as the grammar names them: typedefs, "ret(args,...)", fields.
 *
 * Purpose: answers questions about GCC's types, changes nothing.
 * Cost: string work; asked only where a type: line or a field is involved.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_TYPES_H
#define APROF_PLUGIN_TYPES_H

#include "lang/binding.h"
#include "plugin/gcc.h"

namespace aprof {

/* The typedefs by which `type` was spelled, outermost first; for a pointer to a
   function also those of the function type. TYPE_DECLs. */
std::vector<tree> typedefs_of(tree type);

/* The function type behind a function, pointer or reference type, or null. */
tree function_type_of(tree type);

/* Declared type of parameter `index` (from 0), or null where none is known. */
tree parameter_type(tree function, tree function_type, int index);

/* Number of declared parameters; -1 without a prototype. */
int parameter_count(tree function_type);

/* A function declaration fits "ret(args,...)"; a final "..." stands for any
   further parameters. */
bool signature_matches(const std::string &signature, tree function);

/* The member `name` of a complete struct or union, through anonymous members
   and base classes: the fields from the outside in, empty if there is none. */
std::vector<tree> find_field(tree record, const std::string &name);

/* The static type of a value, given where its arguments are declared, and the struct
   behind obj; null if that cannot be told. */
tree type_of_value(const Value *, tree function, tree function_type, tree object = NULL_TREE);

} // namespace aprof

#endif
