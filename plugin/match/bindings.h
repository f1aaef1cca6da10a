/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bindings of a compilation: what files of lang/ say, and GCC's diagnostics of what is
 * wrong with them.
 *
 * Purpose: loads the files that were asked for, and those shipped ones whose headers
 * the unit includes (library.h); each is a dependency of the unit.
 * Cost: see lang/file.h.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_BINDINGS_H
#define APROF_PLUGIN_BINDINGS_H

#include "lang/file.h"

namespace aprof {

/* Loads every file that the options ask for; errors are reported in place. All files that are
   read, and all that are shipped, become dependencies of the unit (-MD, -M): where it is only
   preprocessed that is all, and nothing is said. */
void bindings_load();

/* All lines so far, users' files first. They live as long as the compiler. */
const std::vector<std::unique_ptr<Binding>> &bindings();

/* Of a shipped file: sorted paths, and a text (false, after an error, where it cannot be read). */
std::vector<std::string> shipped_paths();
bool bindings_text(const std::string &path, std::string *text);

/* Appends a file's lines; once for each file, by whatever path. */
void bindings_add(const std::string &path, const std::string &text, const Library *);

} // namespace aprof

#endif
