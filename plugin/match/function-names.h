/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What functions and types are called: as written, as the assembler sees it, and
 * qualified in C++.
 *
 * Purpose: the names by which lines and messages know a function.
 * Cost: strings are made; for functions that may have lines only.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_NAMES_H
#define APROF_PLUGIN_NAMES_H

#include "plugin/gcc.h"

namespace aprof {

/* ns::Class::method; the plain name in C. Of a function or a type's declaration. */
std::string qualified_name(tree declaration);

/* A name as messages and calls show it: qualified in C++. */
std::string name_of_function(tree function);

/* The name of a body: in C++ with what a template was instantiated to, too, for two
   instances are two functions. */
std::string name_of_body(tree function);

/* All names of it, each once. `mangled`: the assembler's too if the compiler has not
   needed it yet; not while parsing, when a type's name may still change. */
std::vector<std::string> names_of(tree function, bool mangled);

/* While parsing C++: a declaration that overloads may have. */
void remember_overload(tree function);

/* C++, once the unit is parsed: it has the name of a function of C (extern "C"), and is
   none: an overload of it, a method, one of another namespace. */
bool is_namesake_of_c(tree function);

/* A header's inline form of a function that calls the function itself, by another name: so
   glibc's are for _FORTIFY_SOURCE. What a call of that function means, the one of the inline
   form means already. */
bool is_inline_form_of(tree caller, tree callee);

} // namespace aprof

#endif
