/* SPDX-License-Identifier: MIT */
/*
 * The words of the grammar, each with what it takes, where it goes and what it says.
 *
 * Purpose: the one table that the parser, the errors about what it does not know,
 * `aprof bindings --words` and the check of aprof-bindings(5) are made from.
 * To add a word: its row in grammar.cc and the member of Binding that it sets; its value, if it has
 * one, in words.cc; what it needs of the rest of the line in check.cc, and what it says in
 * meaning.cc. Cost, locking: none.
 */
#ifndef APROF_LANG_GRAMMAR_H
#define APROF_LANG_GRAMMAR_H

#include "binding.h"

namespace aprof {

/* What reads its value. */
enum class Word {
  Flag,
  Key,
  Fn,
  Ok,
  When,
  Once,
  Pending,
  Polling,
  Due,
  How,
  Tier,
  Told,
  Token,
  Sample,
  TokenOut,
  For
};
enum class Takes { Nothing, Something, Either };

struct VerbRow {
  const char *name;
  Verb verb;
  unsigned places; /* bit of each Place that it goes with */
  const char *text;
};

struct PlaceRow {
  const char *name;
  Place place;
  const char *form; /* of what follows the colon */
  const char *text;
};

struct WordRow {
  const char *name; /* with a '>' at its end, that stands in place of the '=' */
  Word word;
  Takes takes;
  const char *form; /* of what follows the '=', or null */
  unsigned verbs;   /* bit of each Verb that takes it */
  const char *text;
  bool Binding::*flag; /* that it sets; or null */
};

template <typename Row>
struct Rows {
  const Row *first, *last;
  const Row *begin() const { return first; }
  const Row *end() const { return last; }
};
Rows<VerbRow> verbs();
Rows<PlaceRow> places();
Rows<WordRow> words();

template <typename Name>
unsigned bit(Name name) {
  return 1u << (int)name;
}

const VerbRow &verb_row(Verb);

/* Names with blanks between them, for messages: of a table, of the places of a verb ("call: or
   def:"), of the words that it takes. */
template <typename Row>
std::string known(const Rows<Row> &rows) {
  std::string names;
  for (const Row &row : rows)
    names += std::string(names.empty() ? "" : " ") + row.name;
  return names;
}
std::string places_of(Verb);
std::string words_of(Verb);

} // namespace aprof

#endif
