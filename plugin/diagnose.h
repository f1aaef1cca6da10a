/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages with a caret in place: in the program, in an attribute's string and
 * in a bindings file alike.
 *
 * Purpose: turns where a line was written into a location of the compiler.
 * Cost: only where there is something to say.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_DIAGNOSE_H
#define APROF_PLUGIN_DIAGNOSE_H

#include "gcc.h"
#include "lang/binding.h"

namespace aprof {

/* Line and column of a file that the compiler itself does not read. */
location_t file_location(const char *file, unsigned line, unsigned column);

/* Where the text of an attribute stands in the source, searched around `near`,
   with `offset` into it; `near` if it cannot be found (built by a macro). */
location_t attribute_location(location_t near, const std::string &text, size_t offset);

/* "uv.aprof:12" or "attribute", for messages. */
std::string binding_origin(const Binding &);

/* Where the line stands; `subject` as below. */
location_t binding_location(const Binding &, tree subject);

/* A note that shows the line; follows an error at the program's place. Equal
   attributes are one line: `subject`, the function it was written on (or null),
   tells which is meant. */
void note_binding(const Binding &, tree subject);

} // namespace aprof

#endif
