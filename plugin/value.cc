/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values as trees; see value.h. */
#include "value.h"

#include <algorithm>

#include <aprof/abi.h>

#include "diagnose.h"
#include "guard.h"
#include "scan.h"
#include "types.h"

namespace aprof {

static int index_of(const Value *value, const Frame &frame) {
  return (int)(value->number < 0 ? (int64_t)frame.args.size() + value->number : value->number);
}

/* -- which arguments ------------------------------------------------------------------- */

static bool present(const Value *value, const Frame &frame) {
  bool well = true;
  value_visit(value, [&](const Value &v) {
    int index = v.kind == Value::Arg ? index_of(&v, frame) : 0;
    well &= v.kind != Value::Arg || (index >= 0 && index < (int)frame.args.size());
  });
  return well;
}

static bool present(const Key &key, const Frame &frame) {
  return present(key.first.get(), frame) && present(key.second.get(), frame);
}

bool arguments_present(const Binding &b, const Frame &frame) {
  bool well = present(b.key, frame);
  for (const Duration &d : b.due)
    well &= present(d.value.get(), frame);
  for (const Condition *c : {&b.ok, &b.when, &b.once_if})
    condition_visit(*c, [&](const Value *value) { well &= present(value, frame); });
  for (const Key &key : b.more_keys)
    well &= present(key, frame);
  for (const auto &value : b.functions)
    well &= present(value.get(), frame);
  return well;
}

/* -- what a body was cast from ----------------------------------------------------------- */

static bool is_word(tree type) {
  return POINTER_TYPE_P(type) ||
         (INTEGRAL_TYPE_P(type) && TYPE_PRECISION(type) == TYPE_PRECISION(ptr_type_node));
}

/* Both pointers to the same, or to nothing that is known: the fields of one are the other's. */
static bool same_argument(tree one, tree other) {
  return POINTER_TYPE_P(one) == POINTER_TYPE_P(other) &&
         (!POINTER_TYPE_P(one) ||
          TYPE_MAIN_VARIANT(TREE_TYPE(one)) == TYPE_MAIN_VARIANT(TREE_TYPE(other)));
}

static bool follows_argument(const Value *value) {
  bool follows = false;
  value_visit(value, [&](const Value &v) {
    follows |= v.kind == Value::Field || v.kind == Value::Deref || v.kind == Value::Call;
  });
  return follows;
}

bool take_types(const Binding &b, tree function_type, Frame *frame) {
  bool cast = false, well = true;
  for (size_t i = 0; function_type && i < frame->args.size(); i++) {
    tree declared = parameter_type(NULL_TREE, function_type, (int)i);
    tree own = TREE_TYPE(frame->args[i]);
    if (!declared || same_argument(declared, own))
      continue;
    cast = true;
    well &= !POINTER_TYPE_P(declared) || is_word(own);
    frame->types[i] = declared;
  }
  /* Else it may be another one that is called there: only what the key has found is looked into. */
  bool sure =
      is_passed_as_is(frame->function, &b) ||
      !(follows_argument(b.key.first.get()) || follows_argument(b.key.second.get()) || b.when);
  return !cast || (well && sure);
}

static void collect(const Value *value, const Frame &frame, std::unordered_set<int> *indices) {
  value_visit(value, [&](const Value &v) {
    if (v.kind == Value::Arg)
      indices->insert(index_of(&v, frame));
  });
}

static void collect(const Key &key, const Frame &frame, std::unordered_set<int> *indices) {
  collect(key.first.get(), frame, indices);
  collect(key.second.get(), frame, indices);
}

void late_arguments(const Binding &b, const Frame &frame, std::unordered_set<int> *indices) {
  for (const Condition *c : {&b.ok, &b.once_if})
    condition_visit(*c, [&](const Value *value) { collect(value, frame, indices); });
  if (b.verb == Verb::Run)
    return;
  collect(b.key, frame, indices);
  for (const Key &key : b.more_keys)
    collect(key, frame, indices);
}

bool late_object(const Binding &b) {
  bool late = condition_uses(b.ok, Value::Obj) || condition_uses(b.once_if, Value::Obj);
  if (b.verb != Verb::Run)
    late |= key_uses(b, Value::Obj);
  return late;
}

/* -- values ------------------------------------------------------------------------------ */

static tree refuse(const Frame &frame, const Binding &b, const std::string &message) {
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

static tree scalar_tree(const Value *value, const Frame &frame, const Binding &b);

/* A variable, a function or an enumerator of the unit. */
static tree named_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree found = scanned_name(value->name);
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
  bool lasts = base && (!DECL_P(base) || (VAR_P(base) && is_global_var(base))) &&
               !CONSTANT_CLASS_P(base);
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
  tree declared = value->kind == Value::Arg ? frame.types[(size_t)index_of(value, frame)] : NULL_TREE;
  type = declared ? declared : type;
  return POINTER_TYPE_P(type) && RECORD_OR_UNION_TYPE_P(TREE_TYPE(type)) &&
         COMPLETE_TYPE_P(TREE_TYPE(type));
}

static tree cast_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree operand = scalar_tree(value->of.get(), frame, b), type = scanned_type(value->name);
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
  return fold_convert(type, POINTER_TYPE_P(own) ? operand : fold_convert(pointer_sized_int_node, operand));
}

