/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values as trees; see value.h. */
#include "value.h"

#include "pieces.h"
#include "plugin/diagnose.h"
#include "plugin/match/types.h"
#include "plugin/match/wanted.h"

namespace aprof {

/* -- values ------------------------------------------------------------------------------ */

tree refuse(const Frame &frame, const Binding &b, const std::string &message) {
  error_at(frame.where, "%s", message.c_str());
  note_binding(b, frame.subject);
  return NULL_TREE;
}

static std::string shown(tree type) {
  const char *name = type ? identifier_text(TYPE_IDENTIFIER(type)) : nullptr;
  if (POINTER_TYPE_P(type))
    return shown(TREE_TYPE(type)) + " *";
  return name ? name : "an unnamed type";
}

static std::string argument_name(const Value *value) {
  return "a" + std::to_string((long)value->number);
}

static tree argument_tree(const Value *value, const Frame &frame, const Binding &b) {
  int index = index_of(value, frame);
  if (index < 0 || index >= (int)frame.args.size()) {
    std::string count = std::to_string(frame.args.size());
    return refuse(frame, b,
                  "there is no argument " + argument_name(value) + ": " +
                      (b.place == Place::Store                             ? "an assignment has "
                       : b.place == Place::Call || b.place == Place::Icall ? "this call passes "
                                                                           : "this function has ") +
                      count);
  }
  tree argument = unshare_expr(frame.args[(size_t)index]);
  tree declared = frame.types[(size_t)index];
  /* The declared type knows the fields; GIMPLE forgets it between pointers. */
  if (declared && POINTER_TYPE_P(declared) && !VOID_TYPE_P(TREE_TYPE(declared)) &&
      is_word(TREE_TYPE(argument)))
    argument = fold_convert(build_pointer_type(TREE_TYPE(declared)), argument);
  if (TREE_CODE(argument) == PARM_DECL && DECL_BY_REFERENCE(argument))
    argument = build1(INDIRECT_REF, TREE_TYPE(TREE_TYPE(argument)), argument);
  return argument;
}

/* What a pointer points to. */
static tree pointed(tree pointer, const Frame &frame, const Binding &b, const char *what) {
  tree type = TREE_TYPE(pointer);
  if (!POINTER_TYPE_P(type))
    return refuse(frame, b, std::string(what) + " needs a pointer, this is " + shown(type));
  if (!COMPLETE_TYPE_P(TREE_TYPE(type)))
    return refuse(frame, b,
                  std::string(what) + " needs the type behind '" + shown(type) +
                      "', which this unit does not define");
  return build1(INDIRECT_REF, TREE_TYPE(type), pointer);
}

static tree field_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree object = value_tree(value->of.get(), frame, b);
  if (!object)
    return NULL_TREE;
  if (POINTER_TYPE_P(TREE_TYPE(object)))
    object = pointed(object, frame, b, "a field");
  if (!object)
    return NULL_TREE;
  tree type = TREE_TYPE(object);
  if (!RECORD_OR_UNION_TYPE_P(type) || !COMPLETE_TYPE_P(type))
    return refuse(frame, b,
                  shown(type) + " has no field '" + value->name +
                      "': its struct is not "
                      "defined in this unit");
  std::vector<tree> path = find_field(type, value->name);
  if (path.empty())
    return refuse(frame, b, shown(type) + " has no field '" + value->name + "'");
  for (tree field : path)
    object = build3(COMPONENT_REF, TREE_TYPE(field), object, field, NULL_TREE);
  return object;
}

/* A variable, a function or an enumerator of the unit. */
static tree named_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree found = wanted_name(value->name);
  if (!found)
    return refuse(frame, b,
                  "no variable or function '" + value->name +
                      "' is declared in this unit, outside functions (a macro is none): include "
                      "its header, or write the value another way");
  if (TREE_CODE(found) == FUNCTION_DECL)
    return build_fold_addr_expr(found);
  if (TREE_CODE(found) == CONST_DECL)
    return fold_convert(TREE_TYPE(found), DECL_INITIAL(found));
  bool reference = TREE_CODE(TREE_TYPE(found)) == REFERENCE_TYPE;
  return reference ? build1(INDIRECT_REF, TREE_TYPE(TREE_TYPE(found)), found) : found;
}

