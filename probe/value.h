/* SPDX-License-Identifier: MIT */
/*
 * Values of C's types: members, elements, what pointers lead to; as numbers and as text.
 *
 * Cost: a read of memory for each pointer followed. Locking: none.
 */
#ifndef APROF_PROBE_VALUE_H
#define APROF_PROBE_VALUE_H

#include "location.h"

struct value {
  Dwarf_Die type; /* without names and qualifiers; a number of no type: has_type false */
  bool has_type;
  bool in_memory; /* else `bits` */
  uint64_t address;
  uint64_t bits;
  unsigned bit_at, bit_size; /* of a bit-field; size 0: it is none */
  bool late;
  const char *fault; /* there is none, in words */
};

struct value value_of_number(int64_t);
/* Of a variable, an argument, a constant that is visible at the hit: "length", "pool::limit".
   value-name.c */
struct value value_of_name(const struct hit *, const char *name);
struct value value_of_variable(const struct hit *, Dwarf_Die *variable);
struct value value_member(const struct hit *, struct value, const char *name); /* v.name */
struct value value_pointed(const struct hit *, struct value);                  /* *v */
struct value value_element(const struct hit *, struct value, int64_t index);   /* v[i] */
struct value value_address(struct value);                                      /* &v */

/* As a number; false, with `fault`, where it is none. */
bool value_number(const struct hit *, struct value *, int64_t *);
/* For people: a number, an enumerator, a text in quotes, an address; free() it. NULL with `fault`.
 *is_number: `*number` is it. */
char *value_text(const struct hit *, struct value *, bool *is_number, int64_t *number);

#endif
