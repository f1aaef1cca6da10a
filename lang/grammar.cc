/* SPDX-License-Identifier: MIT */
/* The table of the words of the grammar; see grammar.h. */
#include "grammar.h"

namespace aprof {

enum : unsigned {
  CALL = 1u << (int)Place::Call,
  DEF = 1u << (int)Place::Def,
  TYPE = 1u << (int)Place::Type,
  ICALL = 1u << (int)Place::Icall,
  STORE = 1u << (int)Place::Store,
  BODIES = DEF | TYPE,
  CALLS = CALL | ICALL,
};

static const VerbRow verb_rows[] = {
    {"async", Verb::Async, BODIES, "the body is a future"},
    {"create", Verb::Create, CALLS | STORE, "a future comes to life, and runs elsewhere"},
    {"run", Verb::Run, CALLS | BODIES, "the future of the key runs for the extent"},
    {"await", Verb::Await, CALLS, "the running future waits for the extent"},
    {"wake", Verb::Wake, CALLS | BODIES | STORE, "the futures of the key can run: they are queued"},
    {"end", Verb::End, CALLS | BODIES | STORE, "the futures of the key are over"},
    {"idle", Verb::Idle, CALLS, "the thread is idle for the extent"},
    {"switch", Verb::Switch, CALLS | DEF, "the future of the key runs from here on"},
    {"blocking", Verb::Blocking, CALLS, "the call puts the whole thread to sleep"},
    {"helper", Verb::Helper, CALLS, "what suspends or is created inside is reported at this call"},
    {"span", Verb::Span, CALLS | BODIES, "its time is told apart inside what runs"},
    {"label", Verb::Label, CALLS | BODIES | STORE, "the request gets a label: its kind"},
    {"request", Verb::Request, BODIES, "the body is a future, and a request"},
};

static const PlaceRow place_rows[] = {
    {"call", Place::Call, "NAME|/REGEX/|@FILE", "calls of a function"},
    {"def", Place::Def, "NAME|/REGEX/|@FILE", "the body of a function"},
    {"type", Place::Type, "TYPEDEF|\"SIGNATURE\"",
     "the bodies of functions that are used as a type"},
    {"icall", Place::Icall, "STRUCT.FIELD", "calls through a field"},
    {"store", Place::Store, "STRUCT.FIELD[=VALUE]", "assignments to a field"},
};

enum : unsigned {
  ASYNC = 1u << (int)Verb::Async,
  CREATE = 1u << (int)Verb::Create,
  RUN = 1u << (int)Verb::Run,
  AWAIT = 1u << (int)Verb::Await,
  WAKE = 1u << (int)Verb::Wake,
  END = 1u << (int)Verb::End,
  SWITCH = 1u << (int)Verb::Switch,
  SPAN = 1u << (int)Verb::Span,
  LABEL = 1u << (int)Verb::Label,
  REQUEST = 1u << (int)Verb::Request,
  EVERY = ~0u
};

static const WordRow word_rows[] = {
    {"key", Word::Key, Takes::Something, "KEY", CREATE | RUN | WAKE | END | SWITCH | LABEL,
     "by which the future is found again", nullptr},
    {"fn", Word::Fn, Takes::Something, "VALUE", CREATE | RUN, "the function that it runs", nullptr},
    {"ok", Word::Ok, Takes::Something, "CONDITION", CREATE | WAKE | END | LABEL,
     "whether the call did it, asked behind it", nullptr},
    {"when", Word::When, Takes::Something, "CONDITION", EVERY,
     "whether the line holds this time, asked before", nullptr},
    {"once", Word::Once, Takes::Either, "CONDITION", RUN, "it is over behind the run (if ...)",
     &Binding::once},
    {"multi", Word::Flag, Takes::Nothing, nullptr, RUN, "it waits for its next run",
     &Binding::multi},
    {"pending", Word::Pending, Takes::Something, "NUMBER", RUN,
     "it waits for its next run if this is returned, else it is over", &Binding::pending},
    {"polling", Word::Polling, Takes::Something, "NUMBER", RUN,
     "its wait goes on if this is returned", &Binding::polling},
    {"ready", Word::Flag, Takes::Nothing, nullptr, CREATE, "it can run at once: it is queued",
     &Binding::ready},
    {"rearm", Word::Flag, Takes::Nothing, nullptr, CREATE,
     "one that has the key already goes on in its place", &Binding::rearm},
    {"root", Word::Flag, Takes::Nothing, nullptr, CREATE | ASYNC | RUN, "it has no parent",
     &Binding::root},
    {"names", Word::Flag, Takes::Nothing, nullptr, AWAIT,
     "gives its line to suspensions inside, and waits itself for nothing", &Binding::names},
    {"background", Word::Flag, Takes::Nothing, nullptr, CREATE | RUN | AWAIT | ASYNC,
     "it waits for new work", &Binding::background},
    {"worker", Word::Flag, Takes::Nothing, nullptr, RUN | AWAIT,
     "what goes on is on a thread of a pool, and holds no loop", &Binding::worker},
    {"due", Word::Due, Takes::Something, "VALUE:UNIT", CREATE, "when it should run", nullptr},
    {"how", Word::How, Takes::Something, "done|failed|cancelled", END, "how it ends", nullptr},
    {"noreturn", Word::Flag, Takes::Nothing, nullptr, END, "nobody comes back from there",
     &Binding::noreturn},
    {"tier", Word::Tier, Takes::Something, "NAME", SPAN | AWAIT | CREATE,
     "the tier that its time counts for", nullptr},
    {"value", Word::Told, Takes::Something, "VALUE:TYPE", LABEL, "the label", nullptr},
    {"label", Word::Told, Takes::Something, "VALUE:TYPE", CREATE | ASYNC | RUN | REQUEST,
     "the label of its request", nullptr},
    {"token", Word::Token, Takes::Something, "VALUE", CREATE | ASYNC | REQUEST,
     "the traceparent that its request goes on with", nullptr},
    {"sample", Word::Sample, Takes::Something, "CONDITION", CREATE | ASYNC | REQUEST,
     "whether a recording of some requests may keep its own", nullptr},
    {"token>", Word::TokenOut, Takes::Something, "VALUE", LABEL | AWAIT | CREATE | SPAN,
     "where the traceparent of the running request is written", nullptr},
    {"for", Word::For, Takes::Something, "KEY", RUN, "the root of the request that it is part of",
     nullptr},
    {"hand", Word::Flag, Takes::Nothing, nullptr, WAKE, "they go over to the waker's request",
     &Binding::hand},
};

template <typename Row, size_t N>
static Rows<Row> rows(const Row (&table)[N]) {
  return {table, table + N};
}

Rows<VerbRow> verbs() {
  return rows(verb_rows);
}

Rows<PlaceRow> places() {
  return rows(place_rows);
}

Rows<WordRow> words() {
  return rows(word_rows);
}

const VerbRow &verb_row(Verb verb) {
  for (const VerbRow &row : verb_rows)
    if (row.verb == verb)
      return row;
  return verb_rows[0];
}

const char *verb_name(Verb verb) {
  return verb_row(verb).name;
}

const char *place_name(Place place) {
  for (const PlaceRow &row : place_rows)
    if (row.place == place)
      return row.name;
  return "none";
}

std::string places_of(Verb verb) {
  unsigned left = verb_row(verb).places;
  std::string names;
  for (const PlaceRow &row : place_rows)
    if (left & bit(row.place)) {
      left &= ~bit(row.place);
      names += (names.empty() ? "" : left ? ", " : " or ") + std::string(row.name) + ":";
    }
  return names;
}

std::string words_of(Verb verb) {
  std::string names;
  for (const WordRow &row : word_rows)
    if (row.verbs & bit(verb))
      names += std::string(names.empty() ? "" : " ") + row.name;
  return names;
}

} // namespace aprof
