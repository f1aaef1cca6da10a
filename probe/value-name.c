/* SPDX-License-Identifier: MIT */
/* Names to values, from the inside out, as the languages have it; see value.h. */
#include "value.h"

#include <dwarf.h>
#include <string.h>

static bool is_called(Dwarf_Die *die, const char *name, size_t length) {
  const char *called = dwarf_diename(die);
  return called && strlen(called) == length && !strncmp(called, name, length);
}

static bool number_of(Dwarf_Die *type, Dwarf_Die *enumerator, struct value *v) {
  Dwarf_Attribute attribute;
  Dwarf_Sword number;
  if (!dwarf_attr(enumerator, DW_AT_const_value, &attribute) ||
      dwarf_formsdata(&attribute, &number))
    return false;
  *v = (struct value){.has_type = true, .type = *type, .known = 0xff};
  memcpy(v->bytes, &number, sizeof number);
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
      if (is_called(&child, name, strlen(name)) && number_of(in, &child, v))
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

/* Of C++: "pool::limit", and "limit", or "color::red", of whichever namespace. */
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
    if (tag == DW_TAG_namespace && find_scoped(h, &child, name, v))
      return true;
    if (colons || !is_called(&child, name, strlen(name)))
      continue;
    if (tag == DW_TAG_enumerator && number_of(in, &child, v))
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

/* What every program has, were it a macro of C. */
static bool find_word(const char *name, struct value *v) {
  static const struct {
    const char *name;
    int64_t number;
  } words[] = {{"true", 1}, {"false", 0}, {"NULL", 0}, {"nullptr", 0}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(name, words[i].name)) {
      const struct number number = number_int(words[i].number);
      *v = value_of_number(&number);
      return true;
    }
  return false;
}

static bool find_in_unit(const struct hit *h, const char *name, struct value *v) {
  Dwarf_Die variable;
  if (strstr(name, "::"))
    return find_scoped(h, h->unit, name, v);
  if (dwarf_getscopevar(h->unit, 1, name, 0, NULL, 0, 0, &variable) >= 0) {
    int tag = dwarf_tag(&variable);
    *v = tag == DW_TAG_variable || tag == DW_TAG_formal_parameter
             ? value_of_variable(h, &variable)
             : value_faulty("it is no variable");
    return true;
  }
  return find_scoped(h, h->unit, name, v) || find_enumerator(h->unit, name, v);
}

struct elsewhere {
  const struct hit *hit;
  const char *name;
  struct value value;
};

static bool has_name(const struct debug_owner *owner, void *context) {
  struct elsewhere *e = context;
  struct hit h = *e->hit;
  h.module = owner->module;
  h.room = owner->unit;
  h.unit = &h.room;
  h.bias = owner->bias;
  return find_in_unit(&h, e->name, &e->value) && !e->value.fault;
}

/* Of another unit, as debuggers have it, which look into all. */
static bool find_elsewhere(const struct hit *h, const char *name, struct value *v) {
  struct elsewhere e = {.hit = h, .name = name};
  const struct debug_owner *owner = debug_owner_of(h->debug, name, has_name, &e);
  bool found = owner->is && has_name(owner, &e);
  *v = e.value;
  return found;
}

struct value value_of_name(const struct hit *h, const char *name) {
  Dwarf_Die variable;
  struct value v;
  if (!strncmp(name, "::", 2))
    name += 2;
  if (!strstr(name, "::")) {
    if (debug_variable_at(h->unit, h->pc, name, h->function, &variable))
      return value_of_variable(h, &variable);
    if (find_own(h, name, &v))
      return v;
  }
  struct value here = {0};
  if (find_in_unit(h, name, &here) && !here.fault)
    return here;
  return find_word(name, &v) || find_elsewhere(h, name, &v) ? v
         : here.fault                                       ? here
                      : value_faulty("no such variable is visible here");
}
