/*
 * Headers: the lines of a file that names some hold for what they declare.
 *
 * Purpose: answers whether a declaration, or this unit, has to do with a header.
 * Cost: a comparison of paths per source file, two look-ups per declaration: every
 * declaration of every unit comes through here.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_HEADERS_H
#define APROF_PLUGIN_HEADERS_H

#include "binding.h"
#include "gcc.h"

namespace aprof {

/* While parsing: a later declaration elsewhere moves the location, so the first is
   remembered. */
void remember_header(tree declaration);

/* Some header of a file's lines has declared something. */
bool headers_seen();

/* One of these headers has been read for this unit; valid once it is parsed. */
bool headers_present(const std::vector<std::string> &headers);

/* The lines of a file that is restricted to headers hold for this name, wherever
   it was declared again. Lines without headers hold for all. */
bool declared_where(const Binding *, tree declaration);

/* Some header of a file's lines declares it: the quick way to "no line". */
bool declared_in_some(tree declaration);

/* `function` is in a file that defines what the headers of this line declare: the
   library itself, whose calls of its own functions are nobody's requests. Valid
   once the whole unit is parsed. */
bool is_library_itself(const Binding *, tree function);

} // namespace aprof

#endif
