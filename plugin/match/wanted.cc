/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that values of lines give; see wanted.h. */
#include "wanted.h"

#include "plugin/keep.h"

namespace aprof {

static std::unordered_map<std::string, tree> types, names;

static void want_names(const Value *value) {
  value_visit(value, [](const Value &v) {
    if (v.kind == Value::Owner || v.kind == Value::Cast)
      types.emplace(v.name, NULL_TREE);
    if (v.kind == Value::Call || v.kind == Value::Name)
      names.emplace(v.name, NULL_TREE);
  });
}

void want_names_of(const Binding &b) {
  binding_visit(b, [](const Value *value) { want_names(value); });
  want_names(b.stored.get());
  if (b.label.type == Told::Enum)
    types.emplace(b.label.name, NULL_TREE);
  if (b.place == Place::Store && b.run_of_functions())
    types.emplace(b.name, NULL_TREE);
  if (b.then_run)
    want_names_of(*b.then_run);
}

tree wanted_type(const std::string &name) {
  return types[name];
}

tree wanted_struct(const std::string &name) {
  tree type = types[name];
  return type && RECORD_OR_UNION_TYPE_P(type) ? type : NULL_TREE;
}

tree wanted_name(const std::string &name) {
  return names[name];
}

tree wanted_function(const std::string &name) {
  tree found = names[name];
  return found && TREE_CODE(found) == FUNCTION_DECL ? found : NULL_TREE;
}

void wanted_look_up() {
  for (auto &entry : types) {
    if (entry.second && COMPLETE_TYPE_P(entry.second))
      continue;
    tree name = get_identifier(entry.first.c_str());
    tree found = identifier_global_tag(name);
    if (!found) {
      found = identifier_global_value(name);
      found = found && TREE_CODE(found) == TYPE_DECL ? TREE_TYPE(found) : NULL_TREE;
    }
    if (found && TREE_CODE(found) == TYPE_DECL)
      found = TREE_TYPE(found);
    if (found && TYPE_P(found))
      entry.second = keep(found);
  }
  for (auto &entry : names) {
    if (entry.second)
      continue;
    tree found = identifier_global_value(get_identifier(entry.first.c_str()));
    if (found && (TREE_CODE(found) == FUNCTION_DECL || VAR_P(found) ||
                  (TREE_CODE(found) == CONST_DECL && DECL_INITIAL(found))))
      entry.second = keep(found);
  }
}

} // namespace aprof
