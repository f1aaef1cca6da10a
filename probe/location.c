/* SPDX-License-Identifier: MIT */
/* Expressions of DWARF, over one hit; see location.h. */
#include "location.h"

#include "read/util.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { RED_ZONE = 128 }; /* as the ABI of x86-64 has it */

bool hit_below_stack(const struct hit *h, uint64_t address) {
  return address < h->reg[MACHINE_STACK] && h->reg[MACHINE_STACK] - address <= RED_ZONE;
}

bool hit_read(const struct hit *h, uint64_t address, void *to, size_t size, bool *late) {
  uint64_t at = h->reg[MACHINE_STACK];
  if (address >= at && address - at <= h->stack_size && size <= h->stack_size - (address - at)) {
    memcpy(to, h->stack + (address - at), size);
    return true;
  }
  if (hit_below_stack(h, address) || h->copied_only)
    return false;
  struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
  *late = true;
  return process_vm_readv((pid_t)h->debug->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

enum { DEPTH = 64 };
struct machine {
  const struct hit *hit;
  Dwarf_Attribute *attribute; /* that the expression is of; NULL: of the frame */
  uint64_t stack[DEPTH];
  size_t depth;
  bool late;
  const char *fault;
};

static void push(struct machine *m, uint64_t value) {
  if (m->depth == DEPTH)
    m->fault = "its location is too long to work out";
  else
    m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m) {
  if (m->depth == 0) {
    m->fault = "its location cannot be understood";
    return 0;
  }
  return m->stack[--m->depth];
}

static uint64_t machine_reg(struct machine *m, uint64_t number) {
  if (number >= MACHINE_REGISTERS) {
    m->fault = "it is in a register that samples do not have";
    return 0;
  }
  if (m->hit->lacks >> number & 1)
    m->fault = "it was in a register of the caller that is not kept";
  return m->hit->reg[number];
}

static void run(struct machine *, const Dwarf_Op *, size_t count);

uint64_t location_frame(const struct hit *h) {
  Dwarf_Addr bias;
  Dwarf_Frame *frame = NULL;
  Dwarf_Op *op = NULL;
  size_t count = 0;
  for (int which = 0; which < 2; which++) {
    Dwarf_CFI *cfi =
        which == 0 ? dwfl_module_eh_cfi(h->module, &bias) : dwfl_module_dwarf_cfi(h->module, &bias);
    if (!cfi || dwarf_cfi_addrframe(cfi, h->pc + h->bias - bias, &frame))
      continue;
    struct machine m = {.hit = h};
    if (!dwarf_frame_cfa(frame, &op, &count) && count > 0)
      run(&m, op, count);
    bool known = m.depth == 1 && !m.fault;
    uint64_t value = known ? m.stack[0] : 0;
    free(frame);
    if (known)
      return value;
  }
  return 0;
}

/* What a body's locals are counted from. */
static uint64_t frame_base(struct machine *m) {
  Dwarf_Die body;
  Dwarf_Attribute attribute;
  Dwarf_Op *op;
  size_t count;
  const struct hit *h = m->hit;
  if (!debug_body_at(h->unit, h->pc, &body) ||
      !dwarf_attr_integrate(&body, DW_AT_frame_base, &attribute) ||
      dwarf_getlocation_addr(&attribute, h->pc, &op, &count, 1) != 1) {
    m->fault = "its frame is not known";
    return 0;
  }
  struct machine base = {.hit = h, .attribute = &attribute};
  if (count == 1 && op[0].atom >= DW_OP_reg0 && op[0].atom <= DW_OP_reg31)
    return machine_reg(m, op[0].atom - DW_OP_reg0);
  run(&base, op, count);
  if (base.fault || base.depth != 1)
    m->fault = base.fault ? base.fault : "its frame is not known";
  return base.fault || base.depth != 1 ? 0 : base.stack[0];
}

static uint64_t fetched(struct machine *m, uint64_t address, size_t size) {
  uint64_t value = 0;
  if (size > sizeof value || !hit_read(m->hit, address, &value, size, &m->late))
    m->fault = "its address lies in memory that cannot be read";
  return value;
}

static void binary(struct machine *m, uint8_t atom) {
  uint64_t b = pop(m), a = pop(m);
  switch (atom) {
  case DW_OP_plus:
    push(m, a + b);
    break;
  case DW_OP_minus:
    push(m, a - b);
    break;
  case DW_OP_mul:
    push(m, a * b);
    break;
  case DW_OP_and:
    push(m, a & b);
    break;
  case DW_OP_or:
    push(m, a | b);
    break;
  case DW_OP_xor:
    push(m, a ^ b);
    break;
  case DW_OP_shl:
    push(m, b < 64 ? a << b : 0);
    break;
  case DW_OP_shr:
    push(m, b < 64 ? a >> b : 0);
    break;
  case DW_OP_shra:
    push(m, (uint64_t)((int64_t)a >> (b < 63 ? b : 63)));
    break;
  case DW_OP_div:
    if (b == 0)
      m->fault = "its location divides by zero";
    else
      push(m, b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b));
    break;
  case DW_OP_mod:
    if (b == 0)
      m->fault = "its location divides by zero";
    else
      push(m, a % b);
    break;
  case DW_OP_eq:
    push(m, a == b);
    break;
  case DW_OP_ne:
    push(m, a != b);
    break;
  case DW_OP_lt:
    push(m, (int64_t)a < (int64_t)b);
    break;
  case DW_OP_le:
    push(m, (int64_t)a <= (int64_t)b);
    break;
  case DW_OP_gt:
    push(m, (int64_t)a > (int64_t)b);
    break;
  default:
    push(m, (int64_t)a >= (int64_t)b);
    break;
  }
}

/* Of split debug information: what stands in the program's own table. */
static uint64_t indexed(struct machine *m, const Dwarf_Op *op, bool is_address) {
  Dwarf_Attribute inner;
  Dwarf_Addr address = 0;
  Dwarf_Word value = 0;
  bool known = m->attribute && !dwarf_getlocation_attr(m->attribute, op, &inner) &&
               !(is_address ? dwarf_formaddr(&inner, &address) : dwarf_formudata(&inner, &value));
  if (!known)
    m->fault = "its location cannot be understood";
  return is_address ? address : value;
}

static void step(struct machine *m, const Dwarf_Op *op) {
  uint8_t atom = op->atom;
  uint64_t a, b;
  if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
    push(m, machine_reg(m, atom - DW_OP_breg0) + op->number);
  } else if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
    push(m, atom - DW_OP_lit0);
  } else {
    switch (atom) {
    case DW_OP_nop:
      break;
    case DW_OP_addr:
      push(m, op->number + m->hit->bias);
      break;
    case DW_OP_addrx:
    case DW_OP_GNU_addr_index:
      push(m, indexed(m, op, true) + m->hit->bias);
      break;
    case DW_OP_constx:
    case DW_OP_GNU_const_index:
      push(m, indexed(m, op, false));
      break;
    case DW_OP_const1u:
    case DW_OP_const2u:
    case DW_OP_const4u:
    case DW_OP_const8u:
    case DW_OP_constu:
    case DW_OP_const1s:
    case DW_OP_const2s:
    case DW_OP_const4s:
    case DW_OP_const8s:
    case DW_OP_consts:
      push(m, op->number);
      break;
    case DW_OP_bregx:
      push(m, machine_reg(m, op->number) + op->number2);
      break;
    case DW_OP_fbreg:
      push(m, frame_base(m) + op->number);
      break;
    case DW_OP_call_frame_cfa:
      if ((a = location_frame(m->hit)) == 0)
        m->fault = "its frame is not known";
      push(m, a);
      break;
    case DW_OP_dup:
      a = pop(m);
      push(m, a);
      push(m, a);
      break;
    case DW_OP_drop:
      pop(m);
      break;
    case DW_OP_swap:
      b = pop(m);
      a = pop(m);
      push(m, b);
      push(m, a);
      break;
    case DW_OP_over:
      b = pop(m);
      a = pop(m);
      push(m, a);
      push(m, b);
      push(m, a);
      break;
    case DW_OP_deref:
      push(m, fetched(m, pop(m), 8));
      break;
    case DW_OP_deref_size:
      push(m, fetched(m, pop(m), op->number));
      break;
    case DW_OP_plus_uconst:
      push(m, pop(m) + op->number);
      break;
    case DW_OP_neg:
      push(m, 0 - pop(m));
      break;
    case DW_OP_not:
      push(m, ~pop(m));
      break;
    case DW_OP_abs:
      a = pop(m);
      push(m, (int64_t)a < 0 ? 0 - a : a);
      break;
    case DW_OP_plus:
    case DW_OP_minus:
    case DW_OP_mul:
    case DW_OP_and:
    case DW_OP_or:
    case DW_OP_xor:
    case DW_OP_shl:
    case DW_OP_shr:
    case DW_OP_shra:
    case DW_OP_div:
    case DW_OP_mod:
    case DW_OP_eq:
    case DW_OP_ne:
    case DW_OP_lt:
    case DW_OP_le:
    case DW_OP_gt:
    case DW_OP_ge:
      binary(m, atom);
      break;
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
      a = 0;
      m->fault = m->attribute ? m->hit->entry(m->hit, m->attribute, op, &a)
                              : "its location cannot be understood";
      push(m, a);
      break;
    case DW_OP_GNU_parameter_ref:
      m->fault = "optimised out: an argument that this copy of the function does not get";
      break;
    case DW_OP_form_tls_address:
    case DW_OP_GNU_push_tls_address:
      m->fault = "a variable of each thread; these are not known here";
      break;
    default:
      m->fault = "its location cannot be understood";
    }
  }
}