static tree address_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree place = value_tree(value->of.get(), frame, b);
  if (!place)
    return NULL_TREE;
  if (value->of->kind == Value::Name && TREE_CODE(place) == ADDR_EXPR)
    return place; /* &function is function */
  bool bits = TREE_CODE(place) == COMPONENT_REF && DECL_BIT_FIELD(TREE_OPERAND(place, 1));
  tree base = get_base_address(place);
  bool lasts =
      base && (!DECL_P(base) || (VAR_P(base) && is_global_var(base))) && !CONSTANT_CLASS_P(base);
  if (bits || !lasts)
    return refuse(frame, b,
                  std::string("this has no address: ") +
                      (bits ? "it is a bit-field" : "it is no variable outside functions"));
  if (DECL_P(base))
    TREE_ADDRESSABLE(base) = 1;
  return build_fold_addr_expr(place);
}

/* V->field means something without a cast. What is passed may be more than what is declared. */
static bool has_fields(const Value *value, tree type, const Frame &frame) {
  tree declared =
      value->kind == Value::Arg ? frame.types[(size_t)index_of(value, frame)] : NULL_TREE;
  type = declared ? declared : type;
  return POINTER_TYPE_P(type) && RECORD_OR_UNION_TYPE_P(TREE_TYPE(type)) &&
         COMPLETE_TYPE_P(TREE_TYPE(type));
}

static tree cast_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree operand = scalar_tree(value->of.get(), frame, b), type = wanted_type(value->name);
  if (!operand)
    return NULL_TREE;
  if (!type)
    return refuse(frame, b, "no type '" + value->name + "' is declared in this unit");
  tree own = TREE_TYPE(operand);
  if (value->tight && has_fields(value->of.get(), own, frame))
    return refuse(frame, b,
                  "which pointer is cast? This one has fields of its own, so write ((struct " +
                      value->name + " *)V)->field or (struct " + value->name + " *)(V->field)");
  for (int64_t star = 0; star < value->number; star++)
    type = build_pointer_type(type);
  return fold_convert(type, POINTER_TYPE_P(own) ? operand
                                                : fold_convert(pointer_sized_int_node, operand));
}

static tree owner_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree member = value_tree(value->of.get(), frame, b);
  if (!member)
    return NULL_TREE;
  if (!POINTER_TYPE_P(TREE_TYPE(member)))
    return refuse(frame, b, "owner needs a pointer, this is " + shown(TREE_TYPE(member)));
  tree record = wanted_struct(value->name);
  if (!record || !COMPLETE_TYPE_P(record))
    return refuse(frame, b, "'" + value->name + "' is no struct that this unit defines");
  tree offset = size_zero_node, type = record;
  for (size_t begin = 0; begin <= value->field.size();) {
    size_t end = value->field.find('.', begin);
    end = end == std::string::npos ? value->field.size() : end;
    std::string part = value->field.substr(begin, end - begin);
    std::vector<tree> path = find_field(type, part);
    if (path.empty())
      return refuse(frame, b, shown(type) + " has no field '" + part + "'");
    for (tree field : path)
      offset = size_binop(PLUS_EXPR, offset, byte_position(field));
    type = TREE_TYPE(path.back());
    begin = end + 1;
  }
  tree address = fold_build_pointer_plus(fold_convert(ptr_type_node, member),
                                         fold_build1(NEGATE_EXPR, sizetype, offset));
  return fold_convert(build_pointer_type(record), address);
}

/* Pointers and what is narrower than int, as C would compute with them. */
tree promoted(tree value) {
  tree type = TREE_TYPE(value);
  if (POINTER_TYPE_P(type))
    return fold_convert(pointer_sized_int_node, value);
  if (TYPE_PRECISION(type) < TYPE_PRECISION(integer_type_node))
    return fold_convert(integer_type_node, value);
  if (TREE_CODE(type) == ENUMERAL_TYPE)
    return fold_convert(lang_hooks.types.type_for_size(TYPE_PRECISION(type), TYPE_UNSIGNED(type)),
                        value);
  return value;
}

