/* SPDX-License-Identifier: MIT */
/* What stands behind a word's '=': keys, functions, conditions, constants and times, made of
   values; see binding.h for the grammar. */
#include "expression.h"

namespace aprof {

static bool at_end(Reader &r) {
  r.blanks();
  if (r.done())
    return true;
  size_t begin = r.at;
  r.at = r.end;
  r.fail(begin, "'" + r.text.substr(begin, r.end - begin) + "' does not belong here");
  return false;
}

/* "w:" of w:a0; the colon of a second namespace is at_end's to report. */
static void read_namespace(Reader &r, Key *key) {
  size_t begin = r.at;
  std::string space = r.identifier();
  if (!space.empty() && r.peek() == ':' && r.accept(":"))
    key->space = space;
  else
    r.at = begin;
  key->ns = namespace_hash(key->space);
}

static bool read_key(Reader &r, Key *key) {
  read_namespace(r, key);
  size_t begin = r.at;
  if (r.accept("(")) {
    key->first = read_value(r);
    if (key->first && r.accept(",")) {
      key->second = read_value(r);
      if (!key->second)
        return false;
      if (!r.accept(")")) {
        r.fail(begin, "a tuple is two values in parentheses", "as in (a0,a1)");
        return false;
      }
      return true;
    }
    if (r.failed)
      return false;
    r.at = begin; /* only grouping, as in (*a0)->id */
  }
  key->first = read_value(r);
  return key->first != nullptr;
}

bool read_keys(Reader &r, Key *first, std::vector<Key> *more) {
  if (!read_key(r, first))
    return false;
  while (r.accept(",")) {
    more->emplace_back();
    if (!read_key(r, &more->back()))
      return false;
  }
  return at_end(r);
}

bool read_functions(Reader &r, std::vector<std::unique_ptr<Value>> *functions) {
  do {
    auto value = read_value(r);
    if (!value)
      return false;
    functions->push_back(std::move(value));
  } while (r.accept(","));
  return at_end(r);
}

static bool read_comparison(Reader &r, Condition *condition) {
  static const struct {
    const char *token;
    Compare compare;
  } operators[] = {{"==", Compare::Equal},     {"!=", Compare::NotEqual},
                   {"<=", Compare::LessEqual}, {">=", Compare::GreaterEqual},
                   {"<", Compare::Less},       {">", Compare::Greater}};
  condition->what = read_value(r);
  if (!condition->what)
    return false;
  for (const auto &o : operators)
    if (r.accept(o.token)) {
      condition->compare = o.compare;
      condition->with = read_value(r);
      return condition->with != nullptr;
    }
  return true;
}

bool read_condition(Reader &r, Condition *condition) {
  if (!read_comparison(r, condition))
    return false;
  while (r.accept(",")) {
    condition->also.emplace_back();
    if (!read_comparison(r, &condition->also.back()))
      return false;
  }
  return at_end(r);
}

bool read_constants(Reader &r, std::vector<int64_t> *constants) {
  do {
    int64_t constant;
    if (!read_constant(r, &constant))
      return false;
    constants->push_back(constant);
  } while (r.accept(","));
  return at_end(r);
}

bool read_constant_or_name(Reader &r, std::unique_ptr<Value> *value) {
  r.blanks();
  bool named = is_identifier_start(r.peek());
  *value = named ? read_primary(r) : new_value(Value::Number);
  if (!*value || (!named && !read_constant(r, &(*value)->number)))
    return false;
  if ((*value)->kind == Value::Number || (*value)->kind == Value::Name)
    return at_end(r);
  r.fail(r.at, "what is stored is told by a number or the name of a function or variable");
  return false;
}

bool read_one_value(Reader &r, std::unique_ptr<Value> *value) {
  *value = read_value(r);
  return *value && at_end(r);
}

/* What stands behind the colon. */
static bool read_type(Reader &r, Told *told) {
  size_t begin = r.at;
  std::string name = r.identifier();
  if (name.empty() || (name == "int" && !r.done())) {
    r.at = r.end;
    r.fail(begin, "a type is expected behind the colon",
           "str (a text), str,LENGTH, int, or the name of an enum");
    return false;
  }
  told->type = name == "str" ? Told::Text : name == "int" ? Told::Number : Told::Enum;
  if (told->type == Told::Enum) {
    told->name = name == "enum" ? r.identifier() : name;
  } else if (told->type == Told::Text && r.accept(",")) {
    told->length = read_value(r);
    return told->length && at_end(r);
  }
  return at_end(r);
}

bool read_told(Reader &r, Told *told) {
  size_t begin = r.at;
  told->value = read_value(r);
  if (!told->value)
    return false;
  if (r.accept(":"))
    return read_type(r, told);
  r.at = r.end;
  r.fail(begin, "a value and its type are expected",
         "as in a1->name:str, a1:str,a2 (so many bytes), a0->method:int or a0->method:METHODS, "
         "an enum");
  return false;
}

/* A text, which goes without saying. */
bool read_traceparent(Reader &r, Told *told) {
  size_t begin = r.at;
  told->value = read_value(r);
  if (!told->value || r.done())
    return told->value != nullptr;
  if (r.accept(":") && read_type(r, told) && told->type == Told::Text)
    return true;
  r.at = r.end;
  r.fail(begin, "a traceparent is a text", "token=V, or token=V:str,LENGTH");
  return false;
}

static bool read_unit(Reader &r, int64_t *ns) {
  static const struct {
    const char *name;
    int64_t ns;
  } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
  bool colon = r.accept(":");
  size_t begin = r.at;
  std::string name = colon ? r.identifier() : "";
  for (const auto &unit : units)
    if (name == unit.name) {
      *ns = unit.ns;
      return true;
    }
  r.at = r.end;
  r.fail(begin, "a value and its unit are expected",
         "as in a2:ms (ns, us, ms or s), or a sum of such: a1->tv_sec:s+a1->tv_usec:us");
  return false;
}

bool read_durations(Reader &r, std::vector<Duration> *durations) {
  bool minus = false;
  do {
    size_t begin = r.at;
    Duration d;
    d.minus = minus;
    d.value = read_value(r);
    if (!d.value || !read_unit(r, &d.ns))
      return false;
    durations->push_back(std::move(d));
    if (durations->size() > MOST_DURATIONS) {
      r.fail(begin, "due= is a sum of seven parts at most");
      return false;
    }
    minus = r.accept("-");
  } while (minus || r.accept("+"));
  return at_end(r);
}

} // namespace aprof
