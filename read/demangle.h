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

#include <stdbool.h>

/* The name of a linker symbol; to be freed. Symbols of C stay, but for what GCC adds to
   its copies (foo.constprop.0). */
char *demangle(const char *symbol);

/* The second half of it: "int ns::f<int>(int) const" to "ns::f"; to be freed. */
char *demangle_shorten(const char *text);

/* Whether people may mean that symbol by it: its own name, the readable one or what it ends in
   ("ring::push"); with parameters or template arguments one of several that have the name
   ("net::over(int)", "ring<int, 4>::push"). */
bool demangle_is(const char *symbol, const char *asked);

#endif
