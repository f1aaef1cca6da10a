/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which line means which statement; see match.h. */
#include "match.h"

#include <algorithm>

#include "lang/precedence.h"

#include "attribute.h"
#include "bindings.h"
#include "function-names.h"
#include "headers.h"
#include "likely.h"
#include "named-lines.h"
#include "scan.h"
#include "types.h"

namespace aprof {

static Index calls, defs;
static std::unordered_map<std::string, Lines> called_fields, stored_fields; /* by last name */
static Lines typed;                                                         /* type: lines */
static bool lines_need_scan;
static std::unordered_map<unsigned, BodyLines> bodies; /* by DECL_UID */

bool match_needs_scan() {
  return lines_need_scan;
}

/* -- tables ------------------------------------------------------------------------------ */

static void want_names(const Value *value) {
  value_visit(value, [](const Value &v) {
    if (v.kind == Value::Owner || v.kind == Value::Cast)
      scan_for_type(v.name);
    if (v.kind == Value::Call || v.kind == Value::Name)
      scan_for_name(v.name);
  });
}

static void want_names(const Key &key) {
  want_names(key.first.get());
  want_names(key.second.get());
}

void want_names_of(const Binding &b) {
  want_names(b.key);
  for (const Key &key : b.more_keys)
    want_names(key);
  for (const Condition *c : {&b.ok, &b.when, &b.once_if})
    condition_visit(*c, [](const Value *value) { want_names(value); });
  for (const Duration &d : b.due)
    want_names(d.value.get());
  for (const auto &value : b.functions)
    want_names(value.get());
  want_names(b.stored.get());
  if (b.place == Place::Store && b.run_of_functions())
    scan_for_type(b.name);
  if (b.then_run)
    want_names_of(*b.then_run);
}

void match_add(const Binding *b) {
  want_names_of(*b);
  lines_need_scan |= !b->library && (b->run_of_functions() || b->place == Place::Type);
  if (b->place == Place::Type)
    typed.push_back(b);
  else if (!b->fields.empty())
    (b->place == Place::Icall ? called_fields : stored_fields)[b->fields.back()].push_back(b);
  else
    index_add(b->place == Place::Call ? &calls : &defs, b);
}

void match_forget_identifiers() {
  index_forget_identifiers(&calls);
  index_forget_identifiers(&defs);
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
    Lines named = index_lines(&calls, function);
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

/* -- bodies ------------------------------------------------------------------------------- */

static void add_body_line(BodyLines *body, const Binding *b, bool quiet, bool named = false) {
  if (b->verb == Verb::Async && !body->async)
    body->async = b;
  if (b->verb == Verb::Switch)
    body->switches.push_back(b);
  if (b->verb == Verb::Wake || b->verb == Verb::End)
    body->moments.push_back(b);
  if (b->verb != Verb::Run)
    return;
  for (RunLine &known : body->runs)
    if (same_run(known.line, b)) {
      known.quiet &= quiet;
      known.named |= named;
      known.own &= b->own;
      return;
    }
  body->runs.push_back({b, quiet, named, b->own});
}

static void add_likely_runs(BodyLines *body, tree function) {
  for (const Binding *b : likely_runs(function)) {
    size_t known = body->runs.size();
    add_body_line(body, b, true);
    if (body->runs.size() > known)
      body->runs.back().likely = true;
  }
}

static bool is_body_line(const Binding *b) {
  return b->place == Place::Def || b->place == Place::Type;
}

static void add_attribute_lines(BodyLines *body, const Lines &lines) {
  for (const Binding *b : lines)
    if (is_body_line(b))
      add_body_line(body, b, false);
}

static bool type_line_holds(const Binding *b, tree function) {
  if (b->quoted) /* no header declares who has a signature: that it was read is enough */
    return signature_matches(b->name, function);
  for (const Use &use : uses_of(function)) {
    if (!use.as)
      continue;
    if (b->name == identifier_text(DECL_NAME(use.as)) && declared_where(b, use.as))
      return true;
  }
  for (tree name : typedefs_of(TREE_TYPE(function)))
    if (b->name == identifier_text(DECL_NAME(name)) && declared_where(b, name))
      return true;
  return false;
}

/* A library's own callbacks run inside it, for its own ends. */
static void drop_own_lines(BodyLines *body, tree function) {
  auto own = [&](const RunLine &run) { return is_library_itself(run.line, function); };
  auto own_line = [&](const Binding *b) { return is_library_itself(b, function); };
  auto &moments = body->moments;
  moments.erase(std::remove_if(moments.begin(), moments.end(), own_line), moments.end());
  body->runs.erase(std::remove_if(body->runs.begin(), body->runs.end(), own), body->runs.end());
  if (body->async && is_library_itself(body->async, function))
    body->async = nullptr;
}

const BodyLines &body_lines(tree function) {
  auto known = bodies.find(DECL_UID(function));
  if (known != bodies.end())
    return known->second;
  BodyLines body;
  Lines lines;
  attribute_lines_of(function, &lines);
  for (const Use &use : uses_of(function))
    attribute_lines(use.attributes, &lines);
  add_attribute_lines(&body, lines);
  for (const Binding *b : index_lines(&defs, function))
    add_body_line(&body, b, b->is_silent());
  for (const Binding *b : typed)
    if (type_line_holds(b, function))
      add_body_line(&body, b, b->is_silent());
  for (const Reach &reach : reaches(function)) {
    const Binding *run = reach.create->run_of_functions();
    add_body_line(&body, run, true, is_passed_as_is(function, run));
  }
  for (const Use &use : uses_of(function))
    if (use.as)
      for (const Binding *b : runs_of_typedef(use.as))
        add_body_line(&body, b, true);
  for (tree name : typedefs_of(TREE_TYPE(function)))
    for (const Binding *b : runs_of_typedef(name))
      add_body_line(&body, b, true);
  add_likely_runs(&body, function);
  users_win(&body.runs, same_namespace);
  drop_own_lines(&body, function);
  in_order(&body.runs);
  return bodies[DECL_UID(function)] = body;
}

bool run_has_bodies(const Binding *run) {
  cgraph_node *node;
  FOR_EACH_DEFINED_FUNCTION(node)
  for (const RunLine &line : body_lines(node->decl).runs)
    if (!line.likely && line.line->words == run->words)
      return true;
  return false;
}

bool enters_future(tree function, tree function_type) {
  if (function) {
    const BodyLines &body = body_lines(function);
    return body.async || std::any_of(body.runs.begin(), body.runs.end(),
                                     [](const RunLine &run) { return !run.quiet; });
  }
  Lines lines;
  attribute_lines(TYPE_ATTRIBUTES(function_type), &lines);
  return std::any_of(lines.begin(), lines.end(), [](const Binding *b) {
    return b->verb == Verb::Async || (b->verb == Verb::Run && is_body_line(b));
  });
}

} // namespace aprof
