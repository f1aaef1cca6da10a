/* SPDX-License-Identifier: MIT */
/*
 * What a live process is made of, by libdw: modules with their debug information, wherever that
 * lies (beside, by build-id, below `directory`).
 *
 * Cost: debug information is read where it is asked for. Locking: none.
 */
#ifndef APROF_PROBE_DEBUG_H
#define APROF_PROBE_DEBUG_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

/* The unit that has a name which another one asked for. */
struct debug_owner {
  char *name;
  bool is; /* there is one */
  Dwfl_Module *module;
  Dwarf_Die unit;
  Dwarf_Addr bias;
};

struct debug {
  Dwfl *dwfl;
  long pid;
  bool unwinds; /* unwind.c is attached */
  /* What was looked for before. */
  struct debug_symbol *symbol;
  struct debug_type *type;
  struct debug_owner *owner;
  size_t symbols, types, owners;
};

/* False after a message. `directory`: more debug information, as below /usr/lib/debug; or NULL. */
bool debug_open(struct debug *, long pid, const char *directory);
void debug_close(struct debug *);
/* Once more, with what was loaded since. */
bool debug_refresh(struct debug *);

/* Calls `visit` with each unit of each module that has debug information, until it is false.
   `bias`: what is added to addresses in there. */
typedef bool debug_visit(Dwfl_Module *, Dwarf_Die *unit, Dwarf_Addr bias, void *context);
void debug_units(struct debug *, debug_visit *, void *context);
/* Whether any module has debug information. */
bool debug_is_there(struct debug *);

/* The innermost function whose code this is: a body of its own, or inlined (`*inlined`). `pc`
   without bias. */
bool debug_function_at(Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die *function, bool *inlined);
/* The body that the code at `pc` lies in, whatever was inlined there. */
bool debug_body_at(Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die *body);
/* Where a body begins; of one whose rarely taken parts lie elsewhere: where the first part does.
   False: it has no code. */
bool debug_entry(Dwarf_Die *body, Dwarf_Addr *entry);
/* The variable or argument of that name that is visible in the innermost body that has `pc`,
   inlined or not, or in the one that is called `function`, if that is not NULL: in its blocks, the
   innermost first. What is around a body that was inlined is another's. */
bool debug_variable_at(Dwarf_Die *unit, Dwarf_Addr pc, const char *name, const char *function,
                       Dwarf_Die *variable);
/* The first unit for which `has` is true of that name; asked once. */
typedef bool debug_has(const struct debug_owner *, void *context);
const struct debug_owner *debug_owner_of(struct debug *, const char *name, debug_has *,
                                         void *context);
/* The struct, class, union or enumeration that `declared` is a declaration of, by its name with its
   scopes. False: none is known. */
bool debug_type(struct debug *, Dwarf_Die *declared, Dwarf_Die *found);
/* The unit that has the code at that address in the process; NULL: none is known. `*bias` as
   above. */
Dwarf_Die *debug_unit_at(struct debug *, Dwarf_Addr address, Dwfl_Module **, Dwarf_Die *room,
                         Dwarf_Addr *bias);
/* The address of a symbol, by its name; 0: there is none. `code`: a function. */
uint64_t debug_symbol(struct debug *, const char *name, bool code);

#endif