tree function_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree t = value_tree(value, frame, b);
  if (!t)
    return NULL_TREE;
  if (FUNC_OR_METHOD_TYPE_P(TREE_TYPE(t)))
    t = build_fold_addr_expr(t);
  if (!POINTER_TYPE_P(TREE_TYPE(t)) && !INTEGRAL_TYPE_P(TREE_TYPE(t)))
    return refuse(frame, b, "fn= needs a pointer to a function, this is " + shown(TREE_TYPE(t)));
  return value_if(guard_of(value, frame, b), t);
}

static bool is_scalar(tree value) {
  return INTEGRAL_TYPE_P(TREE_TYPE(value)) || POINTER_TYPE_P(TREE_TYPE(value));
}

/* A value that can be a key or be compared; arrays stand for their address. */
tree scalar_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree t = value_tree(value, frame, b);
  if (!t)
    return NULL_TREE;
  if (TREE_CODE(TREE_TYPE(t)) == ARRAY_TYPE)
    t = build_fold_addr_expr(t);
  if (!is_scalar(t))
    return refuse(frame, b,
                  "a value of type '" + shown(TREE_TYPE(t)) +
                      "' is neither a number nor an address");
  return t;
}

static tree called_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree function = wanted_function(value->name);
  if (!function)
    return refuse(frame, b,
                  "no function '" + value->name +
                      "' is declared in this unit (a macro is none): include its header, or "
                      "write the value another way");
  int count = parameter_count(TREE_TYPE(function));
  if (count >= 0 && (int)value->args.size() != count && !stdarg_p(TREE_TYPE(function)))
    return refuse(frame, b,
                  "'" + value->name + "' takes " + std::to_string(count) + " arguments, not " +
                      std::to_string(value->args.size()));
  std::vector<tree> arguments;
  for (const auto &argument : value->args) {
    tree t = scalar_tree(argument.get(), frame, b);
    tree wanted = parameter_type(function, TREE_TYPE(function), (int)arguments.size());
    if (!t)
      return NULL_TREE;
    if (wanted && !INTEGRAL_TYPE_P(wanted) && !POINTER_TYPE_P(wanted))
      return refuse(frame, b,
                    "'" + value->name +
                        "' takes something that is neither a number nor an "
                        "address");
    arguments.push_back(wanted ? fold_convert(TYPE_MAIN_VARIANT(wanted), t) : promoted(t));
  }
  tree call = build_call_expr_loc_array(UNKNOWN_LOCATION, function, (int)arguments.size(),
                                        arguments.data());
  if (TREE_CODE(call) == CALL_EXPR)
    TREE_NOTHROW(call) = 1;
  return call;
}

static tree mask_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree t = scalar_tree(value->of.get(), frame, b);
  if (!t)
    return NULL_TREE;
  t = promoted(t);
  return fold_build2(BIT_AND_EXPR, TREE_TYPE(t), t, build_int_cst(TREE_TYPE(t), value->number));
}

tree value_tree(const Value *value, const Frame &frame, const Binding &b) {
  switch (value->kind) {
  case Value::Number:
    return build_int_cst(long_long_integer_type_node, value->number);
  case Value::Arg:
    return argument_tree(value, frame, b);
  case Value::Deref: {
    tree pointer = value_tree(value->of.get(), frame, b);
    return pointer ? pointed(pointer, frame, b, "*") : NULL_TREE;
  }
  case Value::Field:
    return field_tree(value, frame, b);
  case Value::Mask:
    return mask_tree(value, frame, b);
  case Value::Ret:
    return frame.ret ? unshare_expr(frame.ret) : refuse(frame, b, "there is no return value here");
  case Value::Self: {
    tree address = build_fold_addr_expr(frame.function);
    TREE_NO_TRAMPOLINE(address) = 1;
    return fold_convert(ptr_type_node, address);
  }
  case Value::Call:
    return called_tree(value, frame, b);
  case Value::Owner:
    return owner_tree(value, frame, b);
  case Value::Name:
    return named_tree(value, frame, b);
  case Value::Address:
    return address_tree(value, frame, b);
  case Value::Cast:
    return cast_tree(value, frame, b);
  case Value::Obj:
    return frame.obj ? unshare_expr(frame.obj) : refuse(frame, b, "there is no object here");
  case Value::Cur:
    break;
  }
  return refuse(frame, b, "this value has no meaning here");
}

/* -- null pointers on the way ---------------------------------------------------------------- */

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
