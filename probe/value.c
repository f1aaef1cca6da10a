/* SPDX-License-Identifier: MIT */
/* Values; see value.h. */
#include "value.h"

#include "read/util.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct value value_faulty(const char *fault) {
  return (struct value){.fault = fault};
}

struct value value_of_number(const struct number *number) {
  return (struct value){.number = *number};
}

/* -- types ------------------------------------------------------------------------- */

bool value_type(Dwarf_Die *of, Dwarf_Die *type) {
  Dwarf_Attribute attribute;
  if (!dwarf_formref_die(dwarf_attr_integrate(of, DW_AT_type, &attribute), type))
    return false;
  return dwarf_peel_type(type, type) == 0;
}

/* A struct that is declared alone is defined elsewhere: in a unit of types, or in another one that
   has a struct of that name. */
static void complete(const struct hit *h, Dwarf_Die *type) {
  Dwarf_Attribute attribute;
  Dwarf_Die whole;
  if (dwarf_attr(type, DW_AT_signature, &attribute)
          ? dwarf_formref_die(&attribute, &whole) != NULL
          : dwarf_hasattr(type, DW_AT_declaration) && debug_type(h->debug, type, &whole))
    *type = whole;
}

/* elfutils takes no constant one. */
static int tag_of(const struct value *v) {
  return v->has_type && !v->is_address ? dwarf_tag((Dwarf_Die *)&v->type) : 0;
}

bool value_is_pointer(const struct value *v) {
  int tag = tag_of(v);
  return v->is_address || tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
         tag == DW_TAG_rvalue_reference_type;
}

