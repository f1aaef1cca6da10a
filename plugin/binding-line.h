/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files that read one line of the grammar share: stretches of its text,
 * and how a mistake in one is said.
 *
 * Purpose: inside of binding_parse; nobody else includes it. binding.cc cuts the
 * line and reads verb and place, binding-words.cc the words behind them,
 * binding-check.cc what only the whole line can tell.
 * Cost, locking: see binding.h.
 */
#ifndef APROF_PLUGIN_BINDING_LINE_H
#define APROF_PLUGIN_BINDING_LINE_H

#include "binding.h"

#include <cstring>

namespace aprof {

/* The characters [begin, end) of the line. */
struct Stretch {
  size_t begin, end;
};

/* Fills `*mistake`; false, so that a reader can return it. */
bool wrong(Mistake *mistake, Stretch where, const std::string &message);

/* The names of a table of words, for messages. */
template <typename Table>
std::string known(const Table &table) {
  std::string names;
  const char *last = "";
  for (const auto &row : table)
    if (strcmp(last, row.name) != 0) {
      names += std::string(names.empty() ? "" : " ") + row.name;
      last = row.name;
    }
  return names;
}

/* Reads one word of `b`'s verb; `*seen` has a bit for each that came before. */
bool read_word(const std::string &text, Stretch where, Binding *b, unsigned *seen,
               Mistake *mistake);

/* Whether verb, place and words go together; `cuts` are the line's words. */
bool check_line(const std::string &text, const std::vector<Stretch> &cuts, const Binding &b,
                Mistake *mistake);

/* The same for the `| run` part of a create line; `cuts` begin with its verb. */
bool check_run_part(const std::string &text, const std::vector<Stretch> &cuts,
                    const Binding &create, Binding *run, Mistake *mistake);

} // namespace aprof

#endif
