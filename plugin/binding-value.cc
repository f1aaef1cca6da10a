/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys, values and conditions; see binding.h for the grammar. */
#include "binding-value.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace aprof {

bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_identifier_part(char c) {
  return is_identifier_start(c) || (c >= '0' && c <= '9');
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void Reader::blanks() {
  while (at < end && (text[at] == ' ' || text[at] == '\t'))
    at++;
}

bool Reader::accept(const char *token) {
  blanks();
  size_t length = strlen(token);
  if (end - at < length || text.compare(at, length, token) != 0)
    return false;
  at += length;
  return true;
}

std::string Reader::identifier() {
  blanks();
  size_t begin = at;
  if (is_identifier_start(peek()))
    while (is_identifier_part(peek()))
      at++;
  return text.substr(begin, at - begin);
}

void Reader::fail(size_t begin, const std::string &message) {
  if (failed)
    return;
  failed = true;
  mistake->begin = begin;
  mistake->end = at > begin ? at : begin + 1;
  mistake->message = message;
}

static std::unique_ptr<Value> new_value(Value::Kind kind) {
  std::unique_ptr<Value> value(new Value());
  value->kind = kind;
  return value;
}

static bool read_constant(Reader &r, int64_t *constant) {
  r.blanks();
  size_t begin = r.at;
  if (r.accept("NULL")) {
    *constant = 0;
    return true;
  }
  if (!is_digit(r.peek()) && !(r.peek() == '-' && is_digit(r.peek(1)))) {
    if (!r.done())
      r.at++;
    r.fail(begin, "a number is expected here: decimal, 0x... or NULL");
    return false;
  }
  const char *start = r.text.c_str() + r.at;
  char *stop;
  errno = 0;
  *constant =
      r.peek() == '-' ? (int64_t)strtoll(start, &stop, 0) : (int64_t)strtoull(start, &stop, 0);
  r.at += (size_t)(stop - start);
  if (errno == ERANGE || r.at > r.end || is_identifier_part(r.peek())) {
    r.fail(begin, "this is not a 64-bit number");
    return false;
  }
  return true;
}

static std::unique_ptr<Value> read_value(Reader &r);

/* Values are read and walked by functions that call themselves. */
enum { MOST_PARTS = 64 };

static bool too_many(Reader &r, size_t begin) {
  if (++r.parts <= MOST_PARTS)
    return false;
  r.fail(begin, "this word has too many parts: at most 64 values, fields, * and &");
  return true;
}

/* owner(V,STRUCT,FIELD), after its name. */
static std::unique_ptr<Value> read_owner(Reader &r, size_t begin) {
  auto owner = new_value(Value::Owner);
  bool well = r.accept("(") && (owner->of = read_value(r)) && r.accept(",");
  if (well) {
    r.accept("struct ");
    owner->name = r.identifier();
    well = !owner->name.empty() && r.accept(",");
  }
  while (well) {
    std::string part = r.identifier();
    well = !part.empty();
    owner->field += part;
    if (!well || !r.accept("."))
      break;
    owner->field += '.';
  }
  if (well && r.accept(")"))
    return owner;
  r.fail(begin, "owner is written owner(VALUE,STRUCT,FIELD)");
  return nullptr;
}

/* NAME(V,...), behind the parenthesis. */
static std::unique_ptr<Value> read_call(Reader &r, const std::string &name, size_t begin) {
  auto call = new_value(Value::Call);
  call->name = name;
  if (r.accept(")"))
    return call;
  do {
    call->args.push_back(read_value(r));
    if (!call->args.back())
      return nullptr;
  } while (r.accept(","));
  if (r.accept(")"))
    return call;
  r.fail(begin, "this call is not closed: " + name + "(VALUE,...)");
  return nullptr;
}

/* aN or a-N; false leaves the reader where it was. */
static bool read_argument(Reader &r, int64_t *number) {
  size_t sign = r.peek(1) == '-' ? 1 : 0;
  if (r.peek() != 'a' || !is_digit(r.peek(1 + sign)))
    return false;
  size_t begin = r.at;
  r.at += 1 + sign;
  int64_t n = 0;
  while (is_digit(r.peek()) && n < 1000)
    n = n * 10 + (r.text[r.at++] - '0');
  if (n >= 1000 || is_identifier_part(r.peek()) || (sign && n == 0)) {
    r.at = begin;
    return false;
  }
  *number = sign ? -n : n;
  return true;
}

static std::unique_ptr<Value> read_unary(Reader &r);
static std::unique_ptr<Value> read_primary(Reader &r);

/* (struct T *), behind its parenthesis; null, and the reader where it was, where it is none. */
static std::unique_ptr<Value> read_type(Reader &r) {
  size_t begin = r.at;
  auto cast = new_value(Value::Cast);
  std::string word = r.identifier();
  bool tag = word == "struct" || word == "union" || word == "enum";
  cast->name = tag ? r.identifier() : word;
  while (!cast->name.empty() && r.accept("*"))
    cast->number++;
  if (cast->number > 0 && r.accept(")"))
    return cast;
  r.at = begin;
  return nullptr;
}

/* What is cast: as in C, but that (T *)a1->f is the f of what a1 points to. */
static std::unique_ptr<Value> read_operand(Reader &r, Value *cast) {
  r.blanks();
  bool prefix = r.peek() == '*' || r.peek() == '&', group = r.peek() == '(';
  auto operand = prefix ? read_unary(r) : read_primary(r);
  r.blanks();
  cast->tight = operand && !prefix && !group && (r.peek() == '.' || (r.peek() == '-' && r.peek(1) == '>'));
  return operand;
}

static std::unique_ptr<Value> read_parenthesis(Reader &r, size_t begin) {
  if (auto cast = read_type(r)) {
    if (too_many(r, begin))
      return nullptr;
    cast->of = read_operand(r, cast.get());
    return cast->of ? std::move(cast) : nullptr;
  }
  auto value = read_value(r);
  if (value && !r.accept(")")) {
    r.fail(begin, "this parenthesis is not closed");
    return nullptr;
  }
  return value;
}

/* NAME(V,...) or NAME. */
static std::unique_ptr<Value> read_named(Reader &r, const std::string &name, size_t begin) {
  if (r.accept("("))
    return read_call(r, name, begin);
  auto value = new_value(Value::Name);
  value->name = name;
  return value;
}

static std::unique_ptr<Value> read_primary(Reader &r) {
  r.blanks();
  size_t begin = r.at;
  if (r.accept("("))
    return read_parenthesis(r, begin);
  int64_t number;
  bool constant = is_digit(r.peek()) || (r.peek() == '-' && is_digit(r.peek(1)));
  if (constant ? read_constant(r, &number) : read_argument(r, &number)) {
    auto value = new_value(constant ? Value::Number : Value::Arg);
    value->number = number;
    return value;
  }
  if (r.failed)
    return nullptr;
  std::string name = r.identifier();
  if (name == "owner")
    return read_owner(r, begin);
  if (name == "ret")
    return new_value(Value::Ret);
  if (name == "obj")
    return new_value(Value::Obj);
  if (name == "self")
    return new_value(Value::Self);
  if (name == "cur")
    return new_value(Value::Cur);
  if (name == "NULL")
    return new_value(Value::Number);
  if (!name.empty())
    return read_named(r, name, begin);
  if (!r.done())
    r.at++;
  std::string what = begin < r.at ? "'" + r.text.substr(begin, r.at - begin) + "'" : "this";
  r.fail(begin, what +
                    " is no value; known: a0, a1..., a-1 (from the end), *V, V->field, ret, obj, "
                    "self, cur, NAME, &NAME, NAME(V,...), (struct T *)V, owner(V,STRUCT,FIELD), "
                    "V&mask, numbers");
  return nullptr;
}

static std::unique_ptr<Value> read_postfix(Reader &r) {
  auto value = read_primary(r);
  while (value) {
    size_t begin = r.at;
    if (!r.accept("->") && !r.accept("."))
      break;
    if (too_many(r, begin))
      return nullptr;
    auto field = new_value(Value::Field);
    field->name = r.identifier();
    if (field->name.empty()) {
      r.fail(begin, "the name of a field is expected here");
      return nullptr;
    }
    field->of = std::move(value);
    value = std::move(field);
  }
  return value;
}

/* What may lie at an address that lasts; where it does the compiler knows. */
static bool has_address(const Value &v) {
  return v.kind == Value::Name || v.kind == Value::Field || v.kind == Value::Deref;
}

static std::unique_ptr<Value> read_unary(Reader &r) {
  r.blanks();
  size_t begin = r.at;
  char prefix = r.peek();
  if (prefix != '*' && prefix != '&')
    return read_postfix(r);
  r.at++;
  if (too_many(r, begin))
    return nullptr;
  auto value = new_value(prefix == '*' ? Value::Deref : Value::Address);
  value->of = read_unary(r);
  if (!value->of)
    return nullptr;
  if (prefix == '*' || has_address(*value->of))
    return value;
  r.fail(begin, "& takes a variable of the program, a field or *V");
  return nullptr;
}

static std::unique_ptr<Value> read_masked(Reader &r) {
  auto value = read_unary(r);
  while (value) {
    size_t begin = r.at;
    if (!r.accept("&"))
      break;
    if (too_many(r, begin))
      return nullptr;
    auto mask = new_value(Value::Mask);
    if (!read_constant(r, &mask->number))
      return nullptr;
    mask->of = std::move(value);
    value = std::move(mask);
  }
  return value;
}

static std::unique_ptr<Value> read_value(Reader &r) {
  return too_many(r, r.at) ? nullptr : read_masked(r);
}

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
        r.fail(begin, "a tuple is two values in parentheses: (a0,a1)");
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
  r.fail(begin, "a value and its unit are expected: a2:ms (ns, us, ms or s), or a sum of such: "
                "a1->tv_sec:s+a1->tv_usec:us");
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

void value_visit(const Value *value, const std::function<void(const Value &)> &visit) {
  for (; value; value = value->of.get()) {
    visit(*value);
    for (const auto &argument : value->args)
      value_visit(argument.get(), visit);
  }
}

bool value_uses(const Value *value, Value::Kind kind) {
  bool uses = false;
  value_visit(value, [&](const Value &v) { uses |= v.kind == kind; });
  return uses;
}

void condition_visit(const Condition &c, const std::function<void(const Value *)> &visit) {
  visit(c.what.get());
  visit(c.with.get());
  for (const Condition &further : c.also) {
    visit(further.what.get());
    visit(further.with.get());
  }
}

bool condition_uses(const Condition &c, Value::Kind kind) {
  bool uses = false;
  condition_visit(c, [&](const Value *value) { uses |= value_uses(value, kind); });
  return uses;
}

uint32_t namespace_hash(const std::string &space) {
  if (space.empty())
    return 0u;
  if (space == "any")
    return 0xffffffffu;
  uint32_t hash = 2166136261u;
  for (unsigned char c : space)
    hash = (hash ^ c) * 16777619u;
  return hash;
}

} // namespace aprof
