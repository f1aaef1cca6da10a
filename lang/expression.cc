/* SPDX-License-Identifier: MIT */
/* Values; see binding.h for the grammar. */
#include "expression.h"

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

void Reader::fail(size_t begin, const std::string &what, const std::string &remedy) {
  if (failed)
    return;
  failed = true;
  mistake->begin = begin;
  mistake->end = at > begin ? at : begin + 1;
  mistake->text = what;
  mistake->remedy = remedy;
}

std::unique_ptr<Value> new_value(Value::Kind kind) {
  std::unique_ptr<Value> value(new Value());
  value->kind = kind;
  return value;
}

bool read_constant(Reader &r, int64_t *constant) {
  r.blanks();
  size_t begin = r.at;
  if (r.accept("NULL")) {
    *constant = 0;
    return true;
  }
  if (!is_digit(r.peek()) && !(r.peek() == '-' && is_digit(r.peek(1)))) {
    if (!r.done())
      r.at++;
    r.fail(begin, "a number is expected here", "as in 12, 0x1f or NULL");
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

/* Values are read and walked by functions that call themselves. */
enum { MOST_PARTS = 64 };

static bool too_many(Reader &r, size_t begin) {
  if (++r.parts <= MOST_PARTS)
    return false;
  r.fail(begin, "this word has too many parts", "at most 64 values, fields, * and &");
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
  r.fail(begin, "this is no owner", "as in owner(VALUE,STRUCT,FIELD)");
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
  r.fail(begin, "this call is not closed", "as in " + name + "(VALUE,...)");
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
  cast->tight =
      operand && !prefix && !group && (r.peek() == '.' || (r.peek() == '-' && r.peek(1) == '>'));
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

std::unique_ptr<Value> read_primary(Reader &r) {
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
  r.fail(begin, what + " is no value",
         "known: a0, a1..., a-1 (from the end), *V, V->field, ret, obj, "
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

/* Values that may lie at a lasting address; the compiler knows whether they do. */
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

std::unique_ptr<Value> read_value(Reader &r) {
  return too_many(r, r.at) ? nullptr : read_masked(r);
}

} // namespace aprof
