/* The gate variable; see gate.h. */
#include "gate.h"

#include <cstddef>

#include <aprof/abi.h>

#include "keep.h"
#include "scan.h"

namespace aprof {

/* -- the type ---------------------------------------------------------------------------- */

static const struct {
  const char *name;
  const char *arguments; /* p pointer, k 64 bits (a key), i int */
} events[] = {
    {"enter", "ppp"},
    {"leave", "pi"},
    {"suspend", "pp"},
    {"resume", "p"},
    {"at", "p"},
    {"create_begin", "pppp"},
    {"create_end", "pkki"},
    {"run_begin", "ppkkpp"},
    {"run_end", "pip"},
    {"wake", "pkk"},
    {"end", "pkki"},
    {"idle_begin", "pp"},
    {"idle_end", "p"},
    {"resync", "p"},
    {"wake_current", "p"},
    {"end_current", "pi"},
    {"switch_to", "ppkk"},
    {"due", "pk"},
    {"blocking_begin", "pp"},
    {"blocking_end", "p"},
    {"create_key", "pkk"},
    {"here", "p"},
};
enum { API = 6, RESERVED = 1 };

static_assert(sizeof events / sizeof *events == (size_t)Event::Here + 1,
              "an event is missing");
static_assert(offsetof(aprof_gate, enter) == offsetof(aprof_gate, unused) + 4 &&
                  offsetof(aprof_gate, api_snapshot) - offsetof(aprof_gate, end_current) ==
                      sizeof(void *) &&
                  offsetof(aprof_gate, switch_to) ==
                      offsetof(aprof_gate, api_snapshot) + API * sizeof(void *) &&
                  sizeof(aprof_gate) ==
                      offsetof(aprof_gate, here) + (1 + RESERVED) * sizeof(void *),
              "the gate of abi.h has another shape");

static tree event_type(const char *arguments) {
  tree list = void_list_node;
  for (size_t i = strlen(arguments); i-- > 0;)
    list = tree_cons(NULL_TREE,
                     arguments[i] == 'k'   ? uint64_type_node
                     : arguments[i] == 'i' ? integer_type_node
                                           : ptr_type_node,
                     list);
  return build_pointer_type(build_function_type(void_type_node, list));
}

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
  for (const char *name : {"closed", "abi", "tried", "unused"})
    add_member(type, &last, name, uint32_type_node);
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    if (i == (size_t)Event::SwitchTo)
      add_member(type, &last, "api", build_array_type_nelts(ptr_type_node, API));
    add_member(type, &last, events[i].name, event_type(events[i].arguments));
  }
  add_member(type, &last, "reserved", build_array_type_nelts(ptr_type_node, RESERVED));
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
  tree value = build_constructor(gate_type(), elements);
  TREE_CONSTANT(value) = 1;
  TREE_STATIC(value) = 1;
  return value;
}

/* GCC would make a COMDAT variable a GNU_UNIQUE symbol, which marks the module
   and keeps it from being unloaded. To GCC this is a weak variable in a section;
   the section's name carries the rest (as in site.cc). */
static void put_in_group(tree variable) {
  char progbits[16], name[160];
  snprintf(progbits, sizeof progbits, TYPE_OPERAND_FMT, "progbits");
  snprintf(name, sizeof name,
           ".data." APROF_GATE_SYMBOL ",\"awG\",%s," APROF_GATE_SYMBOL ",comdat " ASM_COMMENT_START,
           progbits);
  set_decl_section_name(variable, name);
}

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
  put_in_group(variable);
  DECL_INITIAL(variable) = initial_value(variable);
  varpool_node::finalize_decl(variable);
  emit_constructor();
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

tree gate_event(Event event) {
  return gate_field(events[(int)event].name);
}

bool refers_to_user_gate(tree t) {
  return t && user_gate() && t == user_gate();
}

} // namespace aprof
