/* SPDX-License-Identifier: MIT */
/*
 * One hit, and where DWARF says that something is in it.
 *
 * Registers and the piece of stack are of the moment of the hit; all other memory is read once it
 * is handled, so a little later: `late` says so. Locking: none.
 */
#ifndef APROF_PROBE_LOCATION_H
#define APROF_PROBE_LOCATION_H

#include "debug.h"
#include "machine.h"

#include <stddef.h>

struct hit;
/* See entry.h. */
typedef const char *location_entry(const struct hit *, Dwarf_Attribute *, const Dwarf_Op *op,
                                   uint64_t *value);

struct hit {
  struct debug *debug;
  Dwfl_Module *module;
  Dwarf_Die *unit; /* NULL: none is known; else `room`, or another one */
  Dwarf_Die room;
  Dwarf_Addr bias, pc; /* pc: without bias */
  uint64_t reg[MACHINE_REGISTERS];
  const uint8_t *stack; /* what was copied of it */
  size_t stack_size;
  uint64_t time; /* ns of CLOCK_MONOTONIC */
  int tid;
  const char *function; /* whose entry it is; NULL: a line */
  bool copied_only;     /* memory beyond the copy is not read */
  uint64_t lacks;       /* registers that are not known */
  location_entry *entry;
  unsigned callers; /* it is a frame so far above the hit; `pc` lies in the call */
};

/* False where it cannot be read. `*late` is set where it was not of the hit's own copy. */
bool hit_read(const struct hit *, uint64_t address, void *to, size_t size, bool *late);
/* Below the stack pointer, where a function that calls no other may keep its locals: no sample has
   that, and what is there later is another function's. hit_read refuses it. */
bool hit_below_stack(const struct hit *, uint64_t address);

enum { LOCATION_BYTES = 64 };
struct location {
  enum { IN_MEMORY, IN_BYTES, IN_NO_MEMORY } is;
  uint64_t address; /* of memory; IN_NO_MEMORY: how far into it */
  /* Of registers, constants, pieces here and there: what it is; bit i: byte i is known. */
  uint8_t bytes[LOCATION_BYTES];
  uint64_t known;
  Dwarf_Die target;  /* IN_NO_MEMORY: it would point to that variable, if that had an address */
  bool late;         /* an address on the way, or a piece, was read from memory */
  const char *fault; /* it is nowhere, in words; or NULL */
};

/* Of the variable or parameter `die`. */
struct location location_of(const struct hit *, Dwarf_Die *die);
/* The value of an expression that `attribute` has. False: it is not known. */
bool location_run(const struct hit *, Dwarf_Attribute *, uint64_t *value);
/* The canonical frame address of what runs; 0 where it is not known. */
uint64_t location_frame(const struct hit *);

#endif
