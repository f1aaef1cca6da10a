/* SPDX-License-Identifier: MIT */
/*
 * What the files that read one line of the grammar share: stretches of its text,
 * and how a mistake in one is said.
 *
 * Purpose: inside of binding_parse; nobody else includes it. binding-line.cc cuts the
 * line and reads verb and place, words.cc the words behind them, check.cc what only
 * the whole line can tell.
 * Cost, locking: see binding.h.
 */
#ifndef APROF_LANG_BINDING_LINE_H
#define APROF_LANG_BINDING_LINE_H

#include "binding.h"

#include <cstring>

namespace aprof {

/* The characters [begin, end) of the line. */
struct Stretch {
  size_t begin, end;
};

/* Fills `*mistake`; false, so that a reader can return it. */
inline bool wrong(Mistake *mistake, Stretch where, const std::string &text,
                  const std::string &remedy = "") {
  *mistake = {where.begin, where.end, text, remedy};
  return false;
}

/* -- one part of a line after the other ---------------------------------------- */

/* Reads one word of `b`'s verb; `*seen` has a bit for each that came before. */
bool read_word(const std::string &text, Stretch where, Binding *b, unsigned *seen,
               Mistake *mistake);

/* Whether verb, place and words go together; `cuts` are the line's words. */
bool check_line(const std::string &text, const std::vector<Stretch> &cuts, const Binding &b,
                Mistake *mistake);

/* What only the `| run` part tells of the line before it: whether its futures wait. */
bool check_waits(const std::string &text, const std::vector<Stretch> &cuts, const Binding &b,
                 Mistake *mistake);

/* The same for the `| run` part of a create line; `cuts` begin with its verb. */
bool check_run_part(const std::string &text, const std::vector<Stretch> &cuts,
                    const Binding &create, Binding *run, Mistake *mistake);

} // namespace aprof

#endif
