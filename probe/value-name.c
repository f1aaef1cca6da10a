/* SPDX-License-Identifier: MIT */
/* Names to values, from the inside out, as the languages have it; see value.h. */
#include "value.h"

#include <dwarf.h>
#include <string.h>

static struct value faulty(const char *fault) {
  return (struct value){.fault = fault};
}

static bool is_called(Dwarf_Die *die, const char *name, size_t length) {
  const char *called = dwarf_diename(die);
  return called && strlen(called) == length && !strncmp(called, name, length);
}

static bool number_of(Dwarf_Die *enumerator, struct value *v) {
  Dwarf_Attribute attribute;
  Dwarf_Sword number;
  if (!dwarf_attr(enumerator, DW_AT_const_value, &attribute) ||
      dwarf_formsdata(&attribute, &number))
    return false;
  *v = value_of_number(number);
  return true;
}

/* In the types of a unit, and of its namespaces and classes. */
static bool find_enumerator(Dwarf_Die *in, const char *name, struct value *v) {
  Dwarf_Die child;
  if (dwarf_child(in, &child))
    return false;
  do {
    switch (dwarf_tag(&child)) {
    case DW_TAG_enumerator:
      if (is_called(&child, name, strlen(name)) && number_of(&child, v))
        return true;
      break;
    case DW_TAG_enumeration_type:
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
      if (find_enumerator(&child, name, v))
        return true;
      break;
    default:
      break;
    }
  } while (!dwarf_siblingof(&child, &child));
  return false;
}

/* Of C++: "pool::limit", and "limit" of whichever namespace: those without a name have none. */
static bool find_scoped(const struct hit *h, Dwarf_Die *in, const char *name, struct value *v) {
  const char *colons = strstr(name, "::");
  Dwarf_Die child;
  if (dwarf_child(in, &child))
    return false;
  do {
    int tag = dwarf_tag(&child);
    bool is_class = tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
    bool is_scope = is_class || tag == DW_TAG_namespace || tag == DW_TAG_enumeration_type;
    if (is_scope && colons && is_called(&child, name, (size_t)(colons - name)) &&
        find_scoped(h, &child, colons + 2, v))
      return true;
    if (tag == DW_TAG_namespace && (!colons || !dwarf_diename(&child)) &&
        find_scoped(h, &child, name, v))
      return true;
    if (colons || !is_called(&child, name, strlen(name)))
      continue;
    if (tag == DW_TAG_enumerator && number_of(&child, v))
      return true;
    if (tag == DW_TAG_variable || (tag == DW_TAG_member && dwarf_hasattr(&child, DW_AT_external))) {
      *v = value_of_variable(h, &child);
      return true;
    }
  } while (!dwarf_siblingof(&child, &child));
  return false;
}

/* What a method calls by its name alone. */
static bool find_own(const struct hit *h, const char *name, struct value *v) {
  Dwarf_Die variable;
  if (!debug_variable_at(h->unit, h->pc, "this", h->function, &variable))
    return false;
  *v = value_member(h, value_of_variable(h, &variable), name);
  return !v->fault;
}

struct value value_of_name(const struct hit *h, const char *name) {
  Dwarf_Die variable;
  struct value v;
  if (!strncmp(name, "::", 2))
    name += 2;
  if (strstr(name, "::"))
    return find_scoped(h, h->unit, name, &v) ? v : faulty("no such variable is known here");
  if (debug_variable_at(h->unit, h->pc, name, h->function, &variable))
    return value_of_variable(h, &variable);
  if (find_own(h, name, &v))
    return v;
  if (dwarf_getscopevar(h->unit, 1, name, 0, NULL, 0, 0, &variable) >= 0) {
    int tag = dwarf_tag(&variable);
    return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter
               ? value_of_variable(h, &variable)
               : faulty("it is no variable");
  }
  return find_scoped(h, h->unit, name, &v) || find_enumerator(h->unit, name, &v)
             ? v
             : faulty("no such variable is visible here");
}
