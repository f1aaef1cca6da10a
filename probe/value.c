/* SPDX-License-Identifier: MIT */
/* Values; see value.h. */
#include "value.h"

#include "read/util.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 63 };

static struct value faulty(const char *fault) {
  return (struct value){.fault = fault};
}

struct value value_of_number(int64_t number) {
  return (struct value){.bits = (uint64_t)number};
}

/* -- types ------------------------------------------------------------------------- */

/* Behind typedefs and qualifiers. */
static bool bare_type(Dwarf_Die *of, Dwarf_Die *type) {
  Dwarf_Attribute attribute;
  if (!dwarf_formref_die(dwarf_attr_integrate(of, DW_AT_type, &attribute), type))
    return false;
  return dwarf_peel_type(type, type) == 0;
}

struct wanted_type {
  const char *name;
  int tag;
  Dwarf_Die found;
  bool is;
};

static bool seek_type(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr bias, void *context) {
  struct wanted_type *w = context;
  Dwarf_Die child;
  (void)module;
  (void)bias;
  if (dwarf_child(unit, &child))
    return true;
  do {
    const char *name = dwarf_tag(&child) == w->tag ? dwarf_diename(&child) : NULL;
    if (name && !strcmp(name, w->name) && !dwarf_hasattr(&child, DW_AT_declaration)) {
      w->found = child;
      w->is = true;
      return false;
    }
  } while (!dwarf_siblingof(&child, &child));
  return true;
}

/* A struct that this unit declares alone is defined by another. */
static void complete(const struct hit *h, Dwarf_Die *type) {
  const char *name = dwarf_diename(type);
  if (!dwarf_hasattr(type, DW_AT_declaration) || !name)
    return;
  struct wanted_type w = {.name = name, .tag = dwarf_tag(type)};
  debug_units(h->debug, seek_type, &w);
  if (w.is)
    *type = w.found;
}

/* elfutils takes no constant one. */
static int tag_of(const struct value *v) {
  return v->has_type ? dwarf_tag((Dwarf_Die *)&v->type) : 0;
}

static bool is_pointer(const struct value *v) {
  int tag = tag_of(v);
  return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
         tag == DW_TAG_rvalue_reference_type;
}

