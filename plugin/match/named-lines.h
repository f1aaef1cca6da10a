/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines by the names they give: exact ones, and regexes.
 *
 * Purpose: for each declaration and call of a unit, whether some line is about that
 * name: nearly always none is, and that is told by a look-up of its identifier.
 * Cost: a look-up; a regex is run only on names that begin and end like it. Results
 * are kept once the unit is parsed.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_INDEX_H
#define APROF_PLUGIN_INDEX_H

#include <regex.h>

#include "lang/binding.h"
#include "plugin/gcc.h"

namespace aprof {

typedef std::vector<const Binding *> Lines;

struct Pattern {
  const Binding *line;
  std::string begin, end; /* of what it matches */
  regex_t regex;
  bool compiled; /* when it is first asked for */
};

struct NamedLines {
  std::unordered_map<std::string, Lines> by_name;
  std::unordered_map<const Library *, std::vector<Pattern>> patterns; /* null: users' */
  std::unordered_set<tree> identifiers;                               /* of by_name */
  bool identified = true;                                             /* all of them are there */
  bool mangled = false; /* some line has a mangled name */
  bool all_of_libraries = true;
  std::unordered_map<unsigned, Lines> found; /* by DECL_UID */
};

void named_lines_add(NamedLines *, const Binding *);

/* The compiler began anew with other identifiers (precompiled headers). */
void named_lines_forget_identifiers(NamedLines *);

/* The lines that mean this function, by their order. */
Lines named_lines_of(NamedLines *, tree function);

} // namespace aprof

#endif
