/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shipped files: the lines about one library, for the names that its headers declare.
 *
 * Purpose: knows which source file is a header of which library, and has the lines of
 * a library parsed when the first of them is read. A unit that includes none pays
 * for a look at each shipped file's `header` lines, and nothing more.
 * Cost: one look-up of its last part for each file of the unit, by `library_watch`,
 * which is two comparisons where no file has been entered since.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_LIBRARY_H
#define APROF_PLUGIN_LIBRARY_H

#include "lang/binding.h"
#include "lang/header-rules.h"

#include "plugin/gcc.h"

namespace aprof {

typedef std::vector<const Library *> Libraries;

/* Looks for the shipped files; at the start of the unit. `add` gets each line that is parsed. */
void libraries_find(void (*add)(const Binding *));

/* Has the lines of each library parsed of which a header was entered since the last
   call. True if the unit began anew with a precompiled header, whose declarations
   nobody has announced. */
bool libraries_watch();

/* Some library's lines hold in this unit. */
bool libraries_present();

/* Whose headers this file is. `file` is a name as the compiler keeps it: looked up
   by its address. */
const Libraries &libraries_of_file(const char *file);

} // namespace aprof

#endif
