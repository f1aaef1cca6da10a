/* SPDX-License-Identifier: MIT */
/*
 * The binding grammar: one line that says what a function means to futures.
 *
 * Purpose: the only parser of the vocabulary. An attribute's string and a line
 * of a bindings file come through here, so they mean the same and fail alike.
 * Cost: once per line or attribute string; nothing per compiled statement.
 * Locking: none; a compiler is one thread.
 *
 *
 *     line      = verb [place] word... ['|' 'run' [place] word...]
 *     place     = ('call:' | 'def:' | 'type:' | 'icall:' | 'store:') name
 *     name      = token | '/regex/' | '"text"' | '@' FILE
 *               | STRUCT '.' FIELD ['.' FIELD...] ['=' (constant | NAME)]
 *     word      = name | name ('=' | '>') text without blanks outside (), "" and //
 *     keys      = key [',' key]...              several: wake and end
 *     key       = [namespace ':'] (value | '(' value ',' value ')')
 *     value     = ('*' | '&') value | primary ('->' field | '.' field)... ['&' constant]
 *     primary   = constant | aN | a-N | ret | obj | self | cur | NAME
 *               | NAME '(' [value [',' value]...] ')' | '(' TYPE '*'... ')' primary
 *               | 'owner(' value ',' STRUCT ',' FIELD ')' | '(' value ')'
 *     condition = comparison [',' comparison]...       all of them hold
 *     comparison = value [('==' | '!=' | '<' | '<=' | '>' | '>=') value]
 *     told      = value ':' ('str' [',' value] | 'int' | ENUM)
 *
 * An attribute leaves the place out: the verb decides it (async, run, request and span: the
 * body, all others: the calls), or a bare 'call:', 'def:' or 'type:' does.
 */
#ifndef APROF_LANG_BINDING_H
#define APROF_LANG_BINDING_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace aprof {

enum class Verb {
  Async,
  Create,
  Run,
  Await,
  Switch,
  Wake,
  End,
  Idle,
  Blocking,
  Helper,
  Span,
  Label,
  Request
};
enum class Place { None, Call, Def, Type, Icall, Store };
enum class How { Done, Failed, Cancelled };
enum class Compare { None, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

/* What a line may compute at run time. */
struct Value {
  enum Kind {
    Number,
    Arg,   /* number: index, negative from the end (-1 is the last) */
    Deref, /* *of */
    Field, /* of->name or of.name */
    Mask,  /* of & number */
    Ret,
    Obj,
    Self,
    Cur,
    Call,    /* name(args...) */
    Owner,   /* the struct `name` whose member `field` is at address `of` */
    Name,    /* a variable, function or enumerator that the unit declares */
    Address, /* &of */
    Cast     /* `of` as a pointer to the type `name`; number: how many stars */
  };
  Kind kind;
  int64_t number = 0;
  std::string name;
  std::string field;
  std::unique_ptr<Value> of;
  std::vector<std::unique_ptr<Value>> args; /* of a Call */
  bool tight = false; /* of a Cast: (T *)a1->f, which in C would be (T *)(a1->f) */
};

/* A value against another one, and further such: all hold. True where `what` is absent. */
struct Condition {
  std::unique_ptr<Value> what;
  Compare compare = Compare::None; /* None: not zero */
  std::unique_ptr<Value> with;     /* null: zero */
  std::vector<Condition> also;

  explicit operator bool() const { return what != nullptr; }
};

/* The identity of a future; given if `first` is there. */
struct Key {
  std::string space;
  uint32_t ns = 0; /* hash of `space`, as in abi.h */
  std::unique_ptr<Value> first, second;
};

struct Library; /* header-rules.h */

enum { MOST_DURATIONS = 7 }; /* so that a sum of them stays in 64 bits */

/* So many times so many ns, of a sum. */
struct Duration {
  std::unique_ptr<Value> value;
  int64_t ns = 0;
  bool minus = false;
};

/* What tells a person, or another process, of a request: a text, a number, or the name that an enum
   has for one. Given if `value` is there. */
struct Told {
  enum Type { Text, Number, Enum };
  std::unique_ptr<Value> value;
  Type type = Text;
  std::unique_ptr<Value> length; /* of a text that says how long it is, else null */
  std::string name;              /* of the enum */
};

/* One line. A create line's `| run ...` is a line of its own in `then_run`: about the
   bodies that reach fn=, unless it has a place, or there is no fn=. */
struct Binding {
  Verb verb = Verb::Async;
  Place place = Place::None;
  std::string name; /* function, typedef, regex or signature; of a field, its struct */
  bool regex = false;
  bool quoted = false;
  bool listed = false;             /* `name` is a file that lists the names, ... */
  std::string list;                /* ... which this one is from */
  std::vector<std::string> fields; /* icall:, store:, from the outside in */
  std::unique_ptr<Value> stored;   /* store:...=V: only where V, a constant or a name, is stored */

