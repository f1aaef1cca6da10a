/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The member behind a call; see field.h. */
#include "field.h"

#include "flow.h"

namespace aprof {

tree through_temporaries(tree value) {
  for (int steps = 0; steps < 8 && value && TREE_CODE(value) == SSA_NAME; steps++) {
    gimple *set = SSA_NAME_DEF_STMT(value);
    if (is_gimple_call(set)) {
      tree callee = gimple_call_fndecl(set);
      bool one = callee && returned_by(callee).size() == 1;
      return one ? build_fold_addr_expr(returned_by(callee)[0]) : value;
    }
    if (!set || !is_gimple_assign(set) || gimple_num_ops(set) != 2)
      return value;
    value = gimple_assign_rhs1(set);
  }
  return value;
}

/* Nothing but assignments to it by name can change this variable. */
static bool is_private(tree variable) {
  return (VAR_P(variable) || TREE_CODE(variable) == PARM_DECL) && !is_global_var(variable) &&
         !TREE_ADDRESSABLE(variable) && !TREE_THIS_VOLATILE(variable);
}

/* -- what may happen between the load and the call ----------------------------------------- */

typedef std::unordered_map<tree, int> Jumps; /* how many statements go to a label */

struct Between {
  std::unordered_set<tree> variables; /* that must keep their values */
  bool changed = false;
};

static tree note_assigned(tree *operand, int *descend, void *data) {
  *descend = 0; /* what is assigned by way of a pointer is no variable of ours */
  walk_stmt_info *info = static_cast<walk_stmt_info *>(data);
  Between *between = static_cast<Between *>(info->info);
  between->changed |= info->is_lhs && between->variables.count(*operand) != 0;
  return NULL_TREE;
}

static bool may_change(gimple_stmt_iterator statement, Between *between) {
  walk_stmt_info info;
  memset(&info, 0, sizeof info);
  info.info = between;
  walk_gimple_stmt(&statement, nullptr, note_assigned, &info);
  return between->changed;
}

static tree note_jumps(gimple_stmt_iterator *gsi, bool *, walk_stmt_info *info) {
  Jumps *jumps = static_cast<Jumps *>(info->info);
  gimple *statement = gsi_stmt(*gsi);
  switch (gimple_code(statement)) {
  case GIMPLE_COND: {
    gcond *condition = as_a<gcond *>(statement);
    ++(*jumps)[gimple_cond_true_label(condition)];
    ++(*jumps)[gimple_cond_false_label(condition)];
    break;
  }
  case GIMPLE_GOTO:
    ++(*jumps)[gimple_goto_dest(statement)];
    break;
  case GIMPLE_SWITCH: {
    gswitch *choice = as_a<gswitch *>(statement);
    for (unsigned i = 0; i < gimple_switch_num_labels(choice); i++)
      ++(*jumps)[CASE_LABEL(gimple_switch_label(choice, i))];
    break;
  }
  default:
    break;
  }
  return NULL_TREE;
}

static void count_jumps(gimple_stmt_iterator statement, Jumps *jumps) {
  walk_stmt_info info;
  memset(&info, 0, sizeof info);
  info.info = jumps;
  walk_gimple_stmt(&statement, note_jumps, nullptr, &info);
}

/* Control reaches each of these labels from between the two statements only. */
static bool entered_from_within(const std::vector<tree> &labels, Jumps &inside,
                                gimple_stmt_iterator call) {
  Jumps all;
  if (labels.empty())
    return true;
  for (gimple_stmt_iterator i = gsi_start(*call.seq); !gsi_end_p(i); gsi_next(&i))
    count_jumps(i, &all);
  for (tree label : labels)
    if (!DECL_ARTIFICIAL(label) || FORCED_LABEL(label) || DECL_NONLOCAL(label) ||
        all[label] != inside[label])
      return false;
  return true;
}

/* -- the load ---------------------------------------------------------------------------------- */

static tree collect_variables(tree *operand, int *descend, void *data) {
  *descend = !TYPE_P(*operand);
  if (TYPE_P(*operand))
    return NULL_TREE;
  Between *between = static_cast<Between *>(data);
  bool place = AGGREGATE_TYPE_P(TREE_TYPE(*operand)); /* stays where it is */
  if (!place && (VAR_P(*operand) || TREE_CODE(*operand) == PARM_DECL))
    between->variables.insert(*operand);
  return NULL_TREE;
}

/* `obj` is made of private variables, which `between` shall watch. */
static bool watch(tree reference, Between *between) {
  walk_tree_without_duplicates(&TREE_OPERAND(reference, 0), collect_variables, between);
  for (tree variable : between->variables)
    if (!is_private(variable))
      return false;
  return true;
}

/* The statement of the call's sequence that gave the variable its value. */
static tree loaded_member(gimple_stmt_iterator call, tree variable) {
  std::vector<gimple_stmt_iterator> passed;
  std::vector<tree> labels;
  Jumps inside;
  tree reference = NULL_TREE;
  for (gimple_stmt_iterator i = call; !reference;) {
    gsi_prev(&i);
    if (gsi_end_p(i))
      return NULL_TREE;
    gimple *statement = gsi_stmt(i);
    bool sets = is_gimple_assign(statement) && gimple_assign_lhs(statement) == variable;
    if (sets) {
      reference = gimple_assign_single_p(statement)
                      ? through_temporaries(gimple_assign_rhs1(statement))
                      : NULL_TREE;
      if (!reference || TREE_CODE(reference) != COMPONENT_REF)
        return NULL_TREE;
      break;
    }
    if (glabel *label = dyn_cast<glabel *>(statement))
      labels.push_back(gimple_label_label(label));
    count_jumps(i, &inside);
    passed.push_back(i);
  }
  Between between;
  if (!watch(reference, &between) || !entered_from_within(labels, inside, call))
    return NULL_TREE;
  between.variables.insert(variable);
  for (const gimple_stmt_iterator &i : passed)
    if (may_change(i, &between))
      return NULL_TREE;
  return reference;
}

tree called_member(gimple_stmt_iterator call) {
  tree pointer = through_temporaries(gimple_call_fn(gsi_stmt(call)));
  if (pointer && TREE_CODE(pointer) == COMPONENT_REF)
    return pointer;
  return pointer && VAR_P(pointer) && is_private(pointer) ? loaded_member(call, pointer)
                                                          : NULL_TREE;
}

} // namespace aprof
