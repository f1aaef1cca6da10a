/*
 * Lines of the binding grammar: verb, place, words.
 *
 * To add a verb or a word: its row in the tables below, what it needs in
 * check_line, and what it emits in call.cc or body.cc.
 */
#include "binding.h"

#include "binding-value.h"

#include <algorithm>
#include <cstring>
#include <regex.h>

namespace aprof {

enum : unsigned {
  ASYNC = 1u << (int)Verb::Async,
  CREATE = 1u << (int)Verb::Create,
  RUN = 1u << (int)Verb::Run,
  AWAIT = 1u << (int)Verb::Await,
  WAKE = 1u << (int)Verb::Wake,
  END = 1u << (int)Verb::End,
  IDLE = 1u << (int)Verb::Idle,
  SWITCH = 1u << (int)Verb::Switch,
  EVERY = ~0u
};

static const struct {
  const char *name;
  Verb verb;
} verbs[] = {
    {"async", Verb::Async},   {"create", Verb::Create}, {"run", Verb::Run},
    {"await", Verb::Await},   {"wake", Verb::Wake},     {"end", Verb::End},
    {"idle", Verb::Idle},     {"switch", Verb::Switch}, {"blocking", Verb::Blocking},
    {"helper", Verb::Helper},
};

static const struct {
  const char *name;
  Place place;
} places[] = {
    {"call", Place::Call},   {"def", Place::Def},     {"type", Place::Type},
    {"icall", Place::Icall}, {"store", Place::Store},
};

enum class Word {
  Key,
  Fn,
  Ok,
  When,
  Once,
  Multi,
  Pending,
  Polling,
  Ready,
  Rearm,
  Root,
  Names,
  Background,
  Worker,
  Due,
  Label,
  How
};
enum class Takes { Nothing, Something, Either };

static const struct {
  const char *name;
  Word word;
  Takes takes;
  unsigned verbs;
} words[] = {
    {"key", Word::Key, Takes::Something, CREATE | RUN | WAKE | END | SWITCH},
    {"fn", Word::Fn, Takes::Something, CREATE},
    {"ok", Word::Ok, Takes::Something, CREATE | WAKE | END},
    {"when", Word::When, Takes::Something, EVERY},
    {"once", Word::Once, Takes::Either, RUN},
    {"multi", Word::Multi, Takes::Nothing, RUN},
    {"pending", Word::Pending, Takes::Something, RUN},
    {"polling", Word::Polling, Takes::Something, RUN},
    {"ready", Word::Ready, Takes::Nothing, CREATE},
    {"rearm", Word::Rearm, Takes::Nothing, CREATE},
    {"root", Word::Root, Takes::Nothing, CREATE | ASYNC},
    {"names", Word::Names, Takes::Nothing, AWAIT},
    {"background", Word::Background, Takes::Nothing, CREATE | RUN | AWAIT},
    {"worker", Word::Worker, Takes::Nothing, RUN},
    {"due", Word::Due, Takes::Something, CREATE},
    {"how", Word::How, Takes::Something, END},
    {"label", Word::Label, Takes::Something, EVERY},
};

const char *verb_name(Verb verb) {
  for (const auto &v : verbs)
    if (v.verb == verb)
      return v.name;
  return "?";
}

const char *place_name(Place place) {
  for (const auto &p : places)
    if (p.place == place)
      return p.name;
  return "none";
}

/* -- words, as stretches of the text ----------------------------------------- */

struct Stretch {
  size_t begin, end;
};

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
                      std::string("this ") + (c == '/' ? "regex" : "text") + " has no closing " +
                          c};
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

static bool wrong(Mistake *mistake, Stretch where, const std::string &message) {
  *mistake = {where.begin, where.end, message};
  return false;
}

template <typename Table>
static std::string known(const Table &table) {
  std::string names;
  const char *last = "";
  for (const auto &row : table)
    if (strcmp(last, row.name) != 0) {
      names += std::string(names.empty() ? "" : " ") + row.name;
      last = row.name;
    }
  return names;
}

/* -- one part of a line after the other ---------------------------------------- */

static bool read_verb(const std::string &text, Stretch where, Binding *b, Mistake *mistake) {
  std::string name = text.substr(where.begin, where.end - where.begin);
  for (const auto &v : verbs)
    if (name == v.name) {
      b->verb = v.verb;
      return true;
    }
  return wrong(mistake, where, "unknown verb '" + name + "'; known: " + known(verbs));
}

