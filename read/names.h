/* SPDX-License-Identifier: MIT */
/*
 * Sites by name.
 *
 * Purpose: the same place may have many records in a profile (a static inline
 * function has one per unit, a function passed by address has one of its own);
 * here they become one. Sites are equal when kind, name, file, line and column
 * are. What is known by address only is looked up in its module's symbols.
 * Cost: one hash of each site; symbols are opened only when an address asks.
 * Locking: none.
 */
#ifndef APROF_READ_NAMES_H
#define APROF_READ_NAMES_H

#include "profile.h"

struct name {
  const char *name, *file; /* name is never NULL; file is where unknown */
  const char *function;    /* that the place lies in; NULL where unknown */
  uint32_t line, column;   /* 0: unknown */
  uint8_t kind;            /* enum aprof_site_kind; 0: unknown */
  uint8_t model;           /* enum aprof_model */
  uint16_t flags;
  bool by_address; /* named from its module's symbols: no body of it was seen */
  bool noted;      /* ... but the plugin's notes there say that it has events */
};

enum { NAME_UNKNOWN = 0, NAME_OTHER = 1 };
enum { NAMES_UNOPENED = -1 };

struct name_slot {
  uint32_t index; /* into names.name; 0: free */
  uint32_t column;
};

struct names {
  struct name *name;
  uint32_t count;
  uint32_t *of; /* by site number */
  uint32_t of_count;
  struct name_slot *slot; /* hash table */
  uint32_t slots;
  char **text; /* strings made here */
  size_t texts;
};

/* Makes the strings of `p` printable in place: bytes that are not UTF-8 and
   control characters become '?'. `pid`: where else to look for modules, or 0; or
   NAMES_UNOPENED: what is known by address only gets no better name. */
struct names *names_new(struct profile *p, long pid);
void names_free(struct names *);

/* Index of a site number; NAME_UNKNOWN for one that is not there. */
static inline uint32_t names_of(const struct names *n, uint32_t site) {
  return site < n->of_count ? n->of[site] : NAME_UNKNOWN;
}

/* Makes a NUL-terminated string fit for JSON and terminals, in place. */
void clean_text(char *text);

#endif
