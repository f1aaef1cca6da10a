/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate variable; see gate.h. */
#include "gate.h"

#include <cstddef>
#include <type_traits>

#include <aprof/abi.h>

#include "plugin/keep.h"
#include "plugin/match/scan.h"

namespace aprof {

/* -- the type ---------------------------------------------------------------------------- */

/* The types of a row's parameters, as GCC has them. */
template <typename T>
static tree type_of() {
  static_assert(std::is_pointer<T>::value, "no event has a parameter of that type");
  return ptr_type_node;
}
template <>
tree type_of<int>() {
  return integer_type_node;
}
template <>
tree type_of<uint64_t>() {
  return uint64_type_node;
}

template <typename... Parameters>
static tree event_type(void (*)(Parameters...)) {
  tree types[] = {type_of<Parameters>()...};
  return build_pointer_type(
      build_function_type_array(void_type_node, sizeof...(Parameters), types));
}

/* pieces.h passes a token to what opens, behind the site, and to what closes. */
enum Role { TELLS, OPENS, CLOSES };
template <typename... Rest>
constexpr bool plays(Role role, void (*)(aprof_site *, aprof_token *, Rest...)) {
  return role == OPENS;
}
template <typename... Rest>
constexpr bool plays(Role role, void (*)(aprof_token *, Rest...)) {
  return role != OPENS;
}
template <typename... Rest>
constexpr bool plays(Role role, void (*)(aprof_site *, Rest...)) {
  return role == TELLS;
}
constexpr bool plays(Role role, void (*)(char *)) {
  return role == TELLS;
}

static const struct {
  const char *name;
  tree (*type)();
} members[] = {
#define EVENT(with, role, name, parameters, arguments)                                             \
  {#name, [] { return event_type(decltype(aprof_gate::name)()); }},
#define CALL(with, result, name, parameters) {#name, [] { return ptr_type_node; }},
    APROF_GATE_MEMBERS(EVENT, CALL, 0)
#undef EVENT
#undef CALL
};

#define EVENT(with, role, name, parameters, arguments)                                             \
  static_assert(plays(role, decltype(aprof_gate::name)()), "the role of " #name);
APROF_GATE_EVENTS(EVENT, 0)
#undef EVENT

static_assert(sizeof members / sizeof *members == APROF_GATE_ROWS, "rows are not counted right");
static_assert(sizeof(aprof_gate) == offsetof(aprof_gate, enter) + APROF_GATE_ROWS * sizeof(void *),
              "the gate of abi.h has another shape");

static void add_member(tree record, tree *last, const char *name, tree type) {
  tree field = build_decl(UNKNOWN_LOCATION, FIELD_DECL, get_identifier(name), type);
  DECL_CONTEXT(field) = record;
  if (*last)
    DECL_CHAIN(*last) = field;
  else
    TYPE_FIELDS(record) = field;
  *last = field;
}

static tree gate_type() {
  static tree type;
  if (type)
    return type;
  type = keep(make_node(RECORD_TYPE));
  tree last = NULL_TREE;
  tree word = build_qualified_type(uint32_type_node, TYPE_QUAL_CONST | TYPE_QUAL_VOLATILE);
  add_member(type, &last, "flag", build_pointer_type(word));
  for (const char *name : {"closed", "abi", "tried", "size"})
    add_member(type, &last, name, uint32_type_node);
  for (const auto &member : members)
    add_member(type, &last, member.name, member.type());
  TYPE_NAME(type) = get_identifier("aprof_gate");
  layout_type(type);
  return type;
}

static tree field_named(const char *name) {
  tree field = TYPE_FIELDS(gate_type());
  while (strcmp(IDENTIFIER_POINTER(DECL_NAME(field)), name) != 0)
    field = DECL_CHAIN(field);
  return field;
}

/* -- the variable -------------------------------------------------------------------------- */

static tree the_gate;
static void (*constructor)();

void gate_constructor(void (*emit)()) {
  constructor = emit;
}

static tree initial_value(tree variable) {
  vec<constructor_elt, va_gc> *elements = nullptr;
  tree flag = field_named("flag"), closed = field_named("closed");
  tree address =
      build_fold_addr_expr(build3(COMPONENT_REF, TREE_TYPE(closed),
                                  build2(MEM_REF, gate_type(), build_fold_addr_expr(variable),
                                         build_int_cst(build_pointer_type(gate_type()), 0)),
                                  closed, NULL_TREE));
  CONSTRUCTOR_APPEND_ELT(elements, flag, fold_convert(TREE_TYPE(flag), address));
  CONSTRUCTOR_APPEND_ELT(elements, field_named("abi"), build_int_cst(uint32_type_node, APROF_ABI));
  CONSTRUCTOR_APPEND_ELT(elements, field_named("size"),
                         fold_convert(uint32_type_node, TYPE_SIZE_UNIT(gate_type())));
  tree value = build_constructor(gate_type(), elements);
  TREE_CONSTANT(value) = 1;
  TREE_STATIC(value) = 1;
  return value;
}

/* GCC would make a COMDAT variable a GNU_UNIQUE symbol, which marks the module
   and keeps it from being unloaded. To GCC this is a weak variable in a section;
   the section's name carries the rest (as in site-record.cc). */
static void put_in_group(tree variable) {
  char progbits[16], name[160];
  snprintf(progbits, sizeof progbits, TYPE_OPERAND_FMT, "progbits");
  snprintf(name, sizeof name,
           ".data." APROF_GATE_SYMBOL ",\"awG\",%s," APROF_GATE_SYMBOL ",comdat " ASM_COMMENT_START,
           progbits);
  set_decl_section_name(variable, name);
}

/* The flag and the events of bodies share a line of the cache. */
enum { GATE_ALIGN = 64 };
static_assert(offsetof(aprof_gate, leave) < GATE_ALIGN, "bodies take one line of the gate");

/* One definition per module out of many: weak, hidden, writable. Where the
   program has read <aprof.h>, the variable declared there is completed. */
tree gate() {
  if (the_gate)
    return the_gate;
  tree variable = user_gate();
  if (!variable) {
    variable =
        build_decl(UNKNOWN_LOCATION, VAR_DECL, get_identifier(APROF_GATE_SYMBOL), gate_type());
    DECL_ARTIFICIAL(variable) = 1;
    DECL_IGNORED_P(variable) = 1;
    SET_DECL_ASSEMBLER_NAME(variable, get_identifier(APROF_GATE_SYMBOL));
  }
  the_gate = keep(variable);
  DECL_EXTERNAL(variable) = 0;
  TREE_STATIC(variable) = 1;
  TREE_PUBLIC(variable) = 1;
  TREE_ADDRESSABLE(variable) = 1;
  TREE_USED(variable) = 1;
  DECL_VISIBILITY(variable) = VISIBILITY_HIDDEN;
  DECL_VISIBILITY_SPECIFIED(variable) = 1;
  DECL_WEAK(variable) = 1;
  SET_DECL_ALIGN(variable, GATE_ALIGN * BITS_PER_UNIT);
  DECL_USER_ALIGN(variable) = 1;
  put_in_group(variable);
  DECL_INITIAL(variable) = initial_value(variable);
  varpool_node::finalize_decl(variable);
  constructor();
  return the_gate;
}

/* The variable may have the type of <aprof.h>: access it as ours, aliasing any. */
static tree access(tree field) {
  tree any = build_pointer_type_for_mode(gate_type(), ptr_mode, true);
  tree object = build2(MEM_REF, gate_type(), build_fold_addr_expr(gate()), build_int_cst(any, 0));
  return build3(COMPONENT_REF, TREE_TYPE(field), object, field, NULL_TREE);
}

tree gate_field(const char *name) {
  return access(field_named(name));
}

static const char *const event_names[] = {
#define EVENT(with, role, name, parameters, arguments) #name,
    APROF_GATE_EVENTS(EVENT, 0)
#undef EVENT
};

tree gate_event(Event event) {
  return gate_field(event_names[(int)event]);
}

bool is_gate_event(tree expression, Event *event) {
  if (TREE_CODE(expression) != COMPONENT_REF)
    return false;
  tree field = TREE_OPERAND(expression, 1);
  if (DECL_CONTEXT(field) != gate_type())
    return false;
  for (size_t i = 0; i < sizeof event_names / sizeof *event_names; i++)
    if (strcmp(identifier_text(DECL_NAME(field)), event_names[i]) == 0) {
      *event = (Event)i;
      return true;
    }
  return false;
}

bool refers_to_user_gate(tree t) {
  return t && user_gate() && t == user_gate();
}

} // namespace aprof
