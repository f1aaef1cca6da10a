/* SPDX-License-Identifier: MIT */
/*
 * Which totals were written where, as JSON: aprof.written/1, on one line.
 *
 * Purpose: a script that runs a program, or has totals dumped, need not guess names.
 * Cost: that of reading those totals whose process is not known. Locking: none.
 */
#ifndef APROF_CLI_WRITTEN_JSON_H
#define APROF_CLI_WRITTEN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What a run has beside its totals. */
struct written_run {
  int status; /* the command's own */
  size_t going;
  bool known; /* these are all totals that it wrote */
};

/* `run` NULL: they were asked for. */
void written_json(char *const *path, size_t count, const struct written_run *run, FILE *out);

#endif
