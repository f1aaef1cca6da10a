/* SPDX-License-Identifier: MIT */
/*
 * Measures: the numbers of a view by the names that gates and comparisons know.
 *
 * Purpose: one table from which expressions, differences and their outputs take what there
 * is to ask of a process, a function or an await. A new measure is a row.
 * Cost: none, but for findings, which are looked for. Locking: none.
 */
#ifndef APROF_ASK_MEASURE_H
#define APROF_ASK_MEASURE_H

#include "ask.h"
#include "value.h"

enum measure_of {
  MEASURE_PROCESS,
  MEASURE_FUNCTION,
  MEASURE_AWAIT,
  MEASURE_REQUEST, /* of a kind */
  MEASURE_TIER,    /* of a kind's */
  MEASURE_FINDINGS
};

/* Whose number it is. The view stays. */
struct measured {
  const struct view *v;
  const struct view_function *function; /* or NULL: of the process */
  const struct view_await *await;       /* of that function; or NULL */
  const struct view_kind *kind;         /* or NULL */
  const struct view_tier *tier;         /* of that kind; or NULL */
};

struct measure {
  const char *name;
  enum measure_of of;
  enum measure_unit unit;
  double (*get)(const struct measured *, size_t at);
  size_t at;
  size_t field; /* its row in fields.c, which says what it may lack: not of the process */
  bool adds_up; /* what is not there has none of it, so 0 */
  const char *says;
};

extern const struct measure measures[];
extern const size_t measure_count;

/* NULL: there is none of that name. */
const struct measure *measure_find(const char *name);
/* In nanoseconds, things or per cent; NAN where it is not known. */
double measure_get(const struct measure *, const struct measured *);
/* Whether that lacks something, as detail was shed. */
bool measure_lacks(const struct measure *, const struct measured *);
/* How many findings there are of a kind, or of all (NULL). */
double measure_findings(const struct view *, const struct ask_limits *, const char *kind);

/* A value of that unit in words: "65.2 ms", "12.4k", "43.1 %"; "-" for NAN. A number of turns
   (format.h). */
const char *shown_measure(enum measure_unit, double value);
/* The same with a sign. */
const char *shown_change(enum measure_unit, double change);

#endif
