/* SPDX-License-Identifier: MIT */
/*
 * Names of functions that are known by address only.
 *
 * Purpose: run-time address to name, file and line, from the symbol tables and
 * DWARF of the modules that the profile lists. A module that was replaced since
 * (its build-id differs) names nothing: a wrong name is worse than an address.
 * Cost: opens each module once, at the first address in it.
 * Locking: none.
 */
#ifndef APROF_READ_SYMBOLS_H
#define APROF_READ_SYMBOLS_H

#include "binary.h"
#include "profile.h"

struct symbols;

/* `pid`: a live process whose root directory is tried too; 0: none; negative: no module
   is opened. */
struct symbols *symbols_new(const struct profile *p, long pid);
void symbols_free(struct symbols *);

/* The function at `address` of module `module`; always gives a name, at worst
   MODULE+0xOFFSET. */
void symbols_find(struct symbols *, uint64_t address, uint32_t module, struct symbol *result);

#endif
