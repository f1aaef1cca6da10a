/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines by name; see named-lines.h. */
#include "named-lines.h"

#include <algorithm>

#include "function-names.h"
#include "headers.h"
#include "lang/pattern.h"

namespace aprof {

/* -- filling it ---------------------------------------------------------------------------- */

static void add_name(NamedLines *index, const std::string &name, const Binding *b) {
  index->by_name[name].push_back(b);
  index->identified = false;
}

void named_lines_add(NamedLines *index, const Binding *b) {
  std::vector<std::string> names;
  index->mangled |= lang_GNU_CXX() && b->name.find("_Z") != std::string::npos;
  index->all_of_libraries &= b->library != nullptr;
  if (!b->regex) {
    add_name(index, b->name, b);
  } else if (pattern_names(b->name, &names)) {
    for (const std::string &name : names)
      add_name(index, name, b);
  } else {
    Pattern pattern = {b, "", "", regex_t(), false};
    pattern_ends(b->name, &pattern.begin, &pattern.end);
    index->patterns[b->library].push_back(pattern);
  }
}

void named_lines_forget_identifiers(NamedLines *index) {
  index->identifiers.clear();
  index->identified = false;
}

static const std::unordered_set<tree> &identifiers(NamedLines *index) {
  if (!index->identified)
    for (const auto &entry : index->by_name)
      index->identifiers.insert(get_identifier(entry.first.c_str()));
  index->identified = true;
  return index->identifiers;
}

/* -- asking it ----------------------------------------------------------------------------- */

static bool ends_fit(const Pattern &pattern, const char *name, size_t length) {
  const std::string &begin = pattern.begin, &end = pattern.end;
  return length >= begin.size() && length >= end.size() &&
         memcmp(name, begin.data(), begin.size()) == 0 &&
         memcmp(name + length - end.size(), end.data(), end.size()) == 0;
}

static bool any_ends_fit(NamedLines *index, const Library *library, tree name) {
  auto patterns = index->patterns.find(library);
  if (patterns == index->patterns.end())
    return false;
  for (const Pattern &pattern : patterns->second)
    if (ends_fit(pattern, IDENTIFIER_POINTER(name), IDENTIFIER_LENGTH(name)))
      return true;
  return false;
}

/* Certainly no line is about it. */
static bool is_unknown(NamedLines *index, tree function, const Libraries &libraries) {
  tree name = DECL_NAME(function);
  bool another = DECL_ASSEMBLER_NAME_SET_P(function) && DECL_ASSEMBLER_NAME(function) != name;
  if (lang_GNU_CXX() || another || identifiers(index).count(name) ||
      any_ends_fit(index, nullptr, name))
    return false;
  return std::none_of(libraries.begin(), libraries.end(),
                      [&](const Library *library) { return any_ends_fit(index, library, name); });
}

static bool matches(Pattern *pattern, const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    if (!ends_fit(*pattern, name.data(), name.size()))
      continue;
    if (!pattern->compiled)
      regcomp(&pattern->regex, pattern->line->name.c_str(), REG_EXTENDED | REG_NOSUB);
    pattern->compiled = true;
    if (regexec(&pattern->regex, name.c_str(), 0, nullptr, 0) == 0)
      return true;
  }
  return false;
}

/* Does a line of that file make the future by name? Then a pattern's, which means the rest, does
 * not. */
static bool is_made_by_name(const Lines &lines, const Binding *pattern) {
  return pattern->verb == Verb::Create &&
         std::any_of(lines.begin(), lines.end(), [&](const Binding *b) {
           return b->verb == Verb::Create && b->file == pattern->file;
         });
}

static void add_matching(NamedLines *index, const Library *library,
                         const std::vector<std::string> &names, Lines *lines) {
  auto patterns = index->patterns.find(library);
  if (patterns == index->patterns.end())
    return;
  size_t named = lines->size();
  for (Pattern &pattern : patterns->second)
    if (matches(&pattern, names) &&
        !is_made_by_name(Lines(lines->begin(), lines->begin() + (long)named), pattern.line))
      lines->push_back(pattern.line);
}

/* A C++ function that has the name of one of C is likely to call that: a line that says
   no more than the name means the one of C, or each call would count twice. */
static void drop_namesakes(Lines *lines, tree function) {
  bool asked = lang_GNU_CXX() && !lines->empty() && symtab->state != PARSING;
  if (!asked || !is_namesake_of_c(function))
    return;
  auto bare = [](const Binding *b) {
    return !b->everywhere && b->name.find("::") == std::string::npos &&
           b->name.find("_Z") == std::string::npos;
  };
  lines->erase(std::remove_if(lines->begin(), lines->end(), bare), lines->end());
}

static Lines look_up(NamedLines *index, tree function, const Libraries &libraries) {
  Lines lines;
  std::vector<std::string> names = names_of(function, index->mangled);
  for (const std::string &name : names) {
    auto found = index->by_name.find(name);
    if (found != index->by_name.end())
      for (const Binding *b : found->second)
        if (declared_where(b, function) && std::find(lines.begin(), lines.end(), b) == lines.end())
          lines.push_back(b);
  }
  add_matching(index, nullptr, names, &lines);
  for (const Library *library : libraries)
    add_matching(index, library, names, &lines);
  drop_namesakes(&lines, function);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Binding *a, const Binding *b) { return a->order < b->order; });
  return lines;
}

Lines named_lines_of(NamedLines *index, tree function) {
  if (index->all_of_libraries && !libraries_present())
    return Lines();
  auto known = index->found.find(DECL_UID(function));
  if (known != index->found.end())
    return known->second;
  const Libraries &libraries = libraries_of(function);
  if ((index->all_of_libraries && libraries.empty()) || is_unknown(index, function, libraries))
    return Lines();
  Lines lines = look_up(index, function, libraries);
  if (symtab->state != PARSING)
    index->found[DECL_UID(function)] = lines;
  return lines;
}

} // namespace aprof
