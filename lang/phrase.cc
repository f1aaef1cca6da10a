/* SPDX-License-Identifier: MIT */
/* Parts of lines as phrases; see phrase.h. */
#include "phrase.h"

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

/* `its`: whose arguments these are goes without saying. */
std::string of_value(const Value *v, const char *its) {
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

std::string bare(const Value *v) {
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

std::string holds(const Condition &c) {
  std::string text = comparison(c);
  for (const Condition &further : c.also)
    text += " and " + comparison(further);
  return text;
}

/* "a", "a or b", "a, b or c" */
std::string listed(const std::vector<std::string> &parts, const char *last) {
  std::string text;
  for (size_t i = 0; i < parts.size(); i++)
    text += (i == 0 ? "" : i + 1 < parts.size() ? ", " : std::string(" ") + last + " ") + parts[i];
  return text;
}

std::string numbers(const std::vector<int64_t> &constants) {
  std::vector<std::string> parts;
  for (int64_t constant : constants)
    parts.push_back(std::to_string((long)constant));
  return listed(parts, "or");
}

std::string told(const Told &t) {
  std::string text = of_value(t.value.get(), "its ");
  if (t.length)
    return text + " (a text of " + of_value(t.length.get(), "its ") + " bytes)";
  return text + (t.type == Told::Text     ? " (a text)"
                 : t.type == Told::Number ? " (a number)"
                                          : " (a name of enum " + t.name + ")");
}

/* -- keys --------------------------------------------------------------------------------- */

std::string key(const Key &k) {
  std::string space = k.space.empty() ? "" : k.space + ":";
  if (!k.first)
    return "";
  return space + "(" + bare(k.first.get()) + (k.second ? ", " + bare(k.second.get()) : "") + ")";
}

static bool is_current(const Key &k) {
  return k.first && k.first->kind == Value::Cur;
}

/* "the future known as w:(1st argument)", or several. */
std::string future(const Binding &b) {
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
std::string occasion(const Binding &b) {
  if (!b.ok)
    return place(b);
  if (!returns(b.ok))
    return place(b) + " after which " + holds(b.ok);
  return place(b) + (b.ok.compare == Compare::Equal ? " that returns " : " that does not return ") +
         of_value(b.ok.with.get(), "its ");
}

} // namespace aprof
