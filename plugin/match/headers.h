/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which names belong to which library: lines of shipped files hold for what their
 * headers declare.
 *
 * Purpose: answers whether a declaration has to do with the library of a line.
 * Cost: two look-ups per declaration, of units that include such a header.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_HEADERS_H
#define APROF_PLUGIN_HEADERS_H

#include "lang/binding.h"
#include "library.h"
#include "plugin/gcc.h"

namespace aprof {

/* Not in the file that is compiled. */
bool is_in_header(tree declaration);

/* While parsing: a later declaration elsewhere moves the location, so the first is
   remembered. */
void remember_header(tree declaration);

/* Whose headers declare this name, wherever it was declared again. */
const Libraries &libraries_of(tree declaration);

/* The line holds for this name: it is a user's, or of such a library. */
bool declared_where(const Binding *, tree declaration);

/* `function` is in a file that defines what the headers of this line declare: the
   library itself, whose calls of its own functions are nobody's requests. Valid
   once the whole unit is parsed. */
bool is_library_itself(const Binding *, tree function);
bool is_library_at(const Binding *, location_t where);

/* Declared by the system: nobody expects its body here. */
bool is_of_system(tree function);
/* ... and cannot be the program's: builds call headers of its own libraries the system's, too
   (-isystem, as CMake does). */
bool is_of_platform(tree function);

} // namespace aprof

#endif
