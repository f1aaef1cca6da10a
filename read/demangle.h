/* SPDX-License-Identifier: MIT */
/*
 * Names of symbols as the plugin shows functions: ns::Class::method, without
 * parameters, template arguments and return types; a lambda is "lambda".
 *
 * Purpose: a C++ function that is known by its address only has the name, and so is
 * the same line of a report, that it has where its body was compiled with the plugin.
 * Cost: __cxa_demangle of libstdc++. What might expand beyond measure stays as it is.
 * Locking: none.
 */
#ifndef APROF_READ_DEMANGLE_H
#define APROF_READ_DEMANGLE_H

/* The name of a linker symbol; to be freed. Symbols of C stay, but for what GCC adds to
   its copies (foo.constprop.0). */
char *demangle(const char *symbol);

/* The second half of it: "int ns::f<int>(int) const" to "ns::f"; to be freed. */
char *demangle_shorten(const char *text);

#endif
