/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Types, functions and variables that values of lines name.
 *
 * Purpose: `owner(struct S, m, a0)` and `ns:limit` name what the unit may declare; only while it
 * is parsed can the front end be asked for a name.
 * Cost: a look-up for each name that a line gives, after each function of the unit.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_WANTED_H
#define APROF_PLUGIN_WANTED_H

#include "lang/binding.h"
#include "plugin/gcc.h"

namespace aprof {

/* The values of a line name structs and functions that must be looked up. */
void want_names_of(const Binding &);

/* Asks for all that were not found yet, while parsing. */
void wanted_look_up();

/* Null where the unit has none, or not of that kind. */
tree wanted_type(const std::string &name); /* of owner(), of a cast */
tree wanted_struct(const std::string &name);
tree wanted_name(const std::string &name); /* a function, variable or enumerator */
tree wanted_function(const std::string &name);

} // namespace aprof

#endif
