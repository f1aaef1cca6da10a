/*
 * Coverage: what the plugin saw while it compiled a program.
 *
 * Purpose: reads the section .aprof.coverage of programs, shared and relocatable
 * objects and archives, and puts the records of all of them together. A record is
 * a line of fields between tabs (NUL bytes between units are skipped):
 *     unit     FILE VERSION
 *     function FILE:LINE NAME           an async function, instrumented here
 *     await    FILE:LINE CALLEE FUNCTION
 *     outside  FILE:LINE CALLEE FUNCTION   an await outside any async function
 *     declared FILE:LINE NAME           an async function whose body is elsewhere
 *     binding  FILE:LINE MATCHES TEXT   a line of a bindings file
 * A unit's lines follow its unit line. What two units say in the same words (of a
 * header's inline function) is one record; unknown kinds are left for newer readers.
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
  COVERAGE_BINDING,
  COVERAGE_KINDS,
};

struct coverage_record {
  const char *place;   /* "file:line"; of a unit: its file */
  const char *name;    /* function, callee, version, or the binding's text */
  const char *in;      /* enclosing function, or NULL */
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
  size_t files;         /* named on the command line */
  const char **without; /* of those: the ones without the section */
  size_t withouts;
};

/* Adds a file. False after a message where it cannot be read or is no ELF file. */
bool coverage_read(struct coverage *, const char *path);
/* Adds the text of a section, or of several. */
void coverage_add(struct coverage *, const char *text, size_t length);
/* After the last file: sorts, and makes one of what is said twice. */
void coverage_finish(struct coverage *);
void coverage_release(struct coverage *);

/* coverage-report.c */

struct coverage_options {
  bool json;
  const char *totals; /* a file of totals, or NULL */
};

/* Prints it; returns how much is amiss, SIZE_MAX after a message where the totals
   cannot be read. */
size_t coverage_print(const struct coverage *, const struct coverage_options *, FILE *out);

#endif
