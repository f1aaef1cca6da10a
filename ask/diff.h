/* SPDX-License-Identifier: MIT */
/*
 * Runs compared: what belongs together in them, and what has changed.
 *
 * In: the views of some runs, A, and of others, B: of any processes and builds. Out: rows of
 * functions and awaits that are the same in all of them, their measures on each side, and
 * the changes worth a line. A side may have no run: then the other's numbers are all there is.
 * Functions are the same by name and file, wherever it lies and whatever their line is now.
 * Cost: sorts of functions and awaits, per run. Locking: none.
 */
#ifndef APROF_ASK_DIFF_H
#define APROF_ASK_DIFF_H

#include "measure.h"

enum { DIFF_A, DIFF_B, DIFF_SIDES };

/* A measure over the runs of a side. */
struct spread {
  double median, least, most; /* NAN: not known in any run */
  size_t runs;                /* that know it */
  bool lacks;                 /* in one of them it lacks something (measure_lacks) */
};

struct diff_row {
  size_t function;      /* its row; of an await that of its function */
  enum measure_of sort; /* what it is a row of */
  const char *name;     /* of the function, or kind of requests; NULL: of the whole process */
  const char *callee;   /* of an await, or tier; or NULL */
  const char *kind;     /* the same */
  bool background;      /* the same */
  const char *file[DIFF_SIDES];
  uint64_t line[DIFF_SIDES]; /* of the last run there; 0 and NULL: not there */
  struct measured *of;       /* of each run, those of A first; without a function: not there */
};

struct diff {
  struct view *const *view;      /* those of A first */
  size_t runs, side[DIFF_SIDES]; /* how many; on each side */
  struct diff_row *row; /* the process, functions, awaits, kinds of requests, their tiers */
  size_t rows, room;
  size_t functions;
  bool has_spread;       /* some side has several runs */
  int other_build;       /* 1: by build-id; 0: no; -1: not known */
  struct sentence *note; /* what makes the comparison less sure, in words */
  size_t notes;
};

/* The first run of a side. */
static inline size_t diff_first(const struct diff *d, int side) {
  return side == DIFF_A ? 0 : d->side[DIFF_A];
}

/* What is worth a line, the dearest first. */
struct change {
  const struct diff_row *row;
  const struct measure *measure;
  struct spread side[DIFF_SIDES];
  double by;     /* B - A; NAN where one of them has none */
  double ratio;  /* that by A; infinite from 0 on; NAN as above */
  bool beyond;   /* the spread: no run of B lies among those of A, nor the other way about */
  double weight; /* of its row: time that B has more or less by it, ns */
};

/* The views stay, and the array does. NULL after a message where they cannot be compared: a run
   stands there twice, or is a later moment of another. */
struct diff *diff_new(struct view *const *view, size_t a, size_t b);
void diff_free(struct diff *);

struct spread diff_value(const struct diff *, const struct diff_row *, const struct measure *,
                         int side);
struct change diff_change(const struct diff *, const struct diff_row *, const struct measure *);
bool diff_is_there(const struct diff *, const struct diff_row *, int side);

/* How many rows of a sort a list of changes has; those of one row stand together. */
size_t diff_rows_of(const struct change *, size_t count, enum measure_of);

/* Changes of what the whole did (all), and those of functions and awaits which are beyond the
   spread or, of a run each, over 5 %; free() the array. */
struct change *diff_whole(const struct diff *, size_t *count);
struct change *diff_changes(const struct diff *, size_t *count);

#endif