static bool is_regex(const std::string &name, Mistake *mistake) {
  regex_t regex;
  int status = regcomp(&regex, name.c_str(), REG_EXTENDED | REG_NOSUB);
  if (status == 0) {
    regfree(&regex);
    return true;
  }
  char why[128];
  regerror(status, &regex, why, sizeof why);
  mistake->message = std::string("this is no POSIX extended regex: ") + why;
  return false;
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
  if (b->regex && !is_regex(b->name, mistake))
    return wrong(mistake, where, mistake->message);
  if (b->quoted && b->place != Place::Type)
    return wrong(mistake, where, "only type: takes a text in quotes");
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
    b->stored = true;
    if (!read_one_constant(r, &b->stored_value))
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
  for (const auto &p : places) {
    if (name != p.name)
      continue;
    b->place = p.place;
    bool field = p.place == Place::Icall || p.place == Place::Store;
    if (attribute && field)
      return !wrong(mistake, head,
                    name + ": is for bindings files; written on a field, call: means calls "
                           "through it");
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
  return !wrong(mistake, head, "unknown place '" + name + ":'; known: " + known(places));
}

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

static bool read_word_value(Word word, bool given, Reader &r, Binding *b) {
  switch (word) {
  case Word::Key:
    return read_key(r, &b->key);
  case Word::Fn:
    return read_functions(r, &b->functions);
  case Word::Ok:
    return read_condition(r, &b->ok);
  case Word::When:
    return read_condition(r, &b->when);
  case Word::Once:
    b->once = true;
    return !given || read_condition(r, &b->once_if);
  case Word::Pending:
    b->pending = true;
    return read_constants(r, &b->pending_values);
  case Word::Polling:
    b->polling = true;
    return read_constants(r, &b->polling_values);
  case Word::Due:
    return read_duration(r, &b->due, &b->due_ns);
  case Word::How:
    return read_how(r, b);
  case Word::Multi:
    return b->multi = true;
  case Word::Ready:
    return b->ready = true;
  case Word::Rearm:
    return b->rearm = true;
  case Word::Root:
    return b->root = true;
  case Word::Names:
    return b->names = true;
  case Word::Background:
    return b->background = true;
  case Word::Worker:
    return b->worker = true;
  case Word::Label: /* reserved: whatever it says */
    return true;
  }
  return false;
}

static std::string words_of(Verb verb) {
  std::string names;
  for (const auto &w : words)
    if ((w.verbs & (1u << (int)verb)) && w.word != Word::Label)
      names += std::string(names.empty() ? "" : " ") + w.name;
  return names;
}

static bool read_word(const std::string &text, Stretch where, Binding *b, unsigned *seen,
                      Mistake *mistake) {
  size_t equals = text.find('=', where.begin);
  bool given = equals < where.end;
  Stretch head = {where.begin, given ? equals : where.end};
  std::string name = text.substr(head.begin, head.end - head.begin);
  std::string verb = verb_name(b->verb);
  for (const auto &w : words) {
    if (name != w.name)
      continue;
    if (!(w.verbs & (1u << (int)b->verb)))
      return wrong(mistake, head,
                   "'" + name + "' means nothing to " + verb + "; it takes: " + words_of(b->verb));
    if (*seen & (1u << (int)w.word))
      return wrong(mistake, head, "'" + name + "' is given twice");
    *seen |= 1u << (int)w.word;
    if (given ? w.takes == Takes::Nothing : w.takes == Takes::Something)
      return wrong(mistake, where,
                   "'" + name + (given ? "' takes no value" : "' needs a value: " + name + "=..."));
    Reader r(text, given ? equals + 1 : where.end, where.end, mistake);
    return read_word_value(w.word, given, r, b);
  }
  return wrong(mistake, head,
               "unknown word '" + name + "'; " + verb + " takes: " + words_of(b->verb));
}

/* -- what only the whole line can tell ------------------------------------------- */

static bool key_uses(const Key &key, Value::Kind kind) {
  return value_uses(key.first.get(), kind) || value_uses(key.second.get(), kind);
}

static bool condition_uses(const Condition &c, Value::Kind kind) {
  return value_uses(c.what.get(), kind);
}

/* Where `name` stands in this part of the line, for carets. */
static Stretch find_word(const std::string &text, const std::vector<Stretch> &cuts,
                         const char *name) {
  for (const Stretch &s : cuts)
    if (text.compare(s.begin, strlen(name), name) == 0)
      return s;
  return cuts.front();
}

static const char *misuse_of_values(const Binding &b, const char **word) {
  bool in_call = b.place == Place::Call || b.place == Place::Icall;
  bool has_object = b.place == Place::Icall || b.place == Place::Store;
  *word = "key=";
  if (key_uses(b.key, Value::Obj) && !has_object)
    return "obj is the object of an icall: or store: place";
  if (key_uses(b.key, Value::Ret) && b.verb == Verb::Switch)
    return "ret is not known yet when it switches";
  bool acts_on_current = b.verb == Verb::Wake || b.verb == Verb::End;
  if (key_uses(b.key, Value::Cur) && !acts_on_current)
    return "key=cur goes with wake and end only: the running future has its key already";
  if (key_uses(b.key, Value::Cur) && (b.key.second || b.key.first->kind != Value::Cur))
    return "cur is a whole key, not a part of one";
  if (key_uses(b.key, Value::Ret) && (b.verb == Verb::Run || !in_call))
    return "ret is not known yet when the run begins";
  if (b.key.space == "any" && !acts_on_current)
    return "any: goes with wake and end only: a future has one namespace";
  *word = "when=";
  if (condition_uses(b.when, Value::Ret))
    return "when= is decided before the call: ret is not known yet, use ok=";
  for (const Condition *c : {&b.when, &b.ok, &b.once_if}) {
    *word = c == &b.when ? "when=" : c == &b.ok ? "ok=" : "once=";
    if (condition_uses(*c, Value::Cur))
      return "a condition cannot use cur";
    if (condition_uses(*c, Value::Obj) && !has_object)
      return "obj is the object of an icall: or store: place";
    if (condition_uses(*c, Value::Ret) && b.place == Place::Store)
      return "an assignment returns nothing: it has a0, which is stored, and obj";
  }
  *word = "due=";
  for (auto kind : {Value::Ret, Value::Cur})
    if (value_uses(b.due.get(), kind))
      return "due= is evaluated before the call: it cannot use ret or cur";
  *word = "fn=";
  for (const auto &f : b.functions)
    if (value_uses(f.get(), Value::Ret) || value_uses(f.get(), Value::Cur) ||
        (value_uses(f.get(), Value::Obj) && !has_object))
      return "fn= is evaluated before the call: it cannot use ret, cur or obj";
  return nullptr;
}

static bool check_line(const std::string &text, const std::vector<Stretch> &cuts, const Binding &b,
                       Mistake *mistake) {
  std::string verb = verb_name(b.verb);
  bool body = b.place == Place::Def || b.place == Place::Type;
  if (b.place == Place::None)
    return wrong(mistake, cuts.front(),
                 verb + " needs a place: call:NAME, def:NAME or type:TYPEDEF");
  bool moment = b.verb == Verb::Create || b.verb == Verb::Wake || b.verb == Verb::End;
  if (b.place == Place::Store && !moment)
    return wrong(mistake, cuts.front(), verb + " needs an extent, which an assignment has not");
  if (b.verb == Verb::Async && !body)
    return wrong(mistake, cuts.front(), "async is about a body: it goes with def: or type:");
  if (b.verb == Verb::Switch && b.place == Place::Type)
    return wrong(mistake, cuts.front(), "switch goes with call: or def:");
  if (b.verb != Verb::Async && b.verb != Verb::Run && b.verb != Verb::Switch && body)
    return wrong(mistake, cuts.front(), verb + " is about a call: it goes with call:");
  bool keyed =
      b.verb == Verb::Run || b.verb == Verb::Wake || b.verb == Verb::End || b.verb == Verb::Switch;
  if (keyed && !b.key.first)
    return wrong(mistake, cuts.front(), verb + " needs key=");
  if ((int)b.once + (int)b.multi + (int)(b.pending || b.polling) > 1)
    return wrong(mistake,
                 find_word(text, cuts,
                           b.multi     ? "multi"
                           : b.pending ? "pending"
                                       : "polling"),
                 "only one of once, multi and pending= (or polling=) can hold");
  const char *word;
  if (const char *message = misuse_of_values(b, &word))
    return wrong(mistake, find_word(text, cuts, word), message);
  return true;
}

static Place default_place(Verb verb) {
  return verb == Verb::Async || verb == Verb::Run ? Place::Def : Place::Call;
}

static bool read_run_part(const std::string &text, std::vector<Stretch> cuts, Binding *b,
                          Mistake *mistake) {
  if (b->verb != Verb::Create)
    return wrong(mistake, cuts[0], "only create has a '| run' part");
  if (b->functions.empty())
    return wrong(mistake, cuts[0], "'| run' is about the bodies that reach fn=, which is missing");
  if (cuts.size() < 2)
    return wrong(mistake, cuts[0], "'run key=...' is expected after '|'");
  cuts.erase(cuts.begin());
  std::unique_ptr<Binding> run(new Binding());
  if (!read_verb(text, cuts[0], run.get(), mistake))
    return false;
  if (run->verb != Verb::Run)
    return wrong(mistake, cuts[0], "only run can follow '|'");
  run->place = Place::Def;
  unsigned seen = 0;
  for (size_t i = 1; i < cuts.size(); i++)
    if (!read_word(text, cuts[i], run.get(), &seen, mistake))
      return false;
  if (!check_line(text, cuts, *run, mistake))
    return false;
  run->text = text;
  b->then_run = std::move(run);
  return true;
}

bool binding_parse(const std::string &text, bool attribute, Binding *b, Mistake *mistake) {
  std::vector<Stretch> cuts, rest;
  if (!cut(text, &cuts, mistake))
    return false;
  if (cuts.empty())
    return wrong(mistake, {0, text.size()}, "a verb is expected; known: " + known(verbs));
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
  size_t next = 1;
  bool failed = false;
  if (next < cuts.size() && is_place(text, cuts[next], attribute, b, mistake, &failed))
    next++;
  if (failed)
    return false;
  if (attribute && b->place == Place::None)
    b->place = default_place(b->verb);
  unsigned seen = 0;
  for (; next < cuts.size(); next++)
    if (!read_word(text, cuts[next], b, &seen, mistake))
      return false;
  return check_line(text, cuts, *b, mistake) &&
         (rest.empty() || read_run_part(text, rest, b, mistake));
}

} // namespace aprof