static bool is_reference(const struct value *v) {
  int tag = tag_of(v);
  return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

static bool is_array(const struct value *v) {
  return tag_of(v) == DW_TAG_array_type;
}

/* -- bits -------------------------------------------------------------------------- */

static uint64_t lowest(uint64_t bits, unsigned wide) {
  return wide < 64 ? bits & (((uint64_t)1 << wide) - 1) : bits;
}

static bool fetch(const struct hit *h, struct value *v, uint64_t *bits) {
  Dwarf_Word size = 8;
  if (v->has_type && dwarf_aggregate_size(&v->type, &size) != 0)
    size = 8;
  if (size > 8) {
    v->fault = "it is no number";
    return false;
  }
  if (!v->in_memory) {
    unsigned wide = v->bit_size ? v->bit_size : 8 * (unsigned)size;
    if (v->bit_size && v->bit_at >= 64) {
      v->fault = "it lies in a register";
      return false;
    }
    *bits = lowest(v->bit_size ? v->bits >> v->bit_at : v->bits, wide);
    return true;
  }
  unsigned first = v->bit_at / 8, bytes = (unsigned)size;
  if (v->bit_size)
    bytes = (v->bit_at % 8 + v->bit_size + 7) / 8;
  *bits = 0;
  if (bytes > 8 || !hit_read(h, v->address + first, bits, bytes, &v->late)) {
    v->fault =
        v->address < 4096 ? "a null pointer is followed"
        : hit_below_stack(h, v->address)
            ? "below the stack pointer: samples do not have that of a function that calls no "
              "other; ask in its caller, or compile with -mno-red-zone"
            : "its memory cannot be read";
    return false;
  }
  if (v->bit_size)
    *bits = lowest(*bits >> v->bit_at % 8, v->bit_size);
  return true;
}

/* -- variables --------------------------------------------------------------------- */

struct value value_of_variable(const struct hit *h, Dwarf_Die *variable) {
  struct value v = {0};
  if (!bare_type(variable, &v.type))
    return faulty("its type is not known");
  v.has_type = true;
  complete(h, &v.type);
  struct location at = location_of(h, variable);
  v.late = at.late;
  v.fault = at.fault;
  v.in_memory = at.is == IN_MEMORY;
  v.address = at.address;
  v.bits = at.value;
  if (at.is == IN_BYTES)
    memcpy(&v.bits, at.bytes, at.size < sizeof v.bits ? at.size : sizeof v.bits);
  return v.fault == NULL && is_reference(&v) ? value_pointed(h, v) : v;
}

struct value value_pointed(const struct hit *h, struct value v) {
  if (v.fault)
    return v;
  if (is_array(&v))
    return value_element(h, v, 0);
  if (!is_pointer(&v))
    return faulty("it is no pointer");
  struct value to = {.has_type = true, .in_memory = true};
  if (!bare_type(&v.type, &to.type))
    return faulty("it points to no type that is known");
  complete(h, &to.type);
  if (!fetch(h, &v, &to.address))
    return v;
  to.late = v.late;
  return to;
}

struct value value_address(struct value v) {
  if (v.fault)
    return v;
  if (!v.in_memory)
    return faulty("it lies in a register, and has no address");
  return (struct value){.bits = v.address, .late = v.late};
}

struct value value_element(const struct hit *h, struct value v, int64_t index) {
  if (v.fault)
    return v;
  if (is_pointer(&v)) {
    v = value_pointed(h, v);
    if (v.fault)
      return v;
  } else if (is_array(&v)) {
    Dwarf_Die element;
    if (!v.in_memory)
      return faulty("it lies in a register");
    if (!bare_type(&v.type, &element))
      return faulty("its elements' type is not known");
    v.type = element;
    complete(h, &v.type);
  } else {
    return faulty("it is no array");
  }
  Dwarf_Word size;
  if (dwarf_aggregate_size(&v.type, &size))
    return faulty("its elements' size is not known");
  v.address += (uint64_t)index * size;
  return v;
}

/* The member of that name, also of what is nameless inside, or inherited; `*offset` grows. */
static bool find_member(const struct hit *h, Dwarf_Die *type, const char *name, Dwarf_Die *found,
                        uint64_t *offset, int depth) {
  Dwarf_Die child;
  if (depth > 16 || dwarf_child(type, &child))
    return false;
  do {
    int tag = dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
      continue;
    Dwarf_Attribute attribute;
    Dwarf_Word at = 0;
    if (dwarf_attr(&child, DW_AT_data_member_location, &attribute))
      dwarf_formudata(&attribute, &at);
    const char *called = tag == DW_TAG_member ? dwarf_diename(&child) : NULL;
    if (called && !strcmp(called, name)) {
      *found = child;
      *offset += at;
      return true;
    }
    Dwarf_Die inner;
    uint64_t within = *offset + at;
    if (called || !bare_type(&child, &inner))
      continue;
    complete(h, &inner);
    if (find_member(h, &inner, name, found, &within, depth + 1)) {
      *offset = within;
      return true;
    }
  } while (!dwarf_siblingof(&child, &child));
  return false;
}

static void bits_of(Dwarf_Die *member, struct value *v) {
  Dwarf_Attribute attribute;
  Dwarf_Word size = 0, at = 0;
  if (!dwarf_attr(member, DW_AT_bit_size, &attribute) || dwarf_formudata(&attribute, &size))
    return;
  v->bit_size = (unsigned)size;
  if (dwarf_attr(member, DW_AT_data_bit_offset, &attribute) && !dwarf_formudata(&attribute, &at)) {
    v->bit_at = (unsigned)at;
    return;
  }
  Dwarf_Word bytes = 0;
  if (dwarf_attr(member, DW_AT_bit_offset, &attribute) && !dwarf_formudata(&attribute, &at) &&
      !dwarf_aggregate_size(&v->type, &bytes))
    v->bit_at = (unsigned)(8 * bytes - at - size); /* DWARF 3 counts from the other end */
}

struct value value_member(const struct hit *h, struct value v, const char *name) {
  if (v.fault)
    return v;
  if (is_pointer(&v)) {
    v = value_pointed(h, v);
    if (v.fault)
      return v;
  }
  int tag = v.has_type ? dwarf_tag(&v.type) : 0;
  if (tag != DW_TAG_structure_type && tag != DW_TAG_union_type && tag != DW_TAG_class_type)
    return faulty("it is no struct");
  Dwarf_Die member;
  uint64_t offset = 0;
  if (!find_member(h, &v.type, name, &member, &offset, 0))
    return faulty(dwarf_hasattr(&v.type, DW_AT_declaration) ? "its struct is not known"
                                                            : "it has no such member");
  if (!v.in_memory && offset >= 8)
    return faulty("it lies in a register");
  struct value of = {.has_type = true,
                     .in_memory = v.in_memory,
                     .address = v.address + offset,
                     .bits = v.in_memory ? 0 : v.bits >> 8 * offset,
                     .late = v.late};
  if (!bare_type(&member, &of.type))
    return faulty("its type is not known");
  complete(h, &of.type);
  bits_of(&member, &of);
  return is_reference(&of) ? value_pointed(h, of) : of;
}

/* -- numbers and texts ------------------------------------------------------------- */

static unsigned encoding_of(const struct value *v) {
  Dwarf_Die type = v->type;
  Dwarf_Attribute attribute;
  Dwarf_Word encoding = 0;
  if (dwarf_tag(&type) == DW_TAG_enumeration_type) {
    Dwarf_Die under;
    if (!bare_type(&type, &under))
      return DW_ATE_unsigned;
    type = under;
  }
  if (dwarf_attr(&type, DW_AT_encoding, &attribute))
    dwarf_formudata(&attribute, &encoding);
  return (unsigned)encoding;
}

static int64_t extended(const struct value *v, uint64_t bits) {
  Dwarf_Word size = 8;
  dwarf_aggregate_size((Dwarf_Die *)&v->type, &size);
  unsigned wide = v->bit_size ? v->bit_size : (unsigned)size * 8;
  unsigned encoding = encoding_of(v);
  bool is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
  if (is_signed && wide < 64 && bits >> (wide - 1) & 1)
    bits |= ~(uint64_t)0 << wide;
  return (int64_t)bits;
}

static bool is_scalar(const struct value *v) {
  int tag = v->has_type ? dwarf_tag((Dwarf_Die *)&v->type) : DW_TAG_base_type;
  return tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type || is_pointer(v);
}

bool value_number(const struct hit *h, struct value *v, int64_t *number) {
  uint64_t bits;
  if (v->fault)
    return false;
  if (!is_scalar(v)) {
    if (is_array(v) && v->in_memory) {
      *number = (int64_t)v->address;
      return true;
    }
    v->fault = "it is no number";
    return false;
  }
  if (v->has_type && !is_pointer(v) && encoding_of(v) == DW_ATE_float) {
    v->fault = "a number with a fraction cannot be compared";
    return false;
  }
  if (!fetch(h, v, &bits))
    return false;
  *number = v->has_type && !is_pointer(v) ? extended(v, bits) : (int64_t)bits;
  return true;
}

static char *quoted(const struct hit *h, struct value *v, uint64_t address, size_t most) {
  char text[TEXT_MOST + 1], *out;
  size_t length = 0, size = 0;
  FILE *to = NULL;
  if (!hit_read(h, address, text, 1, &v->late)) {
    v->fault = "its memory cannot be read";
    return NULL;
  }
  if (most > TEXT_MOST)
    most = TEXT_MOST;
  while (length < most && hit_read(h, address + length, text + length, 1, &v->late) &&
         text[length] != '\0')
    length++;
  to = open_memstream(&out, &size);
  if (!to)
    return print_string("\"...\"");
  fputc('"', to);
  for (size_t i = 0; i < length; i++)
    if (isprint((unsigned char)text[i]) && text[i] != '"' && text[i] != '\\')
      fputc(text[i], to);
    else
      fprintf(to, "\\x%02x", (unsigned char)text[i]);
  fputs(length == TEXT_MOST ? "...\"" : "\"", to);
  fclose(to);
  return out;
}

static bool is_char(Dwarf_Die *type) {
  Dwarf_Attribute attribute;
  Dwarf_Word encoding = 0, size = 0;
  return dwarf_tag(type) == DW_TAG_base_type && !dwarf_aggregate_size(type, &size) && size == 1 &&
         dwarf_attr(type, DW_AT_encoding, &attribute) && !dwarf_formudata(&attribute, &encoding) &&
         (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

static char *enumerator(Dwarf_Die *type, int64_t number) {
  Dwarf_Die child;
  if (!dwarf_child(type, &child))
    do {
      Dwarf_Attribute attribute;
      Dwarf_Sword value;
      if (dwarf_tag(&child) == DW_TAG_enumerator &&
          dwarf_attr(&child, DW_AT_const_value, &attribute) &&
          !dwarf_formsdata(&attribute, &value) && value == number && dwarf_diename(&child))
        return print_string("%s", dwarf_diename(&child));
    } while (!dwarf_siblingof(&child, &child));
  return NULL;
}

static char *fraction(uint64_t bits, struct value *v) {
  Dwarf_Word size = 8;
  float narrow;
  double wide;
  dwarf_aggregate_size(&v->type, &size);
  memcpy(&narrow, &bits, sizeof narrow);
  memcpy(&wide, &bits, sizeof wide);
  char text[64];
  return strfromd(text, sizeof text, size == 4 ? "%.7g" : "%.15g", size == 4 ? narrow : wide) > 0
             ? print_string("%s", text)
             : NULL;
}

char *value_text(const struct hit *h, struct value *v, bool *is_number, int64_t *number) {
  Dwarf_Die to;
  uint64_t bits;
  *is_number = false;
  if (v->fault)
    return NULL;
  if (is_array(v) && v->in_memory && bare_type(&v->type, &to)) {
    Dwarf_Word size = TEXT_MOST;
    if (is_char(&to)) {
      dwarf_aggregate_size(&v->type, &size);
      return quoted(h, v, v->address, size);
    }
    v->fault = "an array: ask for one of its elements";
    return NULL;
  }
  if (!is_scalar(v)) {
    v->fault = "a struct: ask for one of its members";
    return NULL;
  }
  if (!fetch(h, v, &bits))
    return NULL;
  if (is_pointer(v)) {
    if (bits != 0 && bare_type(&v->type, &to) && is_char(&to))
      return quoted(h, v, bits, TEXT_MOST);
    return bits == 0 ? print_string("NULL") : print_string("0x%llx", (unsigned long long)bits);
  }
  if (v->has_type && encoding_of(v) == DW_ATE_float)
    return fraction(bits, v);
  *number = v->has_type ? extended(v, bits) : (int64_t)bits;
  if (v->has_type && dwarf_tag(&v->type) == DW_TAG_enumeration_type) {
    char *name = enumerator(&v->type, *number);
    if (name)
      return name;
  }
  if (*number < 0 && v->has_type && encoding_of(v) == DW_ATE_unsigned)
    return print_string("%llu", (unsigned long long)*number); /* more than sums have room for */
  *is_number = true;
  return print_string("%lld", (long long)*number);
}
