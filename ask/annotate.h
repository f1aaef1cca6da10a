/* SPDX-License-Identifier: MIT */
/*
 * What a view says of the lines of one source file.
 *
 * In: a view, the name of a file. Out: marks in the order of lines, a line may have several.
 * Cost: linear in functions, awaits and paths, then a sort. Locking: none.
 */
#ifndef APROF_ASK_ANNOTATE_H
#define APROF_ASK_ANNOTATE_H

#include "ask.h"
#include "read/checked.h"

enum mark_what {
  MARK_FUNCTION, /* it begins there */
  MARK_AWAIT,    /* it waits there */
  MARK_CREATE,   /* it, a callback, was made there and waited for what it was made for */
  MARK_BLOCKING, /* a call there blocked the loop */
  MARK_HOLD,     /* its longest hold went from there to `to` */
  MARK_CHECK,    /* a check has found something there, before it ran */
};
extern const char *const mark_names[]; /* by enum mark_what */

struct mark {
  uint64_t line, to; /* to: the hold's last line, if that lies in this file, too; else 0 */
  enum mark_what what;
  const struct view_function *function; /* NULL: of a check */
  const struct checked_finding *check;  /* of one */
  const char *callee;                   /* of an await, a create, a call; or NULL */
  bool background;                      /* it waits for new work */
  uint64_t count;                       /* futures, waits, calls; UNKNOWN: of a hold */
  /* ns; UNKNOWN: there is none, or several lines share it. exec: of the function's futures, or of
     those that were awaited or made there. */
  uint64_t exec, waiting, worst;
  unsigned lacks; /* enum lack, of its function's numbers */
};

/* Names of files in the view that may be meant by `name`: equal, or one of them ends with the
   other, whole directories each; or, where none is, nothing. Each once; free() the array, not the
   names. */
const char **ask_files(const struct view *, const char *name, size_t *count);
/* All of them. */
const char **ask_all_files(const struct view *, size_t *count);

/* `file`: as in the view. free() the array. */
struct mark *ask_marks(const struct view *, const char *file, size_t *count);

#endif
