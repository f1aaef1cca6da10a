/* SPDX-License-Identifier: GPL-3.0-or-later */
/* due= as a tree: when a future should run, in ns from the call on; see value.h. */
#include "value.h"

#include <algorithm>

namespace aprof {

/* One that is negative or beyond `most` ns is none. */
static tree in_range(tree value, int64_t ns, int64_t most) {
  most /= ns;
  tree type = TREE_TYPE(value);
  tree wide = SCALAR_FLOAT_TYPE_P(type)
                  ? unshare_expr(value)
                  : fold_convert(uint64_type_node,
                                 unshare_expr(value)); /* in which a negative one is large */
  tree limit = build_int_cst(long_long_integer_type_node, most);
  return fold_build2(
      TRUTH_AND_EXPR, boolean_type_node,
      fold_build2(GE_EXPR, boolean_type_node, value, fold_convert(type, integer_zero_node)),
      fold_build2(LE_EXPR, boolean_type_node, wide, fold_convert(TREE_TYPE(wide), limit)));
}

static tree nanoseconds(tree value, int64_t ns) {
  tree type = SCALAR_FLOAT_TYPE_P(TREE_TYPE(value)) ? TREE_TYPE(value) : uint64_type_node;
  tree factor = fold_convert(type, build_int_cst(long_long_integer_type_node, ns));
  tree product = fold_build2(MULT_EXPR, type, fold_convert(type, value), factor);
  return type == uint64_type_node
             ? product
             : fold_convert(uint64_type_node,
                            build1(FIX_TRUNC_EXPR, long_long_integer_type_node, product));
}

/* A number for due=, which may have a fraction. */
static tree amount_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree t = value_tree(value, frame, b);
  if (t && SCALAR_FLOAT_TYPE_P(TREE_TYPE(t)))
    return fold_convert(double_type_node, t);
  t = t ? scalar_tree(value, frame, b) : NULL_TREE;
  return t ? promoted(t) : NULL_TREE;
}

/* 36 years, and what a time may be of which another one is taken away: 73 years, up to 2043 where
   they begin in 1970. MOST_DURATIONS of these fit into 64 bits. */
static const int64_t longest = (int64_t)1 << 60, latest = (int64_t)1 << 61;

tree due_tree(const Binding &b, const Frame &frame, tree *given) {
  bool difference =
      std::any_of(b.due.begin(), b.due.end(), [](const Duration &d) { return d.minus; });
  tree sums[2] = {build_int_cst(uint64_type_node, 0), build_int_cst(uint64_type_node, 0)};
  *given = boolean_true_node;
  for (const Duration &d : b.due) {
    tree value = amount_tree(d.value.get(), frame, b);
    if (!value)
      return NULL_TREE;
    *given = and_then(*given, and_then(guard_of(d.value.get(), frame, b),
                                       in_range(value, d.ns, difference ? latest : longest)));
    tree part = nanoseconds(unshare_expr(value), d.ns), &sum = sums[d.minus];
    sum = fold_build2(PLUS_EXPR, uint64_type_node, sum, part);
  }
  if (!difference)
    return sums[0];
  /* A time that has passed is due at once. */
  tree later =
      fold_build2(GT_EXPR, boolean_type_node, unshare_expr(sums[0]), unshare_expr(sums[1]));
  tree left = fold_build2(MINUS_EXPR, uint64_type_node, sums[0], sums[1]);
  tree ns =
      fold_build3(COND_EXPR, uint64_type_node, later, left, build_int_cst(uint64_type_node, 0));
  *given = and_then(*given, fold_build2(LE_EXPR, boolean_type_node, unshare_expr(ns),
                                        build_int_cst(uint64_type_node, longest)));
  return ns;
}

} // namespace aprof