static void run(struct machine *m, const Dwarf_Op *op, size_t count) {
  for (size_t i = 0; i < count && !m->fault; i++) {
    if (op[i].atom == DW_OP_stack_value)
      return;
    step(m, &op[i]);
  }
}

static struct location nowhere(const char *fault) {
  return (struct location){.fault = fault};
}

static struct location located(const struct hit *, Dwarf_Attribute *, const Dwarf_Op *, size_t);

static struct location in_bytes(const void *bytes, size_t size) {
  struct location l = {.is = IN_BYTES};
  size = size < sizeof l.bytes ? size : sizeof l.bytes;
  memcpy(l.bytes, bytes, size);
  l.known = size < 64 ? ((uint64_t)1 << size) - 1 : ~(uint64_t)0;
  return l;
}

/* The bytes from `at` on of what lies there in pieces. */
static void take_piece(const struct hit *h, Dwarf_Attribute *attribute, const Dwarf_Op *op,
                       size_t count, struct location *whole, size_t at, size_t size) {
  struct location l = located(h, attribute, op, count);
  if (l.fault || l.is == IN_NO_MEMORY) /* the others may be known */
    return;
  if (l.is == IN_MEMORY && hit_read(h, l.address, l.bytes, size, &l.late))
    l.known = ~(uint64_t)0;
  memcpy(whole->bytes + at, l.bytes, size);
  whole->known |= (size < 64 ? l.known & (((uint64_t)1 << size) - 1) : l.known) << at;
  whole->late |= l.late;
}

