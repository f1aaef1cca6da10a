/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bindings files: NAME.aprof, one line of the grammar per line.
 *
 *     # comment
 *     header uv.h          the lines hold for names declared in such a file
 *     create call:uv_write key=w:a0 fn=a4 | run key=w:a0 once
 *
 * Purpose: loads the files that were asked for, and those shipped ones whose headers
 * the unit includes (library.h).
 * Cost: a line is parsed in some 10 us.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_BINDINGS_FILE_H
#define APROF_PLUGIN_BINDINGS_FILE_H

#include "binding.h"

namespace aprof {

/* Loads every file that the options ask for; errors are reported in place. */
void bindings_load();

/* Makes the files part of the unit's dependencies (-MD, -M). */
void bindings_add_dependencies();

/* All lines so far, users' files first. They live as long as the compiler. */
const std::vector<std::unique_ptr<Binding>> &bindings();

/* Of a shipped file: sorted paths, a text (false, after an error, where it cannot be
   read), and the paths behind `header` and `beside` in a text. */
struct HeaderPath {
  std::string path;
  bool beside; /* by itself it brings no line */
};
std::vector<std::string> shipped_paths();
bool bindings_text(const std::string &path, std::string *text);
std::vector<HeaderPath> headers_of_text(const std::string &text);

/* Appends a file's lines, with orders from `first`; once for each file, by whatever
   path. */
void bindings_add(const std::string &path, const std::string &text, const Library *,
                  unsigned first);

} // namespace aprof

#endif