static bool is_reference(const struct value *v) {
  int tag = tag_of(v);
  return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool value_is_array(const struct value *v) {
  return tag_of(v) == DW_TAG_array_type;
}

/* -- bytes ------------------------------------------------------------------------- */

bool value_bytes(const struct hit *h, struct value *v, unsigned first, void *to, size_t size) {
  uint64_t at = v->address + first;
  if (!v->in_memory) {
    uint64_t wanted = size < 64 ? ((uint64_t)1 << size) - 1 : ~(uint64_t)0;
    if (v->points_nowhere)
      v->fault = "optimised out: what it points to is in no memory; ask for that";
    else if (at >= sizeof v->bytes || size > sizeof v->bytes - at)
      v->fault = "it lies in a register";
    else if ((v->known >> at & wanted) != wanted)
      v->fault = "optimised out here";
    else
      memcpy(to, v->bytes + at, size);
    return v->fault == NULL;
  }
  if (hit_read(h, at, to, size, &v->late))
    return true;
  v->fault = at < 4096 ? "a null pointer is followed"
             : hit_below_stack(h, at)
                 ? "below the stack pointer: samples do not have that of a function that calls no "
                   "other; ask in its caller, or compile with -mno-red-zone"
                 : "its memory cannot be read";
  return false;
}

/* What a pointer has. */
static bool pointer(const struct hit *h, struct value *v, uint64_t *address) {
  *address = v->address;
  return v->is_address || value_bytes(h, v, 0, address, sizeof *address);
}

/* -- variables --------------------------------------------------------------------- */

static void lies(struct value *v, const struct location *at) {
  v->late |= at->late;
  v->fault = at->fault;
  v->in_memory = at->is == IN_MEMORY;
  v->points_nowhere = at->is == IN_NO_MEMORY;
  v->target = at->target;
  v->address = at->is == IN_BYTES ? 0 : at->address;
  v->known = at->known;
  memcpy(v->bytes, at->bytes, sizeof v->bytes);
}

struct value value_of_variable(const struct hit *h, Dwarf_Die *variable) {
  struct value v = {0};
  if (!value_type(variable, &v.type))
    return value_faulty("its type is not known");
  v.has_type = true;
  complete(h, &v.type);
  struct location at = location_of(h, variable);
  lies(&v, &at);
  return v.fault == NULL && is_reference(&v) ? value_pointed(h, v) : v;
}

struct value value_pointed(const struct hit *h, struct value v) {
  if (v.fault)
    return v;
  if (value_is_array(&v))
    return value_element(h, v, 0);
  if (!value_is_pointer(&v))
    return value_faulty("it is no pointer");
  struct value to = {.has_type = true, .in_memory = true};
  if (v.is_address)
    to.type = v.type;
  else if (!value_type(&v.type, &to.type))
    return value_faulty("it points to no type that is known");
  complete(h, &to.type);
  if (v.points_nowhere) {
    struct location at = location_of(h, &v.target);
    lies(&to, &at);
    to.address += v.address;
    return to;
  }
  if (!pointer(h, &v, &to.address))
    return v;
  to.late = v.late;
  return to;
}

struct value value_address(struct value v) {
  if (v.fault)
    return v;
  if (!v.in_memory || v.bit_size)
    return value_faulty(v.bit_size ? "a bit-field has no address"
                                   : "it lies in a register, and has no address");
  if (v.dimension)
    return value_faulty("a part of an array: ask for the address of an element");
  v.in_memory = false;
  v.is_address = true;
  return v;
}

/* -- elements ---------------------------------------------------------------------- */

static uint64_t length_of(Dwarf_Die *range) {
  Dwarf_Attribute attribute;
  Dwarf_Word number;
  if (dwarf_attr_integrate(range, DW_AT_count, &attribute) && !dwarf_formudata(&attribute, &number))
    return number;
  if (dwarf_attr_integrate(range, DW_AT_upper_bound, &attribute) &&
      !dwarf_formudata(&attribute, &number))
    return number + 1;
  return 0;
}

/* The lengths of an array of arrays, the outermost first; how many there are. */
enum { DIMENSIONS = 8 };
static unsigned lengths_of(const struct value *v, uint64_t length[DIMENSIONS]) {
  Dwarf_Die range, type = v->type;
  unsigned count = 0;
  if (!dwarf_child(&type, &range))
    do
      if (dwarf_tag(&range) == DW_TAG_subrange_type && count < DIMENSIONS)
        length[count++] = length_of(&range);
    while (!dwarf_siblingof(&range, &range));
  return count;
}

bool value_elements(const struct value *v, Dwarf_Die *element, uint64_t *count) {
  uint64_t length[DIMENSIONS];
  Dwarf_Die type = v->type;
  if (!value_type(&type, element) || lengths_of(v, length) != v->dimension + 1)
    return false;
  *count = length[v->dimension];
  return true;
}

static struct value moved(const struct hit *h, struct value v, int64_t by) {
  Dwarf_Word size;
  complete(h, &v.type);
  if (dwarf_aggregate_size(&v.type, &size))
    return value_faulty("its elements' size is not known");
  v.address += (uint64_t)by * size;
  return v;
}

static struct value array_element(const struct hit *h, struct value v, int64_t index) {
  uint64_t length[DIMENSIONS];
  Dwarf_Die element;
  unsigned dimensions = lengths_of(&v, length);
  if (!value_type(&v.type, &element))
    return value_faulty("its elements' type is not known");
  if (v.dimension + 1 >= dimensions) {
    v.type = element;
    v.dimension = 0;
    return moved(h, v, index);
  }
  Dwarf_Die array = v.type;
  v.dimension++;
  v.type = element;
  for (unsigned i = v.dimension; i < dimensions; i++) {
    if (length[i] == 0)
      return value_faulty("its elements' size is not known");
    index = (int64_t)((uint64_t)index * length[i]);
  }
  v = moved(h, v, index);
  v.type = array;
  return v;
}

struct value value_element(const struct hit *h, struct value v, int64_t index) {
  if (v.fault)
    return v;
  if (value_is_pointer(&v)) {
    v = value_pointed(h, v);
    return v.fault ? v : moved(h, v, index);
  }
  return value_is_array(&v) ? array_element(h, v, index) : value_faulty("it is no array");
}

struct value value_moved(const struct hit *h, struct value v, int64_t by) {
  return value_address(value_element(h, v, by));
}

bool value_points(const struct value *v) {
  return value_is_pointer(v) || value_is_array(v);
}

/* -- members ----------------------------------------------------------------------- */

/* The member of that name, also of what is nameless inside, or inherited; `*offset` grows. */
static bool find_member(const struct hit *h, Dwarf_Die *type, const char *name, Dwarf_Die *found,
                        uint64_t *offset, int depth) {
  Dwarf_Die child;
  if (depth > 16 || dwarf_child(type, &child))
    return false;
  do {
    int tag = dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance && tag != DW_TAG_variable)
      continue;
    Dwarf_Attribute attribute;
    Dwarf_Word at = 0;
    if (dwarf_attr(&child, DW_AT_data_member_location, &attribute))
      dwarf_formudata(&attribute, &at);
    const char *called = tag != DW_TAG_inheritance ? dwarf_diename(&child) : NULL;
    if (called && !strcmp(called, name)) {
      *found = child;
      *offset += at;
      return true;
    }
    Dwarf_Die inner;
    uint64_t within = *offset + at;
    if (called || !value_type(&child, &inner))
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
  if (value_is_pointer(&v)) {
    v = value_pointed(h, v);
    if (v.fault)
      return v;
  }
  int tag = tag_of(&v);
  if (tag != DW_TAG_structure_type && tag != DW_TAG_union_type && tag != DW_TAG_class_type)
    return value_faulty("it is no struct");
  Dwarf_Die member;
  uint64_t offset = 0;
  if (!find_member(h, &v.type, name, &member, &offset, 0))
    return value_faulty(dwarf_hasattr(&v.type, DW_AT_declaration) ? "its struct is not known"
                                                                  : "it has no such member");
  if (dwarf_hasattr(&member, DW_AT_external)) /* static */
    return value_of_variable(h, &member);
  if (!value_type(&member, &v.type))
    return value_faulty("its type is not known");
  complete(h, &v.type);
  v.address += offset;
  bits_of(&member, &v);
  return is_reference(&v) ? value_pointed(h, v) : v;
}
