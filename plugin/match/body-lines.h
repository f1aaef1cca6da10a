/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which lines mean the body of a function: by its name, its attributes, its type, and by how it
 * is used in the unit (scan.h).
 *
 * Cost: a body is looked at once. Locking: none.
 */
#ifndef APROF_PLUGIN_BODY_LINES_H
#define APROF_PLUGIN_BODY_LINES_H

#include "lang/binding.h"
#include "plugin/gcc.h"

namespace aprof {

struct RunLine {
  const Binding *line;
  bool quiet;          /* from `| run`: an unknown key is silent */
  bool named;          /* ... and this function is passed in place of one that has its type */
  bool own;            /* ... and of the futures that were made for this function alone */
  bool likely = false; /* ... and nothing but the type says that it may be given there */
};

inline const Binding *line_of(const RunLine &run) {
  return run.line;
}

struct BodyLines {
  const Binding *async = nullptr;
  std::vector<RunLine> runs;
  std::vector<const Binding *> switches;
  std::vector<const Binding *> instants; /* wake, end and label, when it is entered */
  const Binding *span = nullptr;

  /* While it is profiled its body is a future of its own each time. */
  bool surely() const { return async && !async->when && runs.empty(); }
};

/* Lines about the body of `function`; valid once the whole unit is parsed. */
const BodyLines &body_lines(tree function);

/* Some function of this unit has this `| run`; walks all of them. */
bool run_has_bodies(const Binding *run);

/* Calls of it, or through that type, enter a body that is a future: async, or a
   run of its own (not of a callback, which others may call too). */
bool enters_future(tree function, tree function_type);

} // namespace aprof

#endif
