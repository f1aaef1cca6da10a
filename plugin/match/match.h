/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which line means which statement.
 *
 * Purpose: finds, for a function that is called, the lines of its calls, and has the tables
 * for bodies (body-lines.h). Attributes, users' files and shipped files all end here. Lines of
 * shipped files hold for names declared in their header only (headers.h); between the lines
 * that are left lang/precedence.h decides.
 * Cost: see named-lines.h.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_MATCH_H
#define APROF_PLUGIN_MATCH_H

#include "lang/binding.h"
#include "named-lines.h"
#include "plugin/gcc.h"

namespace aprof {

/* Enters a line of a file into the tables. */
void match_add(const Binding *);

/* There is no line, nor an attribute: nothing can match. */
bool match_nothing();

/* A precompiled header was loaded: the compiler has other identifiers now. */
void match_forget_identifiers();

/* There are lines about bodies that are known by how a function is used (type:,
   | run), whatever headers are read: the unit has to be scanned. */
bool match_needs_scan();

/* Lines with a call: place for calls of `function` (null: indirect) through
   `function_type`. */
std::vector<const Binding *> call_lines(tree function, tree function_type);

/* A line about a field that is called or assigned, and what `obj` is there. */
struct FieldLine {
  const Binding *line;
  tree object; /* the struct; its address is obj */
};

inline const Binding *line_of(const FieldLine &f) {
  return f.line;
}

/* Lines with a def: place for the body of `function`, and those with a type: place. */
Lines def_lines(tree function);
const Lines &type_lines();

/* Lines with an icall: or store: place for this reference to a member. */
std::vector<FieldLine> field_lines(Place, tree reference);

/* Some line has such a place. */
bool fields_matter(Place);

/* Some create line that may hold in this unit has this namespace. */
bool namespace_has_create(uint32_t ns);

} // namespace aprof

#endif
