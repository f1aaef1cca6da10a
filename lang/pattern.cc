/* SPDX-License-Identifier: MIT */
/*
 * Regexes as lists of names; see pattern.h.
 *
 * Only what is certain is understood: characters of names, groups, '|' and '?'.
 * All else makes a reader give up, and the regex is run.
 */
#include "pattern.h"

#include <cctype>
#include <cstring>

namespace aprof {

typedef std::vector<std::string> Names;

static const size_t most_names = 1 << 16, most_characters = 1 << 22;
static const int deepest = 64; /* groups are read by functions that call themselves */

static bool is_plain(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static size_t length_of(const Names &names) {
  size_t length = 0;
  for (const std::string &name : names)
    length += name.size();
  return length;
}

/* Each of `left` followed by each of `right`. */
static bool concatenate(Names *left, const Names &right) {
  Names both;
  if (left->size() * right.size() > most_names ||
      length_of(*left) * right.size() + length_of(right) * left->size() > most_characters)
    return false;
  for (const std::string &l : *left)
    for (const std::string &r : right)
      both.push_back(l + r);
  *left = both;
  return true;
}

static bool read_alternatives(const std::string &text, size_t *at, Names *names);

/* A character, or a group, and the '?' behind it. */
static bool read_piece(const std::string &text, size_t *at, Names *piece) {
  if (text[*at] == '(') {
    ++*at;
    if (!read_alternatives(text, at, piece) || *at >= text.size())
      return false;
    ++*at; /* the parenthesis that closes it */
  } else if (is_plain(text[*at])) {
    piece->push_back(std::string(1, text[(*at)++]));
  } else {
    return false;
  }
  if (*at < text.size() && text[*at] == '?') {
    ++*at;
    piece->push_back("");
  }
  return *at >= text.size() || !strchr("*+?{", text[*at]);
}

/* Up to the end of the text or the parenthesis that closes the group. */
static bool read_alternatives(const std::string &text, size_t *at, Names *names) {
  Names branch = {""};
  for (; *at < text.size() && text[*at] != ')';) {
    if (text[*at] == '|') {
      ++*at;
      names->insert(names->end(), branch.begin(), branch.end());
      branch = {""};
      continue;
    }
    Names piece;
    if (!read_piece(text, at, &piece) || !concatenate(&branch, piece))
      return false;
  }
  names->insert(names->end(), branch.begin(), branch.end());
  return names->size() <= most_names;
}

bool pattern_names(const std::string &regex, Names *names) {
  if (regex.size() < 3 || regex.front() != '^' || regex.back() != '$')
    return false;
  std::string inside = regex.substr(1, regex.size() - 2);
  size_t at = 0;
  int depth = 0;
  for (char c : inside) { /* ^a|b$ is anchored on one side each */
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth < 0 || depth > deepest || (depth == 0 && c == '|'))
      return false;
  }
  names->clear();
  return depth == 0 && read_alternatives(inside, &at, names) && at == inside.size();
}

/* Behind the bracket expression that begins at `at`. */
static size_t skip_brackets(const std::string &regex, size_t at) {
  size_t i = at + 1;
  if (i < regex.size() && regex[i] == '^')
    i++;
  if (i < regex.size() && regex[i] == ']')
    i++;
  for (; i < regex.size() && regex[i] != ']'; i++)
    if (regex[i] == '[' && i + 1 < regex.size() && strchr(":.=", regex[i + 1])) {
      size_t close = regex.find(std::string(1, regex[i + 1]) + "]", i + 2);
      if (close == std::string::npos)
        return regex.size();
      i = close + 1;
    }
  return i + 1;
}

/* a|b outside any group. */
static bool has_alternatives(const std::string &regex) {
  int depth = 0;
  for (size_t i = 0; i < regex.size();) {
    char c = regex[i];
    if (c == '|' && depth == 0)
      return true;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    i = c == '[' ? skip_brackets(regex, i) : c == '\\' ? i + 2 : i + 1;
  }
  return false;
}

void pattern_ends(const std::string &regex, std::string *begin, std::string *end) {
  begin->clear();
  end->clear();
  if (regex.empty() || has_alternatives(regex))
    return;
  size_t i = 1;
  if (regex.front() == '^')
    for (; i < regex.size() && is_plain(regex[i]); i++)
      *begin += regex[i];
  if (!begin->empty() && i < regex.size() && strchr("*?{", regex[i]))
    begin->pop_back();
  if (regex.back() != '$')
    return;
  for (i = regex.size() - 1; i > 0 && is_plain(regex[i - 1]); i--)
    *end = regex[i - 1] + *end;
  if (!end->empty() && i > 0 && regex[i - 1] == '\\')
    end->erase(0, 1); /* \w */
}

} // namespace aprof
