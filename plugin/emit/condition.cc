/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys and conditions as trees, and what is compared with constants; see value.h. */
#include "value.h"

#include <aprof/abi.h>

#include "plugin/match/wanted.h"

namespace aprof {

bool key_trees(const Binding &b, const Key &key, const Frame &frame, tree *key0, tree *key1) {
  const Value *values[] = {key.first.get(), key.second.get()};
  tree *keys[] = {key0, key1};
  for (int i = 0; i < 2; i++) {
    *keys[i] = build_int_cst(uint64_type_node, 0);
    if (!values[i])
      continue;
    tree value = scalar_tree(values[i], frame, b);
    if (!value)
      return false;
    if (POINTER_TYPE_P(TREE_TYPE(value)))
      value = fold_convert(pointer_sized_int_node, value);
    *keys[i] = value_if(guard_of(values[i], frame, b), fold_convert(uint64_type_node, value));
  }
  return true;
}

static tree_code code_of(Compare compare) {
  switch (compare) {
  case Compare::Equal:
    return EQ_EXPR;
  case Compare::Less:
    return LT_EXPR;
  case Compare::LessEqual:
    return LE_EXPR;
  case Compare::Greater:
    return GT_EXPR;
  case Compare::GreaterEqual:
    return GE_EXPR;
  case Compare::None:
  case Compare::NotEqual:
    break;
  }
  return NE_EXPR;
}

/* Built with && of C: a pointer is followed once it is known to be there. */
tree and_then(tree one, tree other) {
  return one ? build2(TRUTH_ANDIF_EXPR, boolean_type_node, one, other) : other;
}

/* In which C compares two integers: the wider one, of equal ones that without a sign. */
static tree wider(tree one, tree other) {
  if (TYPE_PRECISION(one) != TYPE_PRECISION(other))
    return TYPE_PRECISION(one) > TYPE_PRECISION(other) ? one : other;
  return TYPE_UNSIGNED(one) ? one : other;
}

static tree comparison_tree(const Condition &c, const Frame &frame, const Binding &b) {
  tree value = scalar_tree(c.what.get(), frame, b);
  if (!value)
    return NULL_TREE;
  tree guard = guard_of(c.what.get(), frame, b), with = NULL_TREE;
  value = promoted(value);
  if (c.with && c.with->kind != Value::Number) {
    with = scalar_tree(c.with.get(), frame, b);
    if (!with)
      return NULL_TREE;
    with = promoted(with);
    tree type = wider(TREE_TYPE(value), TREE_TYPE(with));
    value = fold_convert(type, value);
    with = fold_convert(type, with);
    tree other = guard_of(c.with.get(), frame, b);
    guard = other ? and_then(guard, other) : guard;
  } else {
    with = build_int_cst(TREE_TYPE(value), c.with ? c.with->number : 0);
  }
  tree comparison = fold_build2(code_of(c.compare), boolean_type_node, value, with);
  return and_then(guard, comparison);
}

tree condition_tree(const Condition &c, const Frame &frame, const Binding &b) {
  if (!c)
    return boolean_true_node;
  tree all = comparison_tree(c, frame, b);
  for (const Condition &further : c.also) {
    tree comparison = all ? comparison_tree(further, frame, b) : NULL_TREE;
    all = comparison ? and_then(all, comparison) : NULL_TREE;
  }
  return all;
}

static tree choose(tree condition, tree yes, tree no) {
  return fold_build3(COND_EXPR, TREE_TYPE(yes), condition, yes, no);
}

tree stackless_how(const Binding &b, tree value) {
  auto how = [](int verdict) { return build_int_cst(integer_type_node, verdict); };
  tree verdict = how(APROF_DONE);
  if (b.pending)
    verdict = choose(one_of(value, b.pending_values), how(APROF_PENDING), verdict);
  if (b.polling)
    verdict = choose(one_of(value, b.polling_values), how(APROF_POLLED), verdict);
  return verdict;
}

tree is_stored(const Binding &b, const Frame &frame) {
  if (!b.stored)
    return boolean_true_node;
  if (b.stored->kind == Value::Name && !wanted_name(b.stored->name))
    return boolean_false_node;
  tree value = promoted(unshare_expr(frame.args[0]));
  tree wanted = b.stored->kind == Value::Number ? build_int_cst(TREE_TYPE(value), b.stored->number)
                                                : scalar_tree(b.stored.get(), frame, b);
  return wanted ? fold_build2(EQ_EXPR, boolean_type_node, value,
                              fold_convert(TREE_TYPE(value), promoted(wanted)))
                : boolean_false_node;
}

tree one_of(tree value, const std::vector<int64_t> &constants) {
  tree any = boolean_false_node;
  value = promoted(value);
  for (int64_t constant : constants)
    any = fold_build2(TRUTH_OR_EXPR, boolean_type_node, any,
                      fold_build2(EQ_EXPR, boolean_type_node, unshare_expr(value),
                                  build_int_cst(TREE_TYPE(value), constant)));
  return any;
}

} // namespace aprof
