/* SPDX-License-Identifier: MIT */
/*
 * What an argument was when its function began, of optimised code that has put something else in
 * its register since: the compiler says at each call what it passes there, in terms of what the
 * caller keeps over it; see entry.h.
 */
#include "entry.h"

#include "unwind.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

static const char not_kept[] =
    "optimised out here: it was an argument, and its caller does not keep what it passed";

/* -- the call --------------------------------------------------------------------------- */

static bool is_call(Dwarf_Die *die, Dwarf_Addr back) {
  Dwarf_Attribute attribute;
  Dwarf_Addr at = 0;
  int tag = dwarf_tag(die);
  if (tag == DW_TAG_call_site)
    return dwarf_attr(die, DW_AT_call_return_pc, &attribute) && !dwarf_formaddr(&attribute, &at) &&
           at == back;
  return tag == DW_TAG_GNU_call_site && !dwarf_lowpc(die, &at) && at == back;
}

/* The call that returns to `back`, below `in`. */
static bool find_call(Dwarf_Die *in, Dwarf_Addr back, Dwarf_Die *call, int depth) {
  Dwarf_Die child;
  if (depth > 64 || dwarf_child(in, &child))
    return false;
  do {
    if (is_call(&child, back)) {
      *call = child;
      return true;
    }
    int tag = dwarf_tag(&child);
    if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
        find_call(&child, back, call, depth + 1))
      return true;
  } while (!dwarf_siblingof(&child, &child));
  return false;
}

static const char *linked_name(Dwarf_Die *function) {
  Dwarf_Attribute attribute;
  const char *name =
      dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
  return name ? name : dwarf_diename(function);
}

static bool points_to(const struct hit *caller, Dwarf_Die *call, unsigned which, uint64_t *value) {
  Dwarf_Attribute attribute;
  return dwarf_attr(call, which, &attribute) && location_run(caller, &attribute, value);
}

/* Whether it calls that body: who comes by way of another function, which has jumped here, passed
   something else. */
static bool calls(const struct hit *caller, Dwarf_Die *call, const struct hit *h) {
  Dwarf_Die body, origin;
  Dwarf_Attribute attribute;
  Dwarf_Addr entry;
  uint64_t target;
  if (!debug_body_at(h->unit, h->pc, &body))
    return false;
  if (dwarf_formref_die(dwarf_attr(call, DW_AT_call_origin, &attribute), &origin) ||
      dwarf_formref_die(dwarf_attr(call, DW_AT_abstract_origin, &attribute), &origin)) {
    const char *called = linked_name(&origin), *is = linked_name(&body);
    return called && is && !strcmp(called, is);
  }
  return (points_to(caller, call, DW_AT_call_target, &target) ||
          points_to(caller, call, DW_AT_GNU_call_site_target, &target)) &&
         debug_entry(&body, &entry) && entry + h->bias == target;
}

/* -- what it passes ----------------------------------------------------------------------- */

/* The register that an operation is about; -1: none. */
static int register_of(const Dwarf_Op *op, size_t count) {
  if (count != 1)
    return -1;
  if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
    return op->atom - DW_OP_reg0;
  return op->atom == DW_OP_regx ? (int)op->number : -1;
}

static int register_at(Dwarf_Attribute *attribute) {
  Dwarf_Op *op;
  size_t count;
  return dwarf_getlocation(attribute, &op, &count) ? -1 : register_of(op, count);
}

static bool passes(const struct hit *caller, Dwarf_Die *call, int number, uint64_t *value) {
  Dwarf_Die child;
  Dwarf_Attribute attribute;
  if (dwarf_child(call, &child))
    return false;
  do {
    int tag = dwarf_tag(&child);
    if ((tag == DW_TAG_call_site_parameter || tag == DW_TAG_GNU_call_site_parameter) &&
        dwarf_attr(&child, DW_AT_location, &attribute) && register_at(&attribute) == number)
      return points_to(caller, &child, DW_AT_call_value, value) ||
             points_to(caller, &child, DW_AT_GNU_call_site_value, value);
  } while (!dwarf_siblingof(&child, &child));
  return false;
}

const char *entry_value(const struct hit *h, Dwarf_Attribute *attribute, const Dwarf_Op *op,
                        uint64_t *value) {
  Dwarf_Attribute inner;
  Dwarf_Die body, call;
  struct hit caller;
  if (h->callers >= 8 || dwarf_getlocation_attr(attribute, op, &inner) || !h->unit)
    return not_kept;
  int number = register_at(&inner);
  if (number < 0 || !unwind_caller(h, &caller) || !caller.unit ||
      !debug_body_at(caller.unit, caller.pc, &body) || !find_call(&body, caller.pc + 1, &call, 0) ||
      !calls(&caller, &call, h) || !passes(&caller, &call, number, value))
    return not_kept;
  return NULL;
}
