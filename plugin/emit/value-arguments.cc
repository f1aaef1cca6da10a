/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which arguments a line asks for, and what they are taken for; see value.h. */
#include "value.h"

#include "plugin/match/scan.h"
#include "plugin/match/types.h"

namespace aprof {

int index_of(const Value *value, const Frame &frame) {
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

bool arguments_present(const Binding &b, const Frame &frame) {
  bool well = true;
  binding_visit(b, [&](const Value *value) { well &= present(value, frame); });
  return well;
}

/* -- what a body was cast from ----------------------------------------------------------- */

bool is_word(tree type) {
  return POINTER_TYPE_P(type) ||
         (INTEGRAL_TYPE_P(type) && TYPE_PRECISION(type) == TYPE_PRECISION(ptr_type_node));
}

/* Both point to the same, or to something unknown: the fields of one are the other's. */
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
  /* Otherwise another function may be called there: only what the key has found is looked into. */
  bool sure = is_passed_as_is(frame->function, &b) ||
              !(follows_argument(b.key.first.get()) || follows_argument(b.key.second.get()) ||
                b.when || b.sample || follows_argument(b.label.value.get()) ||
                follows_argument(b.of_root.first.get()));
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
  for (const Told *told : {&b.label, &b.token})
    if (told_behind(b, *told)) {
      collect(told->value.get(), frame, indices);
      collect(told->length.get(), frame, indices);
    }
  if (b.verb == Verb::Run)
    return;
  collect(b.key, frame, indices);
  for (const Key &key : b.more_keys)
    collect(key, frame, indices);
}

bool told_behind(const Binding &b, const Told &told) {
  return (b.verb == Verb::Label && b.ok) || value_uses(told.value.get(), Value::Ret) ||
         value_uses(told.length.get(), Value::Ret);
}

bool key_uses(const Binding &b, Value::Kind kind) {
  bool uses = value_uses(b.key.first.get(), kind) || value_uses(b.key.second.get(), kind);
  for (const Key &key : b.more_keys)
    uses |= value_uses(key.first.get(), kind) || value_uses(key.second.get(), kind);
  return uses;
}

bool late_object(const Binding &b) {
  bool late = condition_uses(b.ok, Value::Obj) || condition_uses(b.once_if, Value::Obj);
  if (b.verb != Verb::Run)
    late |= key_uses(b, Value::Obj);
  for (const Told *told : {&b.label, &b.token})
    late |= told_behind(b, *told) && (value_uses(told->value.get(), Value::Obj) ||
                                      value_uses(told->length.get(), Value::Obj));
  return late;
}

} // namespace aprof
