/* SPDX-License-Identifier: MIT */
/* Walks over what a line says: its values and all their parts; see binding.h. */
#include "binding.h"

namespace aprof {

void value_visit(const Value *value, const std::function<void(const Value &)> &visit) {
  for (; value; value = value->of.get()) {
    visit(*value);
    for (const auto &argument : value->args)
      value_visit(argument.get(), visit);
  }
}

bool value_uses(const Value *value, Value::Kind kind) {
  bool uses = false;
  value_visit(value, [&](const Value &v) { uses |= v.kind == kind; });
  return uses;
}

void condition_visit(const Condition &c, const std::function<void(const Value *)> &visit) {
  visit(c.what.get());
  visit(c.with.get());
  for (const Condition &further : c.also) {
    visit(further.what.get());
    visit(further.with.get());
  }
}

bool condition_uses(const Condition &c, Value::Kind kind) {
  bool uses = false;
  condition_visit(c, [&](const Value *value) { uses |= value_uses(value, kind); });
  return uses;
}

static void key_visit(const Key &key, const std::function<void(const Value *)> &visit) {
  visit(key.first.get());
  visit(key.second.get());
}

void binding_visit(const Binding &b, const std::function<void(const Value *)> &visit) {
  key_visit(b.key, visit);
  for (const Key &key : b.more_keys)
    key_visit(key, visit);
  key_visit(b.of_root, visit);
  for (const auto &function : b.functions)
    visit(function.get());
  for (const Condition *c : {&b.ok, &b.when, &b.once_if, &b.sample})
    condition_visit(*c, visit);
  for (const Duration &d : b.due)
    visit(d.value.get());
  for (const Told *told : {&b.label, &b.token}) {
    visit(told->value.get());
    visit(told->length.get());
  }
  visit(b.token_out.get());
}

uint32_t namespace_hash(const std::string &space) {
  if (space.empty())
    return 0u;
  if (space == "any")
    return 0xffffffffu;
  uint32_t hash = 2166136261u;
  for (unsigned char c : space)
    hash = (hash ^ c) * 16777619u;
  return hash;
}

} // namespace aprof
