/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which line means which statement; see match.h. */
#include "match.h"

#include <algorithm>

#include "lang/precedence.h"

#include "attribute.h"
#include "bindings.h"
#include "function-names.h"
#include "headers.h"
#include "named-lines.h"
#include "wanted.h"

namespace aprof {

static NamedLines calls, defs;
static std::unordered_map<std::string, Lines> called_fields, stored_fields; /* by last name */
static Lines typed;                                                         /* type: lines */
static bool lines_need_scan;

bool match_needs_scan() {
  return lines_need_scan;
}

/* -- tables ------------------------------------------------------------------------------ */

void match_add(const Binding *b) {
  want_names_of(*b);
  lines_need_scan |= !b->library && (b->run_of_functions() || b->place == Place::Type);
  if (b->place == Place::Type)
    typed.push_back(b);
  else if (!b->fields.empty())
    (b->place == Place::Icall ? called_fields : stored_fields)[b->fields.back()].push_back(b);
  else
    named_lines_add(b->place == Place::Call ? &calls : &defs, b);
}

void match_forget_identifiers() {
  named_lines_forget_identifiers(&calls);
  named_lines_forget_identifiers(&defs);
}

Lines def_lines(tree function) {
  return named_lines_of(&defs, function);
}

const Lines &type_lines() {
  return typed;
}

bool match_nothing() {
  return bindings().empty() && !attributes_expected();
}

bool namespace_has_create(uint32_t ns) {
  static std::unordered_set<uint32_t> spaces;
  static bool ready;
  if (!ready) {
    ready = true;
    for (const auto &b : bindings())
      if (b->verb == Verb::Create)
        spaces.insert(b->key.ns);
    for (const Binding *b : attribute_lines_known())
      if (b->verb == Verb::Create)
        spaces.insert(b->key.ns);
  }
  return spaces.count(ns) != 0;
}

/* -- calls ------------------------------------------------------------------------------- */

std::vector<const Binding *> call_lines(tree function, tree function_type) {
  Lines lines;
  if (function)
    attribute_lines_of(function, &lines);
  if (function_type)
    attribute_lines(TYPE_ATTRIBUTES(function_type), &lines);
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [](const Binding *b) { return b->place != Place::Call; }),
              lines.end());
  if (function) {
    Lines named = named_lines_of(&calls, function);
    lines.insert(lines.end(), named.begin(), named.end());
    in_order(&lines);
  }
  users_win(&lines);
  return lines;
}

/* -- fields ------------------------------------------------------------------------------ */

bool fields_matter(Place place) {
  return !(place == Place::Icall ? called_fields : stored_fields).empty();
}

/* Members without a name are no part of a path. */
static tree past_anonymous(tree object) {
  while (TREE_CODE(object) == COMPONENT_REF && !DECL_NAME(TREE_OPERAND(object, 1)))
    object = TREE_OPERAND(object, 0);
  return object;
}

/* A struct goes by its tag and by all its typedefs. */
static bool type_is_named(tree type, const std::string &name) {
  for (tree t = TYPE_MAIN_VARIANT(type); t; t = TYPE_NEXT_VARIANT(t)) {
    const char *text = identifier_text(TYPE_IDENTIFIER(t));
    if (text && name == text)
      return true;
    if (text && lang_GNU_CXX() && TYPE_NAME(t) && TREE_CODE(TYPE_NAME(t)) == TYPE_DECL &&
        name == qualified_name(TYPE_NAME(t)))
      return true;
  }
  return false;
}

/* The struct whose member this is, by the path of the line; or null. */
static tree object_of(const Binding *b, tree reference) {
  tree object = reference;
  for (size_t i = b->fields.size(); i-- > 0;) {
    object = past_anonymous(object);
    if (TREE_CODE(object) != COMPONENT_REF)
      return NULL_TREE;
    const char *text = identifier_text(DECL_NAME(TREE_OPERAND(object, 1)));
    if (!text || b->fields[i] != text)
      return NULL_TREE;
    object = TREE_OPERAND(object, 0);
  }
  object = past_anonymous(object);
  tree type = TREE_TYPE(object);
  bool well = RECORD_OR_UNION_TYPE_P(type) && type_is_named(type, b->name);
  return well ? object : NULL_TREE;
}

std::vector<FieldLine> field_lines(Place place, tree reference) {
  std::vector<FieldLine> found;
  const auto &table = place == Place::Icall ? called_fields : stored_fields;
  tree field = TREE_OPERAND(reference, 1);
  const char *name = identifier_text(DECL_NAME(field));
  auto lines = name ? table.find(name) : table.end();
  if (lines == table.end())
    return found;
  for (const Binding *b : lines->second)
    if (declared_where(b, field))
      if (tree object = object_of(b, reference))
        found.push_back({b, object});
  users_win(&found);
  return found;
}

} // namespace aprof
