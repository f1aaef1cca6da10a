/* SPDX-License-Identifier: MIT */
/* Lines as sentences; see meaning.h. */
#include "meaning.h"

#include <cstdio>

#include "pattern.h"

namespace aprof {

/* -- values ------------------------------------------------------------------------------ */

static std::string nth(int64_t n) {
  int64_t tens = n / 10 % 10;
  const char *end = tens == 1     ? "th"
                    : n % 10 == 1 ? "st"
                    : n % 10 == 2 ? "nd"
                    : n % 10 == 3 ? "rd"
                                  : "th";
  return std::to_string((long)n) + end;
}

static std::string argument(int64_t index) {
  if (index >= 0)
    return nth(index + 1) + " argument";
  return index == -1 ? "last argument" : nth(-index) + " argument from the end";
}

static std::string hexadecimal(int64_t number) {
  char text[32];
  snprintf(text, sizeof text, "0x%llx", (unsigned long long)number);
  return text;
}

/* Without "the", as a key is told in parentheses. */
static std::string bare(const Value *);

/* `its`: whose arguments these are goes without saying. */
static std::string of_value(const Value *v, const char *its = "the ") {
  std::string text = bare(v);
  bool named = v->kind == Value::Name || v->kind == Value::Number || v->kind == Value::Call ||
               v->kind == Value::Ret || v->kind == Value::Deref;
  bool cast = v->kind == Value::Cast;
  if (named || cast)
    return text;
  if (v->kind == Value::Arg)
    return its + text;
  if (v->kind == Value::Field)
    return "the field " + text;
  return "the " + text;
}

static std::string called(const Value &v) {
  std::string arguments;
  for (const auto &argument : v.args)
    arguments += (arguments.empty() ? "" : ", ") + of_value(argument.get());
  return v.name + "(" + arguments + ")";
}

static std::string bare(const Value *v) {
  const Value *of = v->of.get();
  switch (v->kind) {
  case Value::Number:
    return std::to_string((long)v->number);
  case Value::Arg:
    return argument(v->number);
  case Value::Deref:
    return "what " + of_value(of) + " points to";
  case Value::Field:
    return v->name + " of " + of_value(of);
  case Value::Mask:
    return "bits " + hexadecimal(v->number) + " of " + of_value(of);
  case Value::Ret:
    return "what it returns";
  case Value::Obj:
    return "object";
  case Value::Self:
    return "function itself";
  case Value::Cur:
    return "running future";
  case Value::Call:
    return called(*v);
  case Value::Owner:
    return v->name + " whose " + v->field + " is at " + of_value(of);
  case Value::Name:
    return v->name;
  case Value::Address:
    return "address of " + of_value(of);
  case Value::Cast:
    return of_value(of) + " as " + v->name + " " + std::string((size_t)v->number, '*');
  }
  return "";
}

static std::string compared(const Value *v, Compare compare) {
  std::string is = v->kind == Value::Mask ? " are " : " is ";
  switch (compare) {
  case Compare::Equal:
    return is;
  case Compare::Less:
    return is + "less than ";
  case Compare::LessEqual:
    return is + "at most ";
  case Compare::Greater:
    return is + "more than ";
  case Compare::GreaterEqual:
    return is + "at least ";
  case Compare::None:
  case Compare::NotEqual:
    break;
  }
  return is + "not ";
}

static std::string comparison(const Condition &c) {
  return of_value(c.what.get(), "its ") + compared(c.what.get(), c.compare) +
         (c.with ? of_value(c.with.get(), "its ") : "0");
}

static std::string holds(const Condition &c) {
  std::string text = comparison(c);
  for (const Condition &further : c.also)
    text += " and " + comparison(further);
  return text;
}

/* "a", "a or b", "a, b or c" */
static std::string listed(const std::vector<std::string> &parts, const char *last) {
  std::string text;
  for (size_t i = 0; i < parts.size(); i++)
    text += (i == 0 ? "" : i + 1 < parts.size() ? ", " : std::string(" ") + last + " ") + parts[i];
  return text;
}

static std::string numbers(const std::vector<int64_t> &constants) {
  std::vector<std::string> parts;
  for (int64_t constant : constants)
    parts.push_back(std::to_string((long)constant));
  return listed(parts, "or");
}

/* -- keys --------------------------------------------------------------------------------- */

static std::string key(const Key &k) {
  std::string space = k.space.empty() ? "" : k.space + ":";
  if (!k.first)
    return "";
  return space + "(" + bare(k.first.get()) + (k.second ? ", " + bare(k.second.get()) : "") + ")";
}

static bool is_current(const Key &k) {
  return k.first && k.first->kind == Value::Cur;
}

/* "the future known as w:(1st argument)", or several. */
static std::string future(const Binding &b) {
  if (is_current(b.key))
    return "the running future";
  std::vector<std::string> keys = {key(b.key)};
  for (const Key &more : b.more_keys)
    keys.push_back(key(more));
  return std::string(keys.size() > 1 ? "the futures" : "the future") + " known as " +
         listed(keys, "and");
}

/* -- places ----------------------------------------------------------------------------- */

static std::string functions(const Binding &b) {
  enum { FEW = 3 };
  std::vector<std::string> names;
  if (!b.list.empty())
    return "a function that " + b.list.substr(1) + " names";
  if (!b.regex)
    return b.name;
  if (!pattern_names(b.name, &names))
    return "a function whose name matches /" + b.name + "/";
  if (names.size() <= FEW)
    return listed(names, "or");
  return "one of " + std::to_string(names.size()) + " functions, " + names.front() + " to " +
         names.back();
}

static std::string field(const Binding &b) {
  std::string path = b.name;
  for (const std::string &name : b.fields)
    path += "." + name;
  return path;
}

static std::string place(const Binding &b) {
  switch (b.place) {
  case Place::Call:
    return "a call of " + functions(b);
  case Place::Icall:
    return "a call through " + field(b);
  case Place::Store:
    return "an assignment " + (b.stored ? "of " + of_value(b.stored.get()) + " " : "") + "to " +
           field(b);
  case Place::Def:
    return "the body of " + functions(b);
  case Place::Type:
    return b.quoted ? "the body of each function of the type " + b.name
                    : "the body of each function that is used as " + b.name;
  case Place::None:
    break;
  }
  return "the body";
}

/* "that returns 0", and its contrary. */
static bool returns(const Condition &c) {
  return c.what->kind == Value::Ret && c.also.empty() && c.with &&
         (c.compare == Compare::Equal || c.compare == Compare::NotEqual);
}

/* What has to happen: the place, and what is to be true behind it. */
static std::string occasion(const Binding &b) {
  if (!b.ok)
    return place(b);
  if (!returns(b.ok))
    return place(b) + " after which " + holds(b.ok);
  return place(b) + (b.ok.compare == Compare::Equal ? " that returns " : " that does not return ") +
         of_value(b.ok.with.get(), "its ");
}

/* -- verbs ------------------------------------------------------------------------------ */

/* What becomes of a future behind its run. */
static std::string after_run(const Binding &b) {
  if (b.once_if)
    return ", which ends it if then " + holds(b.once_if);
  if (b.once)
    return " once, which ends it";
  std::string text;
  if (b.pending)
    text += "; it waits for its next run where " + numbers(b.pending_values) + " is returned";
  if (b.polling)
    text += (b.pending ? ", and" : ";") + std::string(" its wait goes on where ") +
            numbers(b.polling_values) + " is returned";
  if (b.pending || b.polling)
    return text + ", else it ends";
  return ", after which it waits for its next run";
}

static std::string run_words(const Binding &b) {
  std::string text;
  if (!b.functions.empty())
    text += "; it has the name of " + of_value(b.functions[0].get(), "its ");
  if (b.worker)
    text += "; this is on a thread of a pool, and holds no loop";
  if (b.background)
    text += "; what it waits for is new work";
  return text;
}

static std::string run(const Binding &b) {
  return (b.behind && b.when ? "if " + holds(b.when) + ", " : "") + occasion(b) + " runs " +
         future(b) + after_run(b) + run_words(b);
}

/* What stands behind the '|'. */
static std::string then_run(const Binding &create) {
  const Binding &b = *create.then_run;
  if (b.place != Place::None)
    return "; " + run(b);
  if (!b.key.first)
    return std::string("; a run ends it") + (b.multi ? " not: it waits for the next" : "");
  bool same = key(b.key) == key(create.key);
  std::string which = same ? "it" : "it (there " + key(b.key) + ")";
  return std::string("; each call of ") +
         (create.functions.size() > 1 ? "one of these functions" : "that function") +
         (b.when ? ", if " + holds(b.when) + "," : "") + " runs " +
         (create.key.first ? which : future(b)) + after_run(b) + run_words(b);
}

static const char *unit_name(int64_t ns) {
  return ns == 1 ? "ns" : ns == 1000 ? "us" : ns == 1000000 ? "ms" : "s";
}

static std::string due(const Binding &b) {
  std::string text;
  for (const Duration &d : b.due)
    text += (text.empty() ? ""
             : d.minus    ? " minus "
                          : " plus ") +
            of_value(d.value.get(), "its ") + " in " + unit_name(d.ns);
  return text;
}

/* "of the function in its 5th argument" */
static std::string functions_of(const Binding &b) {
  std::vector<std::string> parts;
  for (const auto &function : b.functions) {
    const Value *v = function.get();
    if (v->kind == Value::Self)
      parts.push_back("the function that makes it");
    else if (v->kind == Value::Name)
      parts.push_back("the function " + v->name);
    else if (v->kind == Value::Call)
      parts.push_back("the function that " + bare(v) + " gives");
    else
      parts.push_back("the function in " + of_value(v, "its "));
  }
  return parts.empty() ? "" : " of " + listed(parts, "or");
}

static std::string create(const Binding &b) {
  std::string text = occasion(b) + " makes a future" + functions_of(b);
  if (b.key.first)
    text += std::string(b.functions.empty() ? " " : ", ") + "known as " + key(b.key);
  if (b.rearm)
    text += ", or makes one that is known so already go on";
  if (b.ready)
    text += "; it can run at once";
  if (!b.due.empty())
    text += "; it is due after " + due(b);
  if (b.background)
    text += "; what it waits for is new work";
  if (b.root)
    text += "; it has no parent";
  return text + (b.then_run ? then_run(b) : "");
}

static std::string async(const Binding &b) {
  return occasion(b) + " is a future, from its beginning to its end" +
         (b.root ? "; it has no parent" : "") +
         (b.background ? "; what it waits for is new work" : "");
}

static std::string await(const Binding &b) {
  if (b.names)
    return "what suspends inside " + occasion(b) + " is told by the line of this call" +
           (b.background ? "; it waits for new work" : "");
  return "the running future waits" + std::string(b.background ? " for new work" : "") +
         " during " + occasion(b) +
         (b.worker ? "; it goes on on a thread of a pool, and holds no loop" : "");
}

static std::string end(const Binding &b) {
  const char *how = b.how == How::Failed      ? " as failed"
                    : b.how == How::Cancelled ? " as cancelled"
                                              : "";
  return occasion(b) + " ends " + future(b) + how +
         (b.noreturn ? "; nobody comes back from it" : "");
}

static std::string of_verb(const Binding &b) {
  switch (b.verb) {
  case Verb::Async:
    return async(b);
  case Verb::Create:
    return create(b);
  case Verb::Run:
    return run(b);
  case Verb::Await:
    return await(b);
  case Verb::Switch:
    return "from " + occasion(b) + " on " + future(b) + " runs in place of the one that ran";
  case Verb::Wake:
    return occasion(b) + " makes " + future(b) + " ready to run";
  case Verb::End:
    return end(b);
  case Verb::Idle:
    return "the thread is idle during " + occasion(b);
  case Verb::Blocking:
    return "the whole thread sleeps during " + occasion(b) + ", and holds what runs on it";
  case Verb::Helper:
    return "what suspends or is created inside " + occasion(b) +
           " is told by the line of this call";
  }
  return "";
}

std::string meaning_of(const Binding &b) {
  return (b.when ? "if " + holds(b.when) + ", " : "") + of_verb(b);
}

std::string meaning_of(const HeaderPath &header) {
  return header.beside ? "the lines of this file hold for names that " + header.path +
                             " declares, too, where a header of this file is read"
                       : "the lines of this file hold for names that " + header.path + " declares";
}

} // namespace aprof
