/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The constructor of a unit that has events.
 *
 *     if (gate.tried) return;
 *     gate.tried = 1;
 *     attach = __aprof_attach;                          linked with -laprof
 *     if (!attach) attach = dlsym (0, "__aprof_attach");     preloaded
 *     if (!attach && !getauxval (AT_SECURE) && (dlopen = dlsym (0, "dlopen"))) {
 *       path = secure_getenv ("APROF_RUNTIME");
 *       handle = path ? dlopen (path, F) : dlopen (".../libaprof.so.0", F)
 *                                          ?: dlopen ("libaprof.so.0", F);
 *       if (handle) attach = dlsym (handle, "__aprof_attach");
 *     }
 *     if (attach) attach (&gate);
 *
 * Every function called here is a weakref: null where it is missing, so that no
 * library has to be added to the link; and unlike a weak declaration it leaves
 * the unit's own uses of the name alone. dlopen is looked up, because the mere
 * name of it makes a static link warn.
 */
#include <dlfcn.h>
#include <sys/auxv.h>

#include <aprof/abi.h>

#include "constructor.h"

#include "gate.h"
#include "plugin/keep.h"
#include "plugin/settings.h"

namespace aprof {

static tree constructor;

/* static __typeof (NAME) alias __attribute__ ((weakref ("NAME")))
   GCC's own way to it compares the type with the program's declaration of NAME,
   and warns of what the program has not written. */
static tree weakref(const char *name, tree type) {
  std::string local = std::string("__aprof_") + name;
  tree decl = build_decl(UNKNOWN_LOCATION, FUNCTION_DECL, get_identifier(local.c_str()), type);
  tree target = build_tree_list(NULL_TREE, build_string((int)strlen(name) + 1, name));
  DECL_ATTRIBUTES(decl) = tree_cons(get_identifier("alias"), target, NULL_TREE);
  DECL_ATTRIBUTES(decl) = tree_cons(get_identifier("weakref"), target, DECL_ATTRIBUTES(decl));
  DECL_ARTIFICIAL(decl) = 1;
  DECL_IGNORED_P(decl) = 1;
  DECL_WEAK(decl) = 1;
  DECL_INITIAL(decl) = error_mark_node;
  TREE_STATIC(decl) = 1;
  TREE_NOTHROW(decl) = 1;
  TREE_USED(decl) = 1;
  SET_DECL_ASSEMBLER_NAME(decl, get_identifier(local.c_str()));
  cgraph_node *node = cgraph_node::get_create(decl);
  node->alias_target = get_identifier(name);
  node->alias = true;
  node->weakref = true;
  node->transparent_alias = true;
  return keep(decl);
}

static tree text(const char *s) {
  return fold_convert(ptr_type_node, build_string_literal(strlen(s) + 1, s));
}

static tree present(tree function) {
  return build2(NE_EXPR, boolean_type_node, build_fold_addr_expr(function),
                build_int_cst(build_pointer_type(TREE_TYPE(function)), 0));
}

static tree is_null(tree pointer) {
  return build2(EQ_EXPR, boolean_type_node, pointer, null_pointer_node);
}

static tree is_set(tree pointer) {
  return build2(NE_EXPR, boolean_type_node, pointer, null_pointer_node);
}

/* dlsym (RTLD_DEFAULT, NAME) */
static tree look_up(tree dlsym, const char *name) {
  return build_call_expr(dlsym, 2, build_int_cst(ptr_type_node, (long)RTLD_DEFAULT), text(name));
}

static tree both(tree a, tree b) {
  return build2(TRUTH_ANDIF_EXPR, boolean_type_node, a, b);
}

static tree set(tree variable, tree value) {
  return build2(MODIFY_EXPR, TREE_TYPE(variable), variable,
                fold_convert(TREE_TYPE(variable), value));
}

static tree when(tree condition, tree then) {
  return build3(COND_EXPR, void_type_node, condition, then, NULL_TREE);
}

static tree local(const char *name) {
  tree variable = create_tmp_var_raw(ptr_type_node, name);
  DECL_SEEN_IN_BIND_EXPR_P(variable) = 1;
  return variable;
}

/* The runtime of APROF_RUNTIME, or else of this installation. */
static tree autoload(tree attach, tree handle, tree path, tree dlsym) {
  tree getenv =
      weakref("secure_getenv", build_function_type_list(ptr_type_node, ptr_type_node, NULL_TREE));
  tree getauxval =
      weakref("getauxval", build_function_type_list(long_unsigned_type_node,
                                                    long_unsigned_type_node, NULL_TREE));
  tree flags = build_int_cst(integer_type_node, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  tree type = build_function_type_list(ptr_type_node, ptr_type_node, integer_type_node, NULL_TREE);
  tree dlopen = local("dlopen");
  DECL_CHAIN(dlopen) = DECL_CHAIN(path);
  DECL_CHAIN(path) = dlopen;
  auto open = [&](tree what) {
    tree pointer = fold_convert(build_pointer_type(type), dlopen);
    return set(handle, build_call_nary(ptr_type_node, pointer, 2, what, flags));
  };
  tree body = NULL_TREE, secure = NULL_TREE;
  append_to_statement_list(set(path, null_pointer_node), &body);
  append_to_statement_list(
      when(present(getenv), set(path, build_call_expr(getenv, 1, text("APROF_RUNTIME")))), &body);
  tree usual = NULL_TREE;
  append_to_statement_list(open(text(settings.runtime.c_str())), &usual);
  append_to_statement_list(when(is_null(handle), open(text("libaprof.so.0"))), &usual);
  append_to_statement_list(build3(COND_EXPR, void_type_node, is_null(path), usual, open(path)),
                           &body);
  append_to_statement_list(
      when(is_set(handle),
           set(attach, build_call_expr(dlsym, 2, handle, text(APROF_ATTACH_SYMBOL)))),
      &body);
  secure = build_call_expr(getauxval, 1, build_int_cst(long_unsigned_type_node, AT_SECURE));
  tree trusted = both(present(getauxval), build2(EQ_EXPR, boolean_type_node, secure,
                                                 build_int_cst(long_unsigned_type_node, 0)));
  tree outer = NULL_TREE;
  append_to_statement_list(set(dlopen, look_up(dlsym, "dlopen")), &outer);
  append_to_statement_list(when(is_set(dlopen), body), &outer);
  return when(both(is_null(attach), both(present(dlsym), trusted)), outer);
}

static tree constructor_body() {
  tree attach = local("attach"), handle = local("handle"), path = local("path");
  DECL_CHAIN(attach) = handle;
  DECL_CHAIN(handle) = path;
  tree gate_pointer = fold_convert(ptr_type_node, build_fold_addr_expr(gate()));
  tree attach_type = build_function_type_list(integer_type_node, ptr_type_node, NULL_TREE);
  tree linked = weakref(APROF_ATTACH_SYMBOL, attach_type);
  tree two = build_function_type_list(ptr_type_node, ptr_type_node, ptr_type_node, NULL_TREE);
  tree dlsym = weakref("dlsym", two);

  tree work = NULL_TREE;
  append_to_statement_list(set(gate_field("tried"), build_int_cst(uint32_type_node, 1)), &work);
  append_to_statement_list(set(attach, build_fold_addr_expr(linked)), &work);
  append_to_statement_list(
      when(both(is_null(attach), present(dlsym)), set(attach, look_up(dlsym, APROF_ATTACH_SYMBOL))),
      &work);
  if (settings.autoload)
    append_to_statement_list(autoload(attach, handle, path, dlsym), &work);
  tree call = build_call_nary(
      integer_type_node, fold_convert(build_pointer_type(attach_type), attach), 1, gate_pointer);
  append_to_statement_list(when(is_set(attach), call), &work);

  tree untried =
      build2(EQ_EXPR, boolean_type_node, gate_field("tried"), build_int_cst(uint32_type_node, 0));
  tree bind = build3(BIND_EXPR, void_type_node, attach, when(untried, work), NULL_TREE);
  TREE_SIDE_EFFECTS(bind) = 1;
  return bind;
}

bool is_own_constructor(tree function) {
  return function == constructor;
}

/* Building a function changes which one is current: put that back. */
void emit_constructor() {
  tree current = current_function_decl;
  location_t where = input_location;
  push_cfun(nullptr);
  input_location = UNKNOWN_LOCATION;
  tree body = constructor_body();
  tree variables = BIND_EXPR_VARS(body);
  cgraph_build_static_cdtor('I', body, 101);
  constructor = keep(symtab->first_function()->decl);
  gcc_assert(DECL_STATIC_CONSTRUCTOR(constructor));
  for (tree v = variables; v; v = DECL_CHAIN(v))
    DECL_CONTEXT(v) = constructor;
  input_location = where;
  pop_cfun();
  current_function_decl = current;
}

} // namespace aprof
