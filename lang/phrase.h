/* SPDX-License-Identifier: MIT */
/*
 * Parts of lines as phrases: what sentences (meaning.h) are made of.
 *
 * Purpose: values, conditions, keys and places, each as a few words of a sentence.
 * Cost: strings are made. Locking: none.
 */
#ifndef APROF_LANG_PHRASE_H
#define APROF_LANG_PHRASE_H

#include "binding.h"

namespace aprof {

/* "its 2nd argument"; `its`: whose arguments these are goes without saying. */
std::string of_value(const Value *, const char *its = "the ");
/* Without "the", as a key is told in parentheses. */
std::string bare(const Value *);
/* "its 1st argument is not 0 and ..." */
std::string holds(const Condition &);
/* "a", "a or b", "a, b or c" */
std::string listed(const std::vector<std::string> &parts, const char *last);
std::string numbers(const std::vector<int64_t> &constants);
/* "name of its 2nd argument (a text)" */
std::string told(const Told &);

/* "w:(1st argument)" */
std::string key(const Key &);
/* "the future known as w:(1st argument)", or several. */
std::string future(const Binding &);

/* "a call of f that returns 0": what has to happen for the line to hold. */
std::string occasion(const Binding &);

} // namespace aprof

#endif
