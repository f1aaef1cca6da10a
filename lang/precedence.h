/* SPDX-License-Identifier: MIT */
/*
 * Who wins where several lines mean one call or one body:
 *   - lines come in one order: attributes, users' files, shipped files,
 *   - a user's line for a call, or a field, replaces all shipped lines for it; a span or a label,
 *     which stand beside other lines, those of its verb only, and no other line replaces them,
 *   - a user's run line for a body replaces shipped ones of its namespace,
 *   - equal run lines of one body count once.
 *
 * Purpose: these rules, for lists of lines and of what has a line: line_of(element).
 * Cost: a walk over the few lines that mean one thing.
 * Locking: none.
 */
#ifndef APROF_LANG_PRECEDENCE_H
#define APROF_LANG_PRECEDENCE_H

#include "binding.h"
#include "header-rules.h"

#include <algorithm>

namespace aprof {

/* Of the first line of a file, behind `before` lines of users' files: theirs come first, then
   those of libraries by rank, whichever is met first. */
inline unsigned first_order(const Library *library, size_t before) {
  return library ? (1u << 31) + (library->rank << 16) : (unsigned)before + 1;
}

inline const Binding *line_of(const Binding *b) {
  return b;
}

template <typename List>
void in_order(List *list) {
  typedef typename List::value_type Element;
  std::stable_sort(list->begin(), list->end(), [](const Element &a, const Element &b) {
    return line_of(a)->order < line_of(b)->order;
  });
}

/* Drops shipped lines beside a user's for which `rivals` says so. */
template <typename List, typename Rivals>
void users_win(List *list, Rivals rivals) {
  typedef typename List::value_type Element;
  List all = *list;
  auto loses = [&](const Element &shipped) {
    return line_of(shipped)->library && std::any_of(all.begin(), all.end(), [&](const Element &e) {
             return !line_of(e)->library && rivals(line_of(e), line_of(shipped));
           });
  };
  list->erase(std::remove_if(list->begin(), list->end(), loses), list->end());
}

inline bool about_the_same(const Binding *one, const Binding *other) {
  return one->is_aside() || other->is_aside() ? one->verb == other->verb : true;
}

template <typename List>
void users_win(List *list) {
  users_win(list, about_the_same);
}

inline bool same_namespace(const Binding *one, const Binding *other) {
  return one->key.ns == other->key.ns;
}

inline bool same_run(const Binding *one, const Binding *other) {
  return one == other || one->words == other->words;
}

} // namespace aprof

#endif
