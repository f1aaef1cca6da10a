/* SPDX-License-Identifier: MIT */
/*
 * Name and line of one address, found by going through the tables of a program as they lie in its
 * file: libdwfl makes tables of its own first, of all symbols, units and lines, which takes
 * milliseconds at the end of a program that has three functions to be named.
 *
 * In: what libdwfl knows of the module. Out: the same answer as its own, or none where what lies
 * there is of another kind than what compilers usually write. Cost: all symbols are gone through
 * for each address, so who asks often asks libdwfl.
 */
#ifndef APROF_READ_NEARBY_H
#define APROF_READ_NEARBY_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

/* The function at that address of the file. NULL: not known here. */
const char *nearby_name(Elf *, uint64_t address, GElf_Sym *symbol);

/* Its line. False: not known here. `file`: free() it; `directory`: of the compilation, or NULL. */
bool nearby_line(Dwarf *, uint64_t address, char **file, const char **directory, uint32_t *line);

#endif
