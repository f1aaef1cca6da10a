/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Null pointers on the way to a value; see guard.h. */
#include "guard.h"

#include "pieces.h"

namespace aprof {

static tree both(tree one, tree other) {
  if (!one || !other)
    return one ? one : other;
  return build2(TRUTH_ANDIF_EXPR, boolean_type_node, one, other);
}

/* Also of arguments that are declared never to be null. */
static tree is_there(tree pointer) {
  if (!pointer || !POINTER_TYPE_P(TREE_TYPE(pointer)))
    return NULL_TREE;
  tree test =
      fold_build2(NE_EXPR, boolean_type_node, pointer, build_int_cst(TREE_TYPE(pointer), 0));
  if (integer_nonzerop(test))
    return NULL_TREE;
  if (EXPR_P(test))
    TREE_NO_WARNING(test) = 1;
  return test;
}

tree guard_of(const Value *value, const Frame &frame, const Binding &b) {
  tree guard = NULL_TREE;
  if (!value)
    return guard;
  for (const auto &argument : value->args)
    guard = both(guard, guard_of(argument.get(), frame, b));
  if (!value->of)
    return guard;
  guard = both(guard, guard_of(value->of.get(), frame, b));
  bool follows =
      value->kind == Value::Deref || value->kind == Value::Field || value->kind == Value::Owner;
  /* The program itself goes through obj here. */
  if (follows && value->of->kind != Value::Obj)
    guard = both(guard, is_there(value_tree(value->of.get(), frame, b)));
  return guard;
}

tree guard_of_key(const Key &key, const Frame &frame, const Binding &b) {
  return both(guard_of(key.first.get(), frame, b), guard_of(key.second.get(), frame, b));
}

tree value_if(tree guard, tree value) {
  return guard
             ? build3(COND_EXPR, TREE_TYPE(value), guard, value, build_int_cst(TREE_TYPE(value), 0))
             : value;
}

tree if_given(tree guard, tree statement) {
  return guard ? if_then(guard, statement) : statement;
}

} // namespace aprof