  Key key;
  std::vector<Key> more_keys;                    /* wake, end: each of them too */
  std::vector<std::unique_ptr<Value>> functions; /* fn= */
  Condition ok, when;
  bool once = false, multi = false, pending = false;
  Condition once_if;
  std::vector<int64_t> pending_values;
  bool polling = false;
  std::vector<int64_t> polling_values;
  bool ready = false, rearm = false, root = false, names = false, background = false;
  bool worker = false;
  std::vector<Duration> due; /* from the begin of the call, all of them together */
  How how = How::Done;
  bool noreturn = false;            /* end: nobody comes back, it is over now */
  std::string tier;                 /* that its time counts for, or empty */
  Told label;                       /* of its request: value= of a label, label= of others */
  Told token;                       /* a traceparent that its request goes on with */
  Condition sample;                 /* else a recording of some requests leaves its one out */
  std::unique_ptr<Value> token_out; /* where that of the running request is written to */
  Key of_root;                      /* run: for=, the root of the request that it is part of */
  bool hand = false;                /* wake: it goes over to the request of who wakes it */
  std::unique_ptr<Binding> then_run;
  size_t then_run_at = 0; /* where it begins in the text */
  bool behind = false;    /* it was the `| run` of another, ... */
  bool own = false;       /* ... of one function: only of the futures made for it */

  /* An unknown key is none of an event's faults: such bodies may be called for other reasons. */
  bool is_silent() const {
    return behind && (place == Place::None || place == Place::Def || place == Place::Type);
  }

  /* It says nothing about futures, only whose time it is: it stands beside other lines. */
  bool is_aside() const { return verb == Verb::Span || verb == Verb::Label; }

  /* The body is a future. */
  bool is_async() const { return verb == Verb::Async || verb == Verb::Request; }

  /* The `| run` that the bodies of fn= have, or null. */
  const Binding *run_of_functions() const {
    bool fits = then_run && then_run->place == Place::None && then_run->key.first;
    return fits ? then_run.get() : nullptr;
  }

  /* A create that says of nothing that it is under way: its futures can run at once. */
  bool is_spawn() const {
    return !then_run || !(then_run->once || then_run->multi || then_run->once_if);
  }

  /* Where it was written. */
  std::string text;
  std::string words;          /* those behind verb and place, one blank between them */
  const char *file = nullptr; /* nullptr: an attribute; outlives the line */
  unsigned line = 0;
  bool everywhere = false;          /* not written anywhere: of -fplugin-arg-aprof-spans= */
  unsigned order = 0;               /* among all lines of files, from 1; attributes come first */
  unsigned column = 0;              /* of the first character of text, from 1 */
  uint64_t where = 0;               /* an attribute's place, as the compiler numbers places */
  const Library *library = nullptr; /* of a shipped file: for its names only, and
                                       users' lines win */
};

/* A mistake: the characters [begin, end) of the text, what is wrong, and what would be right
   (or nothing, where that goes without saying). */
struct Mistake {
  size_t begin = 0, end = 0;
  std::string text, remedy;
};

inline std::string in_one(const std::string &text, const std::string &remedy) {
  return remedy.empty() ? text : text + "; " + remedy;
}

/* Parses `text` into `*binding`. False, with `*mistake` filled, if it is no
   line of the grammar or asks for something that is not supported yet. */
bool binding_parse(const std::string &text, bool attribute, Binding *binding, Mistake *mistake);

/* The verb and place as written, for messages. */
const char *verb_name(Verb);
const char *place_name(Place);

/* The value and all its parts, the whole before the parts. */
void value_visit(const Value *, const std::function<void(const Value &)> &visit);

/* The value or one of its parts is of that kind. */
bool value_uses(const Value *, Value::Kind);

/* The values of a condition, on both sides, and whether one of them has a part of that kind. */
void condition_visit(const Condition &, const std::function<void(const Value *)> &visit);
bool condition_uses(const Condition &, Value::Kind);

/* All values of a line, its `| run` part aside; some are null. */
void binding_visit(const Binding &, const std::function<void(const Value *)> &visit);

/* FNV-1a of a namespace, 0 for none, all ones for "any" (abi.h). */
uint32_t namespace_hash(const std::string &space);

} // namespace aprof

#endif