static struct location in_pieces(const struct hit *h, Dwarf_Attribute *attribute,
                                 const Dwarf_Op *op, size_t count) {
  struct location whole = {.is = IN_BYTES};
  size_t at = 0, from = 0;
  for (size_t i = 0; i < count; i++) {
    if (op[i].atom == DW_OP_bit_piece)
      return nowhere("it lies in several pieces");
    if (op[i].atom != DW_OP_piece)
      continue;
    if (op[i].number > sizeof whole.bytes - at)
      return nowhere("it lies in more pieces than are looked at");
    take_piece(h, attribute, op + from, i - from, &whole, at, op[i].number);
    at += op[i].number;
    from = i + 1;
  }
  return whole;
}

static bool is_pieces(const Dwarf_Op *op, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (op[i].atom == DW_OP_piece || op[i].atom == DW_OP_bit_piece)
      return true;
  return false;
}

static struct location in_no_memory(Dwarf_Attribute *attribute, const Dwarf_Op *op) {
  struct location l = {.is = IN_NO_MEMORY, .address = op->number2};
  if (dwarf_getlocation_die(attribute, op, &l.target))
    return nowhere("optimised out: what it points to is in no memory");
  return l;
}

static struct location in_register(const struct hit *h, uint64_t number) {
  struct machine m = {.hit = h};
  uint64_t value = machine_reg(&m, number);
  struct location l = in_bytes(&value, sizeof value);
  l.fault = m.fault;
  return l;
}

