/* SPDX-License-Identifier: MIT */
/*
 * A program or library on disk, for the names of what is at its addresses.
 *
 * In: a path, and the build that it has to be of. Out: name, file and line, of the symbol table and
 * DWARF, wherever that lies. A file of another build names nothing: a wrong name is worse than
 * none. Cost: its tables are read at the first name. Locking: none.
 */
#ifndef APROF_READ_BINARY_H
#define APROF_READ_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binary;

struct symbol {
  char *name, *file; /* malloc'd; file is NULL without line information */
  uint32_t line;
  uint64_t offset; /* of the address within it */
  bool noted; /* the plugin's notes in the module say that it has events: it may, where they do not
               */
};

/* NULL: it cannot be read, or is another build. `length` 0: any build is right. */
struct binary *binary_open(const char *path, const uint8_t *build_id, size_t length);
/* The same by its build-id alone, where packages put debug information; or a file called `name` in
   the directory that binary_look_in names. */
struct binary *binary_of_build(const uint8_t *build_id, size_t length, const char *name);
/* From now on; it stays the caller's. */
void binary_look_in(const char *directory);
void binary_free(struct binary *);

/* Where that offset of the file is loaded to; 0: nowhere. */
uint64_t binary_loaded(const struct binary *, uint64_t offset);
/* What is at that address of the file itself, not loaded anywhere; name NULL: not known. */
void binary_find(struct binary *, uint64_t address, struct symbol *);
/* What was inlined there, by DWARF, the innermost first: how many of them are in `list`. Their
   bodies are those of what binary_find has. */
size_t binary_inlined(struct binary *, uint64_t address, struct symbol *list, size_t most);

#endif
