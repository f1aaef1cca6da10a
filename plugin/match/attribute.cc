/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The aprof attribute; see attribute.h. */
#include "attribute.h"

#include <algorithm>

#include "plugin/diagnose.h"
#include "wanted.h"

namespace aprof {

/* By text; null where the text is no line (said once, where it was written). */
static std::unordered_map<std::string, std::unique_ptr<Binding>> parsed;

static bool need_scan, expected;

bool attributes_expected() {
  return expected;
}

void attributes_expect() {
  expected = true;
}

bool attributes_need_scan() {
  return need_scan;
}

static const Binding *lookup(const std::string &text, location_t near, bool complain) {
  auto found = parsed.find(text);
  if (found != parsed.end() && (found->second || !complain))
    return found->second.get();
  expected = true;
  std::unique_ptr<Binding> b(new Binding());
  Mistake mistake;
  if (!binding_parse(text, true, b.get(), &mistake)) {
    if (complain)
      error_at(attribute_location(near, text, mistake.begin), "%s",
               in_one(mistake.text, mistake.remedy).c_str());
    b.reset();
  } else {
    b->where = attribute_location(near, text, 0);
    if (b->then_run)
      b->then_run->where = b->where;
    need_scan |= b->run_of_functions() || b->place != Place::Call;
    want_names_of(*b);
  }
  return (parsed[text] = std::move(b)).get();
}

static std::string text_of(tree string) {
  int length = TREE_STRING_LENGTH(string);
  return std::string(TREE_STRING_POINTER(string), (size_t)(length > 0 ? length - 1 : 0));
}

/* -- where it is kept ------------------------------------------------------------------ */

/* `type` with the attribute on the function type at its core; null if there is
   none. */
static tree with_attribute(tree type, tree attribute) {
  if (FUNC_OR_METHOD_TYPE_P(type)) {
    if (attribute_list_contained(TYPE_ATTRIBUTES(type), attribute))
      return type;
    return build_type_attribute_variant(type, merge_attributes(TYPE_ATTRIBUTES(type), attribute));
  }
  if (TREE_CODE(type) == POINTER_TYPE || TREE_CODE(type) == REFERENCE_TYPE) {
    tree inner = with_attribute(TREE_TYPE(type), attribute);
    if (!inner || inner == TREE_TYPE(type))
      return inner ? type : NULL_TREE;
    tree outer =
        TREE_CODE(type) == POINTER_TYPE ? build_pointer_type(inner) : build_reference_type(inner);
    return build_qualified_type(outer, TYPE_QUALS(type));
  }
  if (TREE_CODE(type) == ARRAY_TYPE) {
    tree inner = with_attribute(TREE_TYPE(type), attribute);
    if (!inner || inner == TREE_TYPE(type))
      return inner ? type : NULL_TREE;
    return build_array_type(inner, TYPE_DOMAIN(type));
  }
  return NULL_TREE;
}

/* An attribute between a star and a name, as in `T *coroutine_fn f (void)`: the compiler gives it
   to what the function returns, but its author means the function. The list goes on to what is
   declared next. */
static tree for_the_name(tree *node, tree name, tree args, int flags) {
  const int next = ATTR_FLAG_DECL_NEXT | ATTR_FLAG_FUNCTION_NEXT | ATTR_FLAG_ARRAY_NEXT;
  return DECL_P(*node) || !(flags & next) ? NULL_TREE : tree_cons(name, args, NULL_TREE);
}

static tree handle(tree *node, tree name, tree args, int flags, bool *no_add) {
  if (tree passed_on = for_the_name(node, name, args, flags)) {
    *no_add = true;
    return passed_on;
  }
  tree string = TREE_VALUE(args);
  STRIP_NOPS(string);
  bool declaration = DECL_P(*node);
  location_t near = declaration ? DECL_SOURCE_LOCATION(*node) : input_location;
  if (TREE_CODE(string) != STRING_CST) {
    error_at(near, "%qE takes one string: a line of the grammar without its place", name);
    *no_add = true;
    return NULL_TREE;
  }
  if (!lookup(text_of(string), near, true)) {
    *no_add = true;
    return NULL_TREE;
  }
  tree type = declaration ? TREE_TYPE(*node) : *node;
  tree marked = with_attribute(type, build_tree_list(name, args));
  if (!marked) {
    if (declaration)
      error_at(near, "%qE belongs to functions and pointers to functions, %qD is neither", name,
               *node);
    else
      error_at(near,
               "%qE belongs to functions and pointers to functions: write it before the "
               "name, or before the type",
               name);
    *no_add = true;
    return NULL_TREE;
  }
  if (declaration)
    TREE_TYPE(*node) = marked;
  else if (!FUNC_OR_METHOD_TYPE_P(type))
    *node = marked, *no_add = true;
  return NULL_TREE;
}

static struct attribute_spec spec = {"aprof", 1, 1, false, false, false, false, handle, nullptr};

void attributes_register(void *, void *) {
  register_attribute(&spec);
}

/* -- finding it again -------------------------------------------------------------------- */

/* In the order of the source; a list of attributes is kept the other way round. */
void attribute_lines(tree attributes, std::vector<const Binding *> *lines) {
  if (!expected)
    return;
  std::vector<const Binding *> found;
  for (tree a = lookup_attribute("aprof", attributes); a;
       a = lookup_attribute("aprof", TREE_CHAIN(a))) {
    tree string = TREE_VALUE(TREE_VALUE(a));
    STRIP_NOPS(string);
    if (TREE_CODE(string) != STRING_CST)
      continue;
    if (const Binding *b = lookup(text_of(string), UNKNOWN_LOCATION, false))
      found.insert(found.begin(), b);
  }
  for (const Binding *b : found)
    if (std::find(lines->begin(), lines->end(), b) == lines->end())
      lines->push_back(b);
}

void attribute_lines_of(tree function, std::vector<const Binding *> *lines) {
  attribute_lines(DECL_ATTRIBUTES(function), lines);
  attribute_lines(TYPE_ATTRIBUTES(TREE_TYPE(function)), lines);
}

std::vector<const Binding *> attribute_lines_known() {
  std::vector<const Binding *> lines;
  for (const auto &entry : parsed)
    if (entry.second)
      lines.push_back(entry.second.get());
  return lines;
}

} // namespace aprof
