/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions about types; see types.h. */
#include "types.h"

#include "wanted.h"

namespace aprof {

std::vector<tree> typedefs_of(tree type) {
  std::vector<tree> found;
  for (int depth = 0; type && type != error_mark_node && depth < 32; depth++) {
    tree name = TYPE_NAME(type);
    if (name && TREE_CODE(name) == TYPE_DECL && DECL_ORIGINAL_TYPE(name)) {
      found.push_back(name);
      type = DECL_ORIGINAL_TYPE(name);
    } else if (POINTER_TYPE_P(type) && FUNC_OR_METHOD_TYPE_P(TREE_TYPE(type))) {
      type = TREE_TYPE(type);
    } else {
      break;
    }
  }
  return found;
}

tree function_type_of(tree type) {
  while (type && (POINTER_TYPE_P(type) || TREE_CODE(type) == ARRAY_TYPE))
    type = TREE_TYPE(type);
  return type && FUNC_OR_METHOD_TYPE_P(type) ? type : NULL_TREE;
}

int parameter_count(tree function_type) {
  if (!function_type || !prototype_p(function_type))
    return -1;
  int count = 0;
  for (tree a = TYPE_ARG_TYPES(function_type); a && a != void_list_node; a = TREE_CHAIN(a))
    count++;
  return count;
}

tree parameter_type(tree function, tree function_type, int index) {
  /* The declarations keep the typedefs best. */
  if (function) {
    int i = 0;
    for (tree p = DECL_ARGUMENTS(function); p; p = DECL_CHAIN(p), i++)
      if (i == index)
        return TREE_TYPE(p);
    function_type = TREE_TYPE(function);
  }
  int i = 0;
  for (tree a = function_type ? TYPE_ARG_TYPES(function_type) : NULL_TREE; a && a != void_list_node;
       a = TREE_CHAIN(a), i++)
    if (i == index)
      return TREE_VALUE(a);
  return NULL_TREE;
}

/* -- signatures ------------------------------------------------------------------------ */

/* The one spelling of a built-in integer type: "unsigned long int" and
   "long unsigned" become "unsigned long". Other texts come back unchanged. */
static std::string canonical_integer(const std::string &text) {
  int is_unsigned = 0, is_signed = 0, longs = 0, shorts = 0, chars = 0, ints = 0;
  size_t i = 0;
  while (i < text.size()) {
    size_t end = text.find(' ', i);
    if (end == std::string::npos)
      end = text.size();
    std::string word = text.substr(i, end - i);
    int *count = word == "unsigned" ? &is_unsigned
                 : word == "signed" ? &is_signed
                 : word == "long"   ? &longs
                 : word == "short"  ? &shorts
                 : word == "char"   ? &chars
                 : word == "int"    ? &ints
                                    : nullptr;
    if (!count)
      return text;
    ++*count;
    i = end + 1;
  }
  std::string base = chars        ? "char"
                     : shorts     ? "short"
                     : longs == 1 ? "long"
                     : longs      ? "long long"
                                  : "int";
  return (is_unsigned ? "unsigned " : is_signed && chars ? "signed " : "") + base;
}

/* Blanks only between words, built-in integers in their one spelling. */
static std::string normalized(const std::string &text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    char c = text[i];
    if (c != ' ' && c != '\t') {
      out += c;
      continue;
    }
    size_t next = text.find_first_not_of(" \t", i);
    auto word = [](char w) { return ISALNUM(w) || w == '_'; };
    if (!out.empty() && next != std::string::npos && word(out.back()) && word(text[next]))
      out += ' ';
    i = next == std::string::npos ? text.size() : next - 1;
  }
  size_t star = out.find_first_of("*&");
  std::string base = out.substr(0, star), rest = star == std::string::npos ? "" : out.substr(star);
  std::string prefix;
  if (base.compare(0, 6, "const ") == 0) {
    prefix = "const ";
    base = base.substr(6);
  }
  return prefix + canonical_integer(base) + rest;
}

