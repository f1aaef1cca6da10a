/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * __attribute__ ((aprof ("..."))): binding lines in the program itself.
 *
 * Purpose: registers the attribute, checks its text where it is written, and
 * finds the lines again on declarations and types. On functions it is kept on
 * the declaration and on the type, so that it is seen through pointers, fields,
 * typedefs and casts; types with and without it are the same type.
 * Cost: a text is parsed once per unit, however often it is written.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_ATTRIBUTE_H
#define APROF_PLUGIN_ATTRIBUTE_H

#include "lang/binding.h"
#include "plugin/gcc.h"

namespace aprof {

/* PLUGIN_ATTRIBUTES. */
void attributes_register(void *, void *);

/* Adds the lines written on a declaration or type to `lines`, each once. */
void attribute_lines(tree attributes, std::vector<const Binding *> *lines);

/* Adds those of a function's declaration and type. */
void attribute_lines_of(tree function, std::vector<const Binding *> *lines);

/* Some line so far is about bodies that are known by their use (match.h). */
bool attributes_need_scan();

/* Some declaration has the attribute, or comes from a precompiled header and may. */
bool attributes_expected();
void attributes_expect();

/* Every line parsed so far in this unit. */
std::vector<const Binding *> attribute_lines_known();

} // namespace aprof

#endif
