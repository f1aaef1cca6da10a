/* SPDX-License-Identifier: MIT */
/* The words of a line, behind its verb and place; their table is grammar.cc. */
#include "binding-line.h"

#include "expression.h"
#include "grammar.h"

namespace aprof {

static bool read_how(Reader &r, Binding *b) {
  std::string how = r.text.substr(r.at, r.end - r.at);
  size_t begin = r.at;
  r.at = r.end;
  if (how == "done")
    b->how = How::Done;
  else if (how == "failed")
    b->how = How::Failed;
  else if (how == "cancelled")
    b->how = How::Cancelled;
  else
    r.fail(begin, "how= is one of done, failed, cancelled");
  return !r.failed;
}

/* What a person reads in a table; a name that begins with _ is one of ours. */
static bool read_tier(Reader &r, Binding *b) {
  enum { LONGEST = 63 };
  b->tier = r.text.substr(r.at, r.end - r.at);
  bool well = !b->tier.empty() && b->tier.size() <= LONGEST && b->tier[0] != '_';
  for (char c : b->tier)
    well &= is_identifier_part(c) || c == '-' || c == '.' || c == '/';
  size_t begin = r.at;
  r.at = r.end;
  if (!well)
    r.fail(begin, "a tier has a short name",
           "of letters, digits, '_', '-', '.' and '/', and not with '_' at its beginning");
  return well;
}

static bool read_root(Reader &r, Binding *b) {
  std::vector<Key> more;
  size_t begin = r.at;
  if (!read_keys(r, &b->of_root, &more))
    return false;
  if (!more.empty())
    r.fail(begin, "a run is part of one request: one key");
  return more.empty();
}

static bool read_value_of(Word word, Reader &r, Binding *b) {
  switch (word) {
  case Word::Key:
    return read_keys(r, &b->key, &b->more_keys);
  case Word::Fn:
    return read_functions(r, &b->functions);
  case Word::Ok:
    return read_condition(r, &b->ok);
  case Word::When:
    return read_condition(r, &b->when);
  case Word::Sample:
    return read_condition(r, &b->sample);
  case Word::Once:
    return read_condition(r, &b->once_if);
  case Word::Pending:
    return read_constants(r, &b->pending_values);
  case Word::Polling:
    return read_constants(r, &b->polling_values);
  case Word::Due:
    return read_durations(r, &b->due);
  case Word::How:
    return read_how(r, b);
  case Word::Tier:
    return read_tier(r, b);
  case Word::Told:
    return read_told(r, &b->label);
  case Word::Token:
    return read_traceparent(r, &b->token);
  case Word::TokenOut:
    return read_one_value(r, &b->token_out);
  case Word::For:
    return read_root(r, b);
  case Word::Flag:
    return true;
  }
  return false;
}

bool read_word(const std::string &text, Stretch where, Binding *b, unsigned *seen,
               Mistake *mistake) {
  size_t equals = text.find_first_of("=>", where.begin);
  bool given = equals < where.end;
  Stretch head = {where.begin, given ? equals + (text[equals] == '>') : where.end};
  std::string name = text.substr(head.begin, head.end - head.begin);
  std::string verb = verb_name(b->verb);
  for (const WordRow &w : words()) {
    if (name != w.name)
      continue;
    if (!(w.verbs & bit(b->verb)))
      return wrong(mistake, head, "'" + name + "' means nothing to " + verb,
                   "it takes: " + words_of(b->verb));
    unsigned once = bit(&w - words().begin());
    if (*seen & once)
      return wrong(mistake, head, "'" + name + "' is given twice");
    *seen |= once;
    if (given ? w.takes == Takes::Nothing : w.takes == Takes::Something)
      return given ? wrong(mistake, where, "'" + name + "' takes no value")
                   : wrong(mistake, where, "'" + name + "' needs a value",
                           "as in " + name + (name.back() == '>' ? "" : "=") + w.form);
    if (w.flag)
      b->*w.flag = true;
    Reader r(text, equals + 1, where.end, mistake);
    return !given || read_value_of(w.word, r, b);
  }
  return wrong(mistake, head, "unknown word '" + name + "'", verb + " takes: " + words_of(b->verb));
}

} // namespace aprof