static std::string spelled(tree type, bool typedefs, bool tags) {
  std::string quals = TYPE_READONLY(type) ? "const " : "";
  tree name = TYPE_NAME(type);
  if (name && TREE_CODE(name) == TYPE_DECL && DECL_ORIGINAL_TYPE(name)) {
    if (typedefs)
      return quals + identifier_text(DECL_NAME(name));
    return spelled(DECL_ORIGINAL_TYPE(name), false, tags);
  }
  if (POINTER_TYPE_P(type))
    return spelled(TREE_TYPE(type), typedefs, tags) +
           (TREE_CODE(type) == POINTER_TYPE ? "*" : "&") + (TYPE_READONLY(type) ? "const" : "");
  tree identifier = name && TREE_CODE(name) == TYPE_DECL ? DECL_NAME(name) : name;
  const char *text = identifier_text(identifier);
  const char *tag = TREE_CODE(type) == RECORD_TYPE     ? "struct "
                    : TREE_CODE(type) == UNION_TYPE    ? "union "
                    : TREE_CODE(type) == ENUMERAL_TYPE ? "enum "
                                                       : "";
  return quals + (tags ? tag : "") + (text ? text : "?");
}

static bool type_matches(const std::string &pattern, tree type) {
  for (int how = 0; how < 4; how++)
    if (normalized(spelled(type, how & 1, !(how & 2))) == pattern)
      return true;
  return false;
}

bool signature_matches(const std::string &signature, tree function) {
  size_t open = signature.find('('), close = signature.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open)
    return false;
  tree type = TREE_TYPE(function);
  if (!type_matches(normalized(signature.substr(0, open)), TREE_TYPE(type)))
    return false;
  int index = 0, depth = 0;
  size_t begin = open + 1;
  for (size_t i = begin; i <= close; i++) {
    char c = signature[i];
    depth += c == '(' ? 1 : c == ')' && i != close ? -1 : 0;
    if (i != close && (c != ',' || depth > 0))
      continue;
    std::string part = normalized(signature.substr(begin, i - begin));
    begin = i + 1;
    if (part == "...")
      return true;
    tree parameter = parameter_type(function, type, index);
    if ((part == "void" || part.empty()) && index == 0 && i == close)
      return !parameter;
    if (!parameter || !type_matches(part, parameter))
      return false;
    index++;
  }
  return !parameter_type(function, type, index);
}

/* -- fields ------------------------------------------------------------------------------ */

std::vector<tree> find_field(tree record, const std::string &name) {
  if (!RECORD_OR_UNION_TYPE_P(record) || !COMPLETE_TYPE_P(record))
    return {};
  for (tree f = TYPE_FIELDS(record); f; f = DECL_CHAIN(f)) {
    if (TREE_CODE(f) != FIELD_DECL)
      continue;
    const char *text = identifier_text(DECL_NAME(f));
    if (text && name == text)
      return {f};
    if (text || !RECORD_OR_UNION_TYPE_P(TREE_TYPE(f)))
      continue;
    std::vector<tree> inner = find_field(TREE_TYPE(f), name);
    if (!inner.empty()) {
      inner.insert(inner.begin(), f);
      return inner;
    }
  }
  return {};
}

tree type_of_value(const Value *value, tree function, tree function_type, tree object) {
  tree of = value->of ? type_of_value(value->of.get(), function, function_type, object) : NULL_TREE;
  switch (value->kind) {
  case Value::Obj:
    return object;
  case Value::Arg: {
    int index = (int)value->number;
    if (index < 0) {
      int count = parameter_count(function ? TREE_TYPE(function) : function_type);
      index = count < 0 ? -1 : count + index;
    }
    return index < 0 ? NULL_TREE : parameter_type(function, function_type, index);
  }
  case Value::Deref:
    return of && POINTER_TYPE_P(of) ? TREE_TYPE(of) : NULL_TREE;
  case Value::Field: {
    if (of && POINTER_TYPE_P(of))
      of = TREE_TYPE(of);
    std::vector<tree> path = of ? find_field(of, value->name) : std::vector<tree>();
    return path.empty() ? NULL_TREE : TREE_TYPE(path.back());
  }
  case Value::Cast: {
    tree type = wanted_type(value->name);
    for (int64_t star = 0; type && star < value->number; star++)
      type = build_pointer_type(type);
    return type;
  }
  default:
    return NULL_TREE;
  }
}

} // namespace aprof
