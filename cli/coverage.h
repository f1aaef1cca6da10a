/* SPDX-License-Identifier: MIT */
/*
 * Coverage: what the plugin saw while it compiled a program.
 *
 * Purpose: reads the section .aprof.coverage of programs, shared and relocatable
 * objects and archives, and puts the records of all of them together. A record is
 * a line of fields between tabs (NUL bytes between units are skipped):
 *     unit     FILE VERSION ABI.ROWS    of its gate (aprof/event-table.h); none: up to ABI 3
 *     function FILE:LINE NAME [SYMBOL]  an async function, instrumented here
 *     likely   FILE:LINE NAME [SYMBOL]  the same, if it is some unit's callback
 *     symbol   FILE:LINE SYMBOL         another name of the body there
 *     await    FILE:LINE CALLEE FUNCTION
 *     outside  FILE:LINE CALLEE FUNCTION   an await outside any async function
 *     span     FILE:LINE NAME           a body, or a call, whose time is told apart
 *     declared FILE:LINE NAME [SYMBOL]  an async function whose body is elsewhere
 *     callback FILE:LINE NAME CREATE SYMBOL NAMESPACE [system]
 *                                       a function whose body is elsewhere, given to
 *                                       a create; of a header of the system
 *     passed   FILE:LINE NAME CALLEE    in a unit without async functions: a function of its that
 *                                       a call hands to one elsewhere
 *     binding  FILE:LINE MATCHES TEXT   a line of a bindings file
 * A unit's lines follow its unit line. What two units say in the same words (of a
 * header's inline function) is one record; unknown kinds are left for newer readers.
 * SYMBOL is the linker's name, where it is not NAME; empty: no other unit can mean it.
 * Cost: one pass, one sort; the sections' text is kept.
 * Locking: none.
 */
#ifndef APROF_CLI_COVERAGE_H
#define APROF_CLI_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum coverage_kind {
  COVERAGE_UNIT,
  COVERAGE_FUNCTION,
  COVERAGE_AWAIT,
  COVERAGE_OUTSIDE,
  COVERAGE_DECLARED,
  COVERAGE_CALLBACK,
  COVERAGE_BINDING,
  COVERAGE_SYMBOL, /* of a body, one or several each */
  COVERAGE_LIKELY, /* becomes a function where it is given as a callback */
  COVERAGE_PASSED,
  COVERAGE_SPAN,
  COVERAGE_KINDS,
};

struct coverage_record {
  const char *place;   /* "file:line"; of a unit: its file */
  const char *name;    /* function, callee, version, or the binding's text */
  const char *in;      /* enclosing function, or the create; of a unit: its gate; or NULL */
  const char *symbol;  /* of what is declared, likely or a callback, else NULL */
  const char *space;   /* of a callback: the namespace of its key */
  bool system;         /* of a callback */
  uint64_t matches;    /* of a binding, over all units */
  uint64_t occurrence; /* 2 of two alike in one unit */
  size_t order;        /* as read */
};

struct coverage {
  struct {
    struct coverage_record *record;
    size_t count, room;
  } of[COVERAGE_KINDS];
  char **text;
  size_t texts;
  bool built;        /* its debug information names the plugin among the options */
  size_t files;      /* named on the command line */
  const char **path; /* of those */
  size_t paths;
  const char **without; /* of those: the ones without the section */
  size_t withouts;
};

/* Adds a file. False after a message where it cannot be read or is no ELF file. */
bool coverage_read(struct coverage *, const char *path);
/* The same without a message. */
bool coverage_try(struct coverage *, const char *path);
/* Adds the text of a section, or of several. */
void coverage_add(struct coverage *, const char *text, size_t length);
/* After the last file: sorts, and makes one of what is said twice. */
void coverage_finish(struct coverage *);
void coverage_release(struct coverage *);

/* coverage-missing.c */

/* Whether the body of what is declared, or given as a callback, was seen. */
enum coverage_verdict {
  COVERAGE_HERE,    /* instrumented */
  COVERAGE_KEYED,   /* a callback whose futures the library runs, by a line that matched */
  COVERAGE_LIBRARY, /* a callback that is another library's */
  COVERAGE_AGAIN,   /* missing, told before */
  COVERAGE_MISSING,
};

/* Of each record of COVERAGE_DECLARED, then of COVERAGE_CALLBACK. The caller frees it.
   Opens the files again where it depends on what they define. */
enum coverage_verdict *coverage_judge(const struct coverage *);

/* coverage-report.c */

struct coverage_options {
  bool json;
  const char *totals; /* a file of totals, or NULL */
};

/* Prints it; returns how much is amiss, SIZE_MAX after a message where the totals
   cannot be read. */
size_t coverage_print(const struct coverage *, const struct coverage_options *, FILE *out);

#endif
