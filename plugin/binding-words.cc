/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words of a line, behind its verb and place.
 *
 * To add one: its row in the table, its value in read_word_value, what it needs
 * in binding-check.cc, and what it emits in call-events.cc or body.cc.
 */
#include "binding-line.h"

#include "binding-value.h"

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
  How,
  Noreturn
};
enum class Takes { Nothing, Something, Either };

static const struct {
  const char *name;
  Word word;
  Takes takes;
  unsigned verbs;
} words[] = {
    {"key", Word::Key, Takes::Something, CREATE | RUN | WAKE | END | SWITCH},
    {"fn", Word::Fn, Takes::Something, CREATE | RUN},
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
    {"background", Word::Background, Takes::Nothing, CREATE | RUN | AWAIT | ASYNC},
    {"worker", Word::Worker, Takes::Nothing, RUN | AWAIT},
    {"due", Word::Due, Takes::Something, CREATE},
    {"how", Word::How, Takes::Something, END},
    {"noreturn", Word::Noreturn, Takes::Nothing, END},
    {"label", Word::Label, Takes::Something, EVERY},
};

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
    return read_keys(r, &b->key, &b->more_keys);
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
    return read_durations(r, &b->due);
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
  case Word::Noreturn:
    return b->noreturn = true;
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

bool read_word(const std::string &text, Stretch where, Binding *b, unsigned *seen,
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

} // namespace aprof