static tree owner_tree(const Value *value, const Frame &frame, const Binding &b) {
  tree member = value_tree(value->of.get(), frame, b);
  if (!member)
    return NULL_TREE;
  if (!POINTER_TYPE_P(TREE_TYPE(member)))
    return refuse(frame, b, "owner needs a pointer, this is " + shown(TREE_TYPE(member)));
  tree record = scanned_struct(value->name);
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
static tree promoted(tree value) {
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
static tree scalar_tree(const Value *value, const Frame &frame, const Binding &b) {
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
  tree function = scanned_function(value->name);
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

/* -- keys and conditions -------------------------------------------------------------------- */

bool key_uses(const Binding &b, Value::Kind kind) {
  bool uses = value_uses(b.key.first.get(), kind) || value_uses(b.key.second.get(), kind);
  for (const Key &key : b.more_keys)
    uses |= value_uses(key.first.get(), kind) || value_uses(key.second.get(), kind);
  return uses;
}

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
static tree and_then(tree one, tree other) {
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

/* One that is negative or beyond `most` ns is none. */
static tree in_range(tree value, int64_t ns, int64_t most) {
  most /= ns;
  tree type = TREE_TYPE(value);
  tree wide = SCALAR_FLOAT_TYPE_P(type)
                  ? unshare_expr(value)
                  : fold_convert(uint64_type_node, unshare_expr(value)); /* in which a negative one is large */
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
  bool difference = std::any_of(b.due.begin(), b.due.end(), [](const Duration &d) { return d.minus; });
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
  /* What should have been before now is due at once. */
  tree later = fold_build2(GT_EXPR, boolean_type_node, unshare_expr(sums[0]), unshare_expr(sums[1]));
  tree left = fold_build2(MINUS_EXPR, uint64_type_node, sums[0], sums[1]);
  tree ns =
      fold_build3(COND_EXPR, uint64_type_node, later, left, build_int_cst(uint64_type_node, 0));
  *given = and_then(*given, fold_build2(LE_EXPR, boolean_type_node, unshare_expr(ns),
                                        build_int_cst(uint64_type_node, longest)));
  return ns;
}

tree is_stored(const Binding &b, const Frame &frame) {
  if (!b.stored)
    return boolean_true_node;
  if (b.stored->kind == Value::Name && !scanned_name(b.stored->name))
    return boolean_false_node;
  tree value = promoted(unshare_expr(frame.args[0]));
  tree wanted = b.stored->kind == Value::Number
                    ? build_int_cst(TREE_TYPE(value), b.stored->number)
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
