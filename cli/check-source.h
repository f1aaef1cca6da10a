/* SPDX-License-Identifier: MIT */
/*
 * Where a finding stands in its source's line.
 *
 * Purpose: outputs ask here for the line and the column. Cost: a file is read once, if findings
 * come by file. Locking: none.
 */
#ifndef APROF_CLI_CHECK_SOURCE_H
#define APROF_CLI_CHECK_SOURCE_H

#include "check/check.h"

/* That of the last finding; all zero at first. */
struct source {
  const char *file;
  char *text;
};

/* To be freed; NULL: there is no such line. */
char *source_line(struct source *, const struct check_place *);
/* Where the word stands in the line, as a whole, from 0; where a macro hides it, the first that is
   no blank. */
size_t source_column(const char *line, const char *word, size_t *width);

#endif
