/* SPDX-License-Identifier: MIT */
/* What values are, as numbers and for people; see value.h. */
#include "read/util.h"
#include "value.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 63 };

static unsigned encoding_of(const struct value *v) {
  Dwarf_Die type = v->type;
  Dwarf_Attribute attribute;
  Dwarf_Word encoding = 0;
  if (dwarf_tag(&type) == DW_TAG_enumeration_type) {
    Dwarf_Die under;
    if (!value_type(&type, &under))
      return DW_ATE_unsigned;
    type = under;
  }
  if (dwarf_attr(&type, DW_AT_encoding, &attribute))
    dwarf_formudata(&attribute, &encoding);
  return (unsigned)encoding;
}

static bool is_base(const struct value *v) {
  int tag = dwarf_tag((Dwarf_Die *)&v->type);
  return tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type;
}

static unsigned size_of(const struct value *v) {
  Dwarf_Word size = 8;
  dwarf_aggregate_size((Dwarf_Die *)&v->type, &size);
  return (unsigned)size;
}

/* -- numbers ----------------------------------------------------------------------- */

static bool take_fraction(const struct hit *h, struct value *v, struct number *number) {
  float narrow;
  double wide;
  long double widest = 0;
  const char *name = dwarf_diename(&v->type);
  switch (size_of(v)) {
  case sizeof narrow:
    if (value_bytes(h, v, 0, &narrow, sizeof narrow))
      *number = number_fraction((long double)narrow, 32);
    break;
  case sizeof wide:
    if (value_bytes(h, v, 0, &wide, sizeof wide))
      *number = number_fraction((long double)wide, 64);
    break;
  default:
    if (size_of(v) != sizeof widest || !name || strcmp(name, "long double") != 0)
      v->fault = "a number of a kind that is not known";
    else if (value_bytes(h, v, 0, &widest, sizeof widest))
      *number = number_fraction(widest, 80);
  }
  return v->fault == NULL;
}

static uint64_t lowest(uint64_t bits, unsigned wide) {
  return wide < 64 ? bits & (((uint64_t)1 << wide) - 1) : bits;
}

static bool take_whole(const struct hit *h, struct value *v, struct number *number) {
  unsigned size = size_of(v), wide = v->bit_size ? v->bit_size : 8 * size;
  unsigned first = v->bit_size ? v->bit_at / 8 : 0, encoding = encoding_of(v);
  unsigned bytes = v->bit_size ? (v->bit_at % 8 + v->bit_size + 7) / 8 : size;
  bool is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
  uint64_t bits = 0;
  if (bytes > sizeof bits || encoding == DW_ATE_complex_float) {
    v->fault = "a number of a kind that is not known";
    return false;
  }
  if (!value_bytes(h, v, first, &bits, bytes))
    return false;
  if (v->bit_size)
    bits >>= v->bit_at % 8;
  bits = lowest(bits, wide);
  if (is_signed && wide < 64 && bits >> (wide - 1) & 1)
    bits |= ~(uint64_t)0 << wide;
  /* What an int has room for is one. */
  *number = number_whole(bits, !is_signed && wide >= 32, wide > 32 ? 64 : 32);
  return true;
}

bool value_number(const struct hit *h, struct value *v, struct number *number) {
  uint64_t address = v->address;
  if (v->fault)
    return false;
  if (!v->has_type) {
    *number = v->number;
    return true;
  }
  if (value_is_pointer(v) || (value_is_array(v) && v->in_memory)) {
    bool is_there = v->is_address || value_is_array(v);
    if (!is_there && !value_bytes(h, v, 0, &address, sizeof address))
      return false;
    *number = number_whole(address, true, 64);
    return true;
  }
  if (!is_base(v)) {
    v->fault = "it is no number";
    return false;
  }
  return encoding_of(v) == DW_ATE_float ? take_fraction(h, v, number) : take_whole(h, v, number);
}

/* -- texts ------------------------------------------------------------------------- */

/* As C writes it. */
static void put_char(FILE *to, unsigned char c) {
  static const char plain[] = "\n\t\r", letter[] = "ntr";
  const char *at = c ? strchr(plain, c) : NULL;
  if (at)
    fprintf(to, "\\%c", letter[at - plain]);
  else if (c == '"' || c == '\\')
    fprintf(to, "\\%c", c);
  else if (isprint(c))
    fputc(c, to);
  else
    fprintf(to, "\\x%02x", c);
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
    put_char(to, (unsigned char)text[i]);
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

/* So many digits that no two numbers look the same. */
static char *fraction(const struct number *n) {
  char text[64];
  if (n->wide == 32)
    strfromd(text, sizeof text, "%.9g", (double)n->fraction);
  else if (n->wide == 64)
    strfromd(text, sizeof text, "%.17g", (double)n->fraction);
  else
    strfroml(text, sizeof text, "%.21g", n->fraction);
  return print_string("%s", text);
}

static char *array_text(const struct hit *h, struct value *v) {
  Dwarf_Die element;
  uint64_t length;
  if (v->in_memory && value_elements(v, &element, &length) && is_char(&element))
    return quoted(h, v, v->address, length ? length : TEXT_MOST);
  v->fault = "an array: ask for one of its elements";
  return NULL;
}

static char *pointer_text(const struct hit *h, struct value *v, uint64_t address) {
  Dwarf_Die to = v->type;
  bool is_typed = v->is_address || value_type(&v->type, &to);
  if (address != 0 && is_typed && is_char(&to))
    return quoted(h, v, address, TEXT_MOST);
  return address == 0 ? print_string("NULL") : print_string("0x%llx", (unsigned long long)address);
}

/* What has a name of its own; NULL. */
static char *named(const struct value *v, int64_t number) {
  if (!v->has_type)
    return NULL;
  if (dwarf_tag((Dwarf_Die *)&v->type) == DW_TAG_enumeration_type)
    return enumerator((Dwarf_Die *)&v->type, number);
  bool is_truth = encoding_of(v) == DW_ATE_boolean && (number == 0 || number == 1);
  return is_truth ? print_string("%s", number ? "true" : "false") : NULL;
}

char *value_text(const struct hit *h, struct value *v, bool *is_number, int64_t *number) {
  struct number n;
  *is_number = false;
  if (v->fault)
    return NULL;
  if (value_is_array(v))
    return array_text(h, v);
  if (v->has_type && !value_is_pointer(v) && !is_base(v)) {
    v->fault = "a struct: ask for one of its members";
    return NULL;
  }
  if (!value_number(h, v, &n))
    return NULL;
  if (value_is_pointer(v))
    return pointer_text(h, v, (uint64_t)n.whole);
  if (n.is == NUMBER_FRACTION)
    return fraction(&n);
  char *name = named(v, n.whole);
  if (name)
    return name;
  if (n.whole < 0 && n.is == NUMBER_UNSIGNED)
    return print_string("%llu", (unsigned long long)n.whole); /* more than sums have room for */
  *number = n.whole;
  *is_number = true;
  return print_string("%lld", (long long)n.whole);
}
