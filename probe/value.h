/* SPDX-License-Identifier: MIT */
/*
 * Values of C's types: members, elements, what pointers lead to; as numbers and as text.
 *
 * Cost: a read of memory for each pointer followed. Locking: none.
 */
#ifndef APROF_PROBE_VALUE_H
#define APROF_PROBE_VALUE_H

#include "location.h"
#include "number.h"

struct value {
  Dwarf_Die type;  /* without names and qualifiers */
  bool has_type;   /* else `number` is all there is */
  bool is_address; /* of something of that type: `address` */
  bool in_memory;  /* at `address`; else `bytes` from there on, of which bit i of `known` says
                      whether byte i is known */
  uint64_t address;
  uint8_t bytes[LOCATION_BYTES];
  uint64_t known;
  bool points_nowhere; /* to a variable that has no address: so far into it */
  Dwarf_Die target;
  unsigned dimension; /* of an array of arrays: so many indices were taken */
  struct number number;
  unsigned bit_at, bit_size; /* of a bit-field; size 0: it is none */
  bool late;
  const char *fault; /* there is none, in words */
};

struct value value_of_number(const struct number *);
/* Of a variable, an argument, a constant that is visible at the hit: "length", "pool::limit".
   value-name.c */
struct value value_of_name(const struct hit *, const char *name);
struct value value_of_variable(const struct hit *, Dwarf_Die *variable);
struct value value_member(const struct hit *, struct value, const char *name); /* v.name */
struct value value_pointed(const struct hit *, struct value);                  /* *v */
struct value value_element(const struct hit *, struct value, int64_t index);   /* v[i] */
struct value value_address(struct value);                                      /* &v */
struct value value_moved(const struct hit *, struct value, int64_t by);        /* v + by, of ... */
bool value_points(const struct value *); /* ... a pointer or an array */

/* As a number; false, with `fault`, where it is none. */
bool value_number(const struct hit *, struct value *, struct number *);
/* For people: a number, an enumerator, a text in quotes, an address; free() it. NULL with `fault`.
 *is_number: `*number` is it. */
char *value_text(const struct hit *, struct value *, bool *is_number, int64_t *number);

/* -- between value.c, value-name.c and value-text.c ------------------------------- */

struct value value_faulty(const char *fault);
/* The type of that, behind typedefs and qualifiers. */
bool value_type(Dwarf_Die *of, Dwarf_Die *type);
bool value_is_pointer(const struct value *);
bool value_is_array(const struct value *);
/* Of an array of no arrays: the type of an element, and how many there are (0: not known). */
bool value_elements(const struct value *, Dwarf_Die *element, uint64_t *count);
/* Its bytes from `first` on. False with `fault`. */
bool value_bytes(const struct hit *, struct value *, unsigned first, void *to, size_t size);

#endif