static struct location located(const struct hit *h, Dwarf_Attribute *attribute, const Dwarf_Op *op,
                               size_t count) {
  struct machine m = {.hit = h, .attribute = attribute};
  if (count == 0)
    return nowhere("optimised out here");
  if (is_pieces(op, count))
    return in_pieces(h, attribute, op, count);
  if (op[0].atom == DW_OP_implicit_value) {
    Dwarf_Block block;
    return dwarf_getlocation_implicit_value(attribute, op, &block)
               ? nowhere("its location cannot be understood")
               : in_bytes(block.data, block.length);
  }
  if (op[0].atom == DW_OP_implicit_pointer || op[0].atom == DW_OP_GNU_implicit_pointer)
    return in_no_memory(attribute, op);
  if (op[0].atom >= DW_OP_reg0 && op[0].atom <= DW_OP_reg31)
    return in_register(h, op[0].atom - (uint64_t)DW_OP_reg0);
  if (op[0].atom == DW_OP_regx)
    return in_register(h, op[0].number);
  run(&m, op, count);
  uint64_t result = m.fault ? 0 : pop(&m);
  struct location l = {.is = IN_MEMORY, .address = result};
  if (op[count - 1].atom == DW_OP_stack_value)
    l = in_bytes(&result, sizeof result);
  l.late = m.late;
  l.fault = m.fault;
  return l;
}

bool location_run(const struct hit *h, Dwarf_Attribute *attribute, uint64_t *value) {
  Dwarf_Op *op;
  size_t count;
  if (dwarf_getlocation(attribute, &op, &count) || count == 0)
    return false;
  struct location l = located(h, attribute, op, count);
  *value = l.address;
  if (l.is == IN_BYTES)
    memcpy(value, l.bytes, sizeof *value);
  return !l.fault && (l.is == IN_MEMORY || (l.is == IN_BYTES && (uint8_t)l.known == 0xff));
}

/* Of DW_AT_const_value. */
static struct location constant(Dwarf_Attribute *attribute) {
  Dwarf_Sword value;
  Dwarf_Block block;
  const char *text = dwarf_formstring(attribute);
  if (text)
    return in_bytes(text, strlen(text) + 1);
  if (!dwarf_formblock(attribute, &block))
    return in_bytes(block.data, block.length);
  return dwarf_formsdata(attribute, &value) ? nowhere("optimised out")
                                            : in_bytes(&value, sizeof value);
}

/* Where what `die` declares, a variable in a namespace or class, is defined. */
static bool find_definition(const struct hit *h, Dwarf_Die *die, Dwarf_Die *found) {
  Dwarf_Attribute attribute;
  Dwarf_Die of;
  if (!h->unit || dwarf_child(h->unit, found))
    return false;
  do
    if (dwarf_tag(found) == DW_TAG_variable &&
        dwarf_formref_die(dwarf_attr(found, DW_AT_specification, &attribute), &of) &&
        of.addr == die->addr)
      return true;
  while (!dwarf_siblingof(found, found));
  return false;
}

struct location location_of(const struct hit *h, Dwarf_Die *die) {
  Dwarf_Attribute attribute;
  Dwarf_Op *op;
  size_t count;
  Dwarf_Die definition;
  if (dwarf_hasattr(die, DW_AT_declaration) && find_definition(h, die, &definition))
    die = &definition;
  if (dwarf_attr_integrate(die, DW_AT_location, &attribute)) {
    int found = dwarf_getlocation_addr(&attribute, h->pc, &op, &count, 1);
    return found == 1 ? located(h, &attribute, op, count) : nowhere("optimised out here");
  }
  if (dwarf_attr_integrate(die, DW_AT_const_value, &attribute))
    return constant(&attribute);
  uint64_t address;
  const char *linked = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
  const char *name = linked ? linked : dwarf_diename(die);
  if (name && dwarf_hasattr_integrate(die, DW_AT_external) &&
      (address = debug_symbol(h->debug, name, false)) != 0)
    return (struct location){.is = IN_MEMORY, .address = address};
  return nowhere("optimised out");
}
