/* SPDX-License-Identifier: MIT */
/* Lines of the binding grammar: verb, place, and what follows '|'; see binding.h. */
#include "binding-line.h"

#include "expression.h"
#include "grammar.h"
#include "pattern.h"

#include <algorithm>
#include <regex.h>

namespace aprof {

/* -- words, as stretches of the text ----------------------------------------- */

/* The end of what is quoted by `quote` at `at`, or npos. */
static size_t skip_quoted(const std::string &text, size_t at, char quote) {
  for (size_t i = at + 1; i < text.size(); i++) {
    if (text[i] == '\\')
      i++;
    else if (text[i] == quote)
      return i + 1;
  }
  return std::string::npos;
}

/* Cuts at blanks outside parentheses and quotes; '|' stands alone. */
static bool cut(const std::string &text, std::vector<Stretch> *out, Mistake *mistake) {
  size_t i = 0;
  while (i < text.size()) {
    if (strchr(" \t\r\n", text[i])) {
      i++;
      continue;
    }
    size_t begin = i;
    int depth = 0;
    while (i < text.size() && (depth > 0 || !strchr(" \t\r\n|", text[i]))) {
      char c = text[i];
      bool opens = c == '"' || (c == '/' && i > begin && text[i - 1] == ':');
      if (opens) {
        size_t after = skip_quoted(text, i, c);
        if (after == std::string::npos) {
          *mistake = {i, text.size(),
                      std::string("this ") + (c == '/' ? "regex" : "text") + " has no closing " + c,
                      ""};
          return false;
        }
        i = after;
        continue;
      }
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      i++;
    }
    if (i == begin)
      i++;
    out->push_back({begin, i});
  }
  return true;
}

/* -- one part of a line after the other ---------------------------------------- */

static bool read_verb(const std::string &text, Stretch where, Binding *b, Mistake *mistake) {
  std::string name = text.substr(where.begin, where.end - where.begin);
  for (const VerbRow &v : verbs())
    if (name == v.name) {
      b->verb = v.verb;
      return true;
    }
  return wrong(mistake, where, "unknown verb '" + name + "'", "known: " + known(verbs()));
}

/* The C library takes memory by the square of it. */
enum { MOST_REGEX = 1 << 14 };

/* Counted repetitions inside each other make more of a regex than memory holds, and so does +,
   which the C library makes of two copies, behind what may be repeated itself. */
static bool is_modest(const std::string &regex) {
  unsigned long product = 1;
  for (size_t i = 0; i < regex.size() && product <= 1000; i++) {
    if (regex[i] == '+' && i > 0 && strchr("+*?})", regex[i - 1]))
      product *= 2;
    if (regex[i] != '{' || (i > 0 && regex[i - 1] == '\\'))
      continue;
    size_t comma = regex.find_first_of(",}", i);
    bool range = comma != std::string::npos && regex[comma] == ',';
    unsigned long low = strtoul(regex.c_str() + i + 1, nullptr, 10);
    unsigned long high = range ? strtoul(regex.c_str() + comma + 1, nullptr, 10) : 0;
    product *= std::max({low, high, 1ul});
  }
  return product <= 1000 && regex.size() <= MOST_REGEX && product * regex.size() <= 4096 * 1000;
}

static bool is_regex(const std::string &name, Mistake *mistake) {
  regex_t regex;
  std::vector<std::string> names;
  if (pattern_names(name, &names))
    return true; /* nobody compiles it */
  if (!is_modest(name)) {
    mistake->text = "this regex is too large";
    mistake->remedy =
        "write ^(NAME|NAME...)$, a file of names (def:@FILE) or several lines, or repeat less";
    return false;
  }
  int status = regcomp(&regex, name.c_str(), REG_EXTENDED | REG_NOSUB);
  if (status == 0) {
    regfree(&regex);
    return true;
  }
  char why[128];
  regerror(status, &regex, why, sizeof why);
  mistake->text = std::string("this is no POSIX extended regex: ") + why;
  return false;
}

/* "ret(args,...)": something before parentheses that hold the rest. */
static bool is_signature(const std::string &text) {
  size_t open = text.find('(');
  int depth = 0;
  for (char c : text) {
    depth += (c == '(') - (c == ')');
    if (depth < 0)
      return false;
  }
  return open != 0 && open != std::string::npos && depth == 0 &&
         text.find_last_not_of(" \t") == text.rfind(')');
}

static bool read_name(const std::string &text, Stretch where, Binding *b, Mistake *mistake) {
  char quote = text[where.begin];
  if (quote == '/' || quote == '"') {
    if (text[where.end - 1] != quote || where.end - where.begin < 3)
      return wrong(mistake, where, std::string("a name is expected between two ") + quote);
    b->regex = quote == '/';
    b->quoted = quote == '"';
    where.begin++, where.end--;
  }
  b->name = text.substr(where.begin, where.end - where.begin);
  b->listed = quote == '@';
  if (b->listed && b->place != Place::Call && b->place != Place::Def)
    return wrong(mistake, where, "a file of names goes with call: and def:");
  if (b->listed && b->name.size() == 1)
    return wrong(mistake, where, "the path of a file of names is expected after '@'");
  if (b->regex && !is_regex(b->name, mistake))
    return wrong(mistake, where, mistake->text, mistake->remedy);
  if (b->quoted && b->place != Place::Type)
    return wrong(mistake, where, "only type: takes a text in quotes");
  if (b->quoted && !is_signature(b->name))
    return wrong(mistake, where, "this is no signature: \"ret(args,...)\"");
  if (b->regex && b->place == Place::Type)
    return wrong(mistake, where, "type: takes a typedef or \"ret(args,...)\", not a regex");
  return true;
}

/* STRUCT.FIELD, STRUCT.FIELD.FIELD and, of store:, =V. */
static bool read_field_name(const std::string &text, Stretch where, Binding *b, Mistake *mistake) {
  size_t equals = text.find('=', where.begin);
  Stretch name = {where.begin, std::min(equals, where.end)};
  if (equals < where.end) {
    if (b->place == Place::Icall)
      return wrong(mistake, {equals, where.end}, "only store: takes a value");
    Reader r(text, equals + 1, where.end, mistake);
    if (!read_constant_or_name(r, &b->stored))
      return false;
  }
  for (size_t begin = name.begin; begin <= name.end;) {
    size_t end = std::min(text.find('.', begin), name.end);
    bool first = begin == name.begin;
    std::string part = text.substr(begin, end - begin);
    bool well = !part.empty() && is_identifier_start(part[0]);
    for (char c : part)
      well &= is_identifier_part(c) || (first && c == ':');
    if (!well || (first && end == name.end))
      return wrong(mistake, name,
                   std::string(place_name(b->place)) +
                       ": takes a struct and a field of it: STRUCT.FIELD");
    if (first)
      b->name = part;
    else
      b->fields.push_back(part);
    begin = end + 1;
  }
  return true;
}

/* Whether this stretch is a place; if so it is read. */
static bool is_place(const std::string &text, Stretch where, bool attribute, Binding *b,
                     Mistake *mistake, bool *failed) {
  size_t colon = text.find(':', where.begin), equals = text.find('=', where.begin);
  if (colon == std::string::npos || colon >= where.end || equals < colon)
    return false;
  Stretch head = {where.begin, colon};
  std::string name = text.substr(head.begin, head.end - head.begin);
  *failed = true;
  for (const PlaceRow &p : places()) {
    if (name != p.name)
      continue;
    b->place = p.place;
    bool field = p.place == Place::Icall || p.place == Place::Store;
    if (attribute && field)
      return !wrong(mistake, head, name + ": is for bindings files",
                    "written on a field, call: means calls through it");
    if (attribute && colon + 1 != where.end)
      return !wrong(mistake, {colon + 1, where.end},
                    "an attribute belongs to what it is written on: no name after '" + name + ":'");
    if (!attribute && colon + 1 == where.end)
      return !wrong(mistake, where, "a name is expected after '" + name + ":'");
    Stretch rest = {colon + 1, where.end};
    *failed = !attribute && !(field ? read_field_name(text, rest, b, mistake)
                                    : read_name(text, rest, b, mistake));
    return true;
  }
  return !wrong(mistake, head, "unknown place '" + name + ":'", "known: " + known(places()));
}

static Place default_place(Verb verb) {
  bool body = verb == Verb::Async || verb == Verb::Run || verb == Verb::Request;
  return body || verb == Verb::Span ? Place::Def : Place::Call;
}

/* The words behind the place, read and kept for comparisons. */
static bool read_words(const std::string &text, const std::vector<Stretch> &cuts, size_t next,
                       Binding *b, Mistake *mistake) {
  unsigned seen = 0;
  for (; next < cuts.size(); next++) {
    if (!read_word(text, cuts[next], b, &seen, mistake))
      return false;
    size_t length = cuts[next].end - cuts[next].begin;
    b->words += (b->words.empty() ? "" : " ") + text.substr(cuts[next].begin, length);
  }
  return true;
}

/* `cuts` begin with the '|'. */
static bool read_run_part(const std::string &text, std::vector<Stretch> cuts, bool attribute,
                          Binding *b, Mistake *mistake) {
  if (b->verb != Verb::Create)
    return wrong(mistake, cuts[0], "only create has a '| run' part");
  if (cuts.size() < 2)
    return wrong(mistake, cuts[0], "'run key=...' is expected after '|'");
  cuts.erase(cuts.begin());
  std::unique_ptr<Binding> run(new Binding());
  if (!read_verb(text, cuts[0], run.get(), mistake))
    return false;
  if (run->verb != Verb::Run)
    return wrong(mistake, cuts[0], "only run can follow '|'");
  bool failed = false;
  bool placed = cuts.size() > 1 && is_place(text, cuts[1], attribute, run.get(), mistake, &failed);
  if (failed)
    return false;
  if (placed && attribute)
    return wrong(mistake, cuts[1], "the '| run' of an attribute is about the bodies of fn=");
  if (!read_words(text, cuts, placed ? 2 : 1, run.get(), mistake))
    return false;
  if (!check_run_part(text, cuts, *b, run.get(), mistake))
    return false;
  run->text = text;
  run->behind = true;
  run->own = !placed && b->functions.size() == 1;
  b->then_run_at = cuts[0].begin;
  b->then_run = std::move(run);
  return true;
}

bool binding_parse(const std::string &text, bool attribute, Binding *b, Mistake *mistake) {
  std::vector<Stretch> cuts, rest;
  if (!cut(text, &cuts, mistake))
    return false;
  if (cuts.empty())
    return wrong(mistake, {0, text.size()}, "a verb is expected", "known: " + known(verbs()));
  for (size_t i = 0; i < cuts.size(); i++)
    if (text[cuts[i].begin] == '|') {
      rest.assign(cuts.begin() + (long)i, cuts.end());
      cuts.resize(i);
    }
  b->text = text;
  if (cuts.empty())
    return wrong(mistake, rest[0], "a verb is expected before '|'");
  if (!read_verb(text, cuts[0], b, mistake))
    return false;
  bool failed = false;
  bool placed = cuts.size() > 1 && is_place(text, cuts[1], attribute, b, mistake, &failed);
  if (failed)
    return false;
  if (attribute && b->place == Place::None)
    b->place = default_place(b->verb);
  b->root |= b->verb == Verb::Request;
  return read_words(text, cuts, placed ? 2 : 1, b, mistake) &&
         check_line(text, cuts, *b, mistake) &&
         (rest.empty() || read_run_part(text, rest, attribute, b, mistake)) &&
         check_waits(text, cuts, *b, mistake);
}

} // namespace aprof
