/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Callbacks by their type; see likely.h. */
#include "likely.h"

#include <set>

#include "attribute.h"
#include "bindings.h"
#include "plugin/keep.h"
#include "types.h"

namespace aprof {

struct Likely {
  tree type; /* of the function */
  const Binding *run;
};

static std::vector<Likely> all;
static std::set<std::pair<tree, const Binding *>> seen;

/* Made of arguments as they are: a stranger's may point to anything. */
static bool is_harmless(const Value *value) {
  bool well = true;
  value_visit(value, [&](const Value &v) {
    well &= v.kind == Value::Arg || v.kind == Value::Self || v.kind == Value::Number ||
            v.kind == Value::Mask;
  });
  return well;
}

static bool is_harmless(const Binding *run) {
  bool well = is_harmless(run->key.first.get()) && is_harmless(run->key.second.get());
  condition_visit(run->when, [&](const Value *value) { well &= is_harmless(value); });
  return well;
}

static bool tells_something(tree type) {
  int count = parameter_count(type);
  bool points = false;
  for (tree a = TYPE_ARG_TYPES(type); count > 0 && a && a != void_list_node; a = TREE_CHAIN(a))
    points |= POINTER_TYPE_P(TREE_VALUE(a)) && RECORD_OR_UNION_TYPE_P(TREE_TYPE(TREE_VALUE(a)));
  return points || count >= 3;
}

/* Its futures have no name, so any body with their key is their run. */
static bool is_nameless(const Binding *b, uint32_t ns) {
  bool elsewhere = b->then_run && b->then_run->place != Place::None;
  return b->verb == Verb::Create && b->key.ns == ns && b->functions.empty() && !elsewhere;
}

static bool may_be_nameless(const Binding *run) {
  for (const auto &b : bindings())
    if (is_nameless(b.get(), run->key.ns))
      return true;
  for (const Binding *b : attribute_lines_known())
    if (is_nameless(b, run->key.ns))
      return true;
  return false;
}

void likely_type(tree type, const Binding *create) {
  const Binding *run = create->run_of_functions();
  type = type ? function_type_of(type) : NULL_TREE;
  if (!run || !run->own || !type || !seen.insert({type, run}).second)
    return;
  if (tells_something(type) && is_harmless(run))
    all.push_back({keep(type), run});
}

std::vector<const Binding *> likely_runs(tree function) {
  std::vector<const Binding *> runs;
  if (all.empty() || !TREE_PUBLIC(function) || DECL_EXTERNAL(function) || DECL_COMDAT(function) ||
      DECL_DECLARED_INLINE_P(function) || TREE_CODE(TREE_TYPE(function)) != FUNCTION_TYPE)
    return runs;
  for (const Likely &l : all)
    if (lang_hooks.types_compatible_p(TREE_TYPE(function), l.type) && !may_be_nameless(l.run))
      runs.push_back(l.run);
  return runs;
}

} // namespace aprof
