/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of event code; see pieces.h. */
#include "pieces.h"

#include "plugin/keep.h"

namespace aprof {

/* -- variables --------------------------------------------------------------------------- */

tree new_local(tree type, const char *name, tree *chain) {
  tree variable = create_tmp_var_raw(type, name);
  DECL_CONTEXT(variable) = current_function_decl;
  DECL_SEEN_IN_BIND_EXPR_P(variable) = 1;
  DECL_CHAIN(variable) = *chain;
  *chain = variable;
  return variable;
}

static tree token_type() {
  static tree type;
  if (type)
    return type;
  type = keep(make_node(RECORD_TYPE));
  tree field = build_decl(UNKNOWN_LOCATION, FIELD_DECL, get_identifier("word"),
                          build_array_type_nelts(uint64_type_node, 3));
  DECL_CONTEXT(field) = type;
  TYPE_FIELDS(type) = field;
  TYPE_NAME(type) = get_identifier("aprof_token");
  layout_type(type);
  return type;
}

tree new_token(tree *chain) {
  tree token = new_local(token_type(), "aprof_token", chain);
  TREE_ADDRESSABLE(token) = 1;
  return token;
}

tree new_lasting_token() {
  tree token = create_tmp_var_raw(token_type(), "aprof_token");
  TREE_ADDRESSABLE(token) = 1;
  gimple_add_tmp_var(token);
  return token;
}

static tree word(tree token, int index) {
  tree field = TYPE_FIELDS(token_type());
  return build4(ARRAY_REF, uint64_type_node,
                build3(COMPONENT_REF, TREE_TYPE(field), token, field, NULL_TREE),
                build_int_cst(sizetype, index), NULL_TREE, NULL_TREE);
}

tree address_of(tree variable) {
  return build_fold_addr_expr(variable);
}

/* -- expressions --------------------------------------------------------------------------- */

/* Both tests are false in a program that is not profiled right now. */
static tree unlikely_nonzero(tree value) {
  tree test = build2(NE_EXPR, boolean_type_node, value, build_int_cst(TREE_TYPE(value), 0));
  if (!optimize)
    return test;
  tree expect = builtin_decl_explicit(BUILT_IN_EXPECT);
  tree expected = build_call_expr(expect, 2, fold_convert(long_integer_type_node, test),
                                  build_int_cst(long_integer_type_node, 0));
  return build2(NE_EXPR, boolean_type_node, expected, build_int_cst(long_integer_type_node, 0));
}

tree token_open(tree token) {
  return unlikely_nonzero(word(token, 0));
}

tree gate_enabled() {
  tree pointer = gate_field("flag");
  tree flag = build1(INDIRECT_REF, TREE_TYPE(TREE_TYPE(pointer)), pointer);
  TREE_THIS_VOLATILE(flag) = 1;
  TREE_SIDE_EFFECTS(flag) = 1;
  return unlikely_nonzero(fold_convert(uint32_type_node, flag));
}

tree number(int value) {
  return build_int_cst(integer_type_node, value);
}

/* -- statements ------------------------------------------------------------------------------ */

tree assign(tree variable, tree value) {
  return build2(MODIFY_EXPR, TREE_TYPE(variable), variable,
                fold_convert(TREE_TYPE(variable), value));
}

tree clear_token(tree token) {
  return assign(word(token, 0), build_int_cst(uint64_type_node, 0));
}

tree if_then(tree condition, tree then) {
  return build3(COND_EXPR, void_type_node, condition, then, NULL_TREE);
}

tree call_event(Event event, const std::vector<tree> &arguments) {
  tree pointer = gate_event(event);
  tree type = TREE_TYPE(TREE_TYPE(pointer)), parameter = TYPE_ARG_TYPES(type);
  std::vector<tree> converted;
  for (tree argument : arguments) {
    converted.push_back(fold_convert(TREE_VALUE(parameter), argument));
    parameter = TREE_CHAIN(parameter);
  }
  tree call = build_call_array_loc(UNKNOWN_LOCATION, void_type_node, pointer, (int)converted.size(),
                                   converted.data());
  TREE_NOTHROW(call) = 1;
  return call;
}

void append(tree *list, tree what) {
  if (what)
    append_to_statement_list(what, list);
}

/* -- GIMPLE ------------------------------------------------------------------------------------ */

void lower_onto(gimple_seq *sequence, tree statements) {
  if (!statements)
    return;
  location_t where = input_location;
  input_location = UNKNOWN_LOCATION;
  gimple_seq lowered = nullptr;
  push_gimplify_context();
  gimplify_and_add(statements, &lowered);
  /* Temporaries belong to where they are used: an OpenMP body becomes a function
     of its own. */
  gbind *bind = gimple_build_bind(NULL_TREE, lowered, NULL_TREE);
  pop_gimplify_context(bind);
  input_location = where;
  if (gimple_bind_vars(bind))
    gimple_seq_add_stmt(sequence, bind);
  else
    gimple_seq_add_seq(sequence, lowered);
}

gimple *bind_of(tree variables, gimple_seq body, const std::vector<tree> &tokens) {
  for (tree token : tokens)
    gimple_seq_add_stmt(&body, gimple_build_assign(token, build_clobber(TREE_TYPE(token))));
  return gimple_build_bind(variables, body, NULL_TREE);
}

gimple_seq try_finally(gimple_seq body, gimple_seq cleanup) {
  gimple_seq sequence = nullptr;
  gimple_seq_add_stmt(&sequence, gimple_build_try(body, cleanup, GIMPLE_TRY_FINALLY));
  return sequence;
}

} // namespace aprof
