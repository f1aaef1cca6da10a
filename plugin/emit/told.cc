/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lines tell of requests; see told.h. */
#include "told.h"

#include <aprof/abi.h>

#include "pieces.h"
#include "plugin/match/wanted.h"
#include "site-record.h"

namespace aprof {

/* The last arguments of an event, and what goes before it. */
struct Trees {
  tree before = NULL_TREE;
  tree type, value, length;
};

static tree none() {
  return build_int_cst(uint64_type_node, 0);
}

static tree word_of(tree value) {
  if (POINTER_TYPE_P(TREE_TYPE(value)))
    value = fold_convert(pointer_sized_int_node, value);
  return fold_convert(uint64_type_node, value);
}

static tree integer(const Value *value, const Frame &frame, const Binding &b, const char *what) {
  tree t = scalar_tree(value, frame, b);
  if (t && !INTEGRAL_TYPE_P(TREE_TYPE(t)))
    return refuse(frame, b, std::string(what) + " is a number, this is an address");
  return t;
}

/* Bytes, of whatever sign. */
static bool is_text(tree type) {
  if (!POINTER_TYPE_P(type))
    return false;
  tree of = TREE_TYPE(type);
  of = TREE_CODE(of) == ARRAY_TYPE ? TREE_TYPE(of) : of;
  return VOID_TYPE_P(of) || (INTEGRAL_TYPE_P(of) && TYPE_PRECISION(of) == BITS_PER_UNIT);
}

static tree text(const Value *value, const Frame &frame, const Binding &b) {
  tree t = scalar_tree(value, frame, b);
  if (t && !is_text(TREE_TYPE(t)))
    return refuse(frame, b, "a text is a pointer to char, which this value is not");
  return t;
}

/* switch (number) { case GET: value = "GET"; type = TEXT; break; ... }: one that has no name stays
   a number. */
static tree names_of_enum(tree type, tree number, const Trees &to) {
  std::unordered_set<long> seen;
  tree body = NULL_TREE, end = create_artificial_label(UNKNOWN_LOCATION);
  for (tree v = TYPE_VALUES(type); v; v = TREE_CHAIN(v)) {
    tree constant =
        TREE_CODE(TREE_VALUE(v)) == CONST_DECL ? DECL_INITIAL(TREE_VALUE(v)) : TREE_VALUE(v);
    if (!tree_fits_shwi_p(constant) || !seen.insert((long)tree_to_shwi(constant)).second)
      continue;
    const char *name = IDENTIFIER_POINTER(TREE_PURPOSE(v));
    append(&body, build_case_label(fold_convert(TREE_TYPE(number), constant), NULL_TREE,
                                   create_artificial_label(UNKNOWN_LOCATION)));
    append(&body, assign(to.value, word_of(build_string_literal(strlen(name) + 1, name))));
    append(&body, assign(to.type, build_int_cst(integer_type_node, APROF_VALUE_TEXT)));
    append(&body, build1(GOTO_EXPR, void_type_node, end));
  }
  tree all = NULL_TREE;
  if (body)
    append(&all, build2(SWITCH_EXPR, TREE_TYPE(number), number, body));
  append(&all, build1(LABEL_EXPR, void_type_node, end));
  return all;
}

static tree enum_named(const std::string &name, const Frame &frame, const Binding &b) {
  tree type = wanted_type(name);
  type = type ? TYPE_MAIN_VARIANT(type) : NULL_TREE;
  if (type && TREE_CODE(type) == ENUMERAL_TYPE && TYPE_VALUES(type))
    return type;
  return refuse(frame, b,
                "'" + name +
                    "' is no enum that this unit defines: a type of what is "
                    "told is str, int or the name of an enum");
}

static bool number_trees(const Told &told, const Frame &frame, const Binding &b, tree *variables,
                         Trees *to) {
  tree number = integer(told.value.get(), frame, b, "what is told here");
  tree type = number && told.type == Told::Enum ? enum_named(told.name, frame, b) : NULL_TREE;
  if (!number || (told.type == Told::Enum && !type))
    return false;
  bool plain = TYPE_UNSIGNED(TREE_TYPE(number));
  to->type = build_int_cst(integer_type_node, plain ? APROF_VALUE_UNSIGNED : APROF_VALUE_SIGNED);
  to->value = word_of(number);
  if (!type)
    return true;
  tree value = new_local(uint64_type_node, "aprof_told", variables);
  tree kind = new_local(integer_type_node, "aprof_type", variables);
  append(&to->before, assign(value, to->value));
  append(&to->before, assign(kind, to->type));
  to->value = value;
  to->type = kind;
  append(&to->before, names_of_enum(type, fold_convert(long_long_integer_type_node, value), *to));
  return true;
}

static bool trees_of(const Told &told, const Frame &frame, const Binding &b, tree *variables,
                     Trees *to) {
  to->length = none();
  if (told.type != Told::Text)
    return number_trees(told, frame, b, variables, to);
  tree value = text(told.value.get(), frame, b);
  if (!value)
    return false;
  to->type = build_int_cst(integer_type_node, told.length ? APROF_VALUE_COUNTED : APROF_VALUE_TEXT);
  to->value = word_of(value);
  if (!told.length)
    return true;
  tree length = integer(told.length.get(), frame, b, "a length");
  if (length)
    to->length = word_of(length);
  return length != NULL_TREE;
}

/* The event with what it needs, where no pointer on the way to it is null. */
static tree guarded(const Told &told, const Frame &frame, const Binding &b, const Trees &trees,
                    tree event) {
  tree all = trees.before;
  append(&all, event);
  tree guard = guard_of(told.value.get(), frame, b);
  if (tree other = guard_of(told.length.get(), frame, b))
    guard = and_then(guard, other);
  return if_given(guard, all);
}

/* Of a request that no recording of some is to keep. */
static tree left_out_event(const Binding &b, const Frame &frame, tree token) {
  tree kept = condition_tree(b.sample, frame, b);
  if (!kept)
    return NULL_TREE;
  return if_then(build1(TRUTH_NOT_EXPR, boolean_type_node, kept),
                 call_event(Event::about, {address_of(token), number(APROF_ABOUT_LEFT_OUT),
                                           number(APROF_VALUE_UNSIGNED), none(), none()}));
}

tree about_events(const Binding &b, const Frame &frame, tree token, Known known, tree *variables) {
  tree all = NULL_TREE;
  for (const Told *told : {&b.label, &b.token}) {
    Trees trees;
    if (!told->value || told_behind(b, *told) != (known == Known::Behind))
      continue;
    if (!trees_of(*told, frame, b, variables, &trees))
      return NULL_TREE;
    int what = told == &b.label ? APROF_ABOUT_LABEL : APROF_ABOUT_TOKEN;
    tree event = call_event(
        Event::about, {address_of(token), number(what), trees.type, trees.value, trees.length});
    append(&all, guarded(*told, frame, b, trees, event));
  }
  if (b.sample && known == Known::Before) {
    tree event = left_out_event(b, frame, token);
    if (!event)
      return NULL_TREE;
    append(&all, event);
  }
  return all ? if_then(token_open(token), all) : NULL_TREE;
}

tree run_for_event(const Binding &b, const Frame &frame, tree token) {
  tree key0, key1;
  if (!b.of_root.first || !key_trees(b, b.of_root, frame, &key0, &key1))
    return NULL_TREE;
  tree event =
      call_event(Event::run_for,
                 {address_of(token), build_int_cst(uint64_type_node, b.of_root.ns), key0, key1});
  return if_then(token_open(token), if_given(guard_of_key(b.of_root, frame, b), event));
}

tree label_event(const Binding &b, const Frame &frame, const std::string &name, tree *variables) {
  Trees trees;
  tree key0, key1;
  bool current = !b.key.first || b.key.first->kind == Value::Cur;
  if (!b.label.value || !trees_of(b.label, frame, b, variables, &trees))
    return NULL_TREE;
  if (!current && !key_trees(b, b.key, frame, &key0, &key1))
    return NULL_TREE;
  tree record = site_new(APROF_SITE_LABEL, name, frame.where, frame.function, &b, 0);
  if (current)
    return guarded(
        b.label, frame, b, trees,
        call_event(Event::label_current, {record, trees.type, trees.value, trees.length}));
  tree event =
      call_event(Event::label, {record, key0, key1, trees.type, trees.value, trees.length});
  return if_given(guard_of_key(b.key, frame, b), guarded(b.label, frame, b, trees, event));
}

tree token_out_event(const Binding &b, const Frame &frame) {
  enum { ROOM = 56 };
  tree buffer = text(b.token_out.get(), frame, b);
  if (!buffer)
    return NULL_TREE;
  tree of = TREE_CODE(buffer) == ADDR_EXPR ? TREE_TYPE(TREE_OPERAND(buffer, 0)) : NULL_TREE;
  tree size = of ? TYPE_SIZE_UNIT(of) : NULL_TREE;
  if (size && tree_fits_uhwi_p(size) && tree_to_uhwi(size) < ROOM && TREE_CODE(of) == ARRAY_TYPE)
    return refuse(frame, b, "a traceparent takes 56 bytes, this has fewer");
  tree event = call_event(Event::token_out, {buffer});
  tree there =
      build2(NE_EXPR, boolean_type_node, unshare_expr(buffer), build_int_cst(TREE_TYPE(buffer), 0));
  return if_given(guard_of(b.token_out.get(), frame, b), if_then(there, event));
}

} // namespace aprof
