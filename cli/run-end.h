/* SPDX-License-Identifier: MIT */
/*
 * What `aprof run` says when the program has ended.
 *
 * Purpose: reports, or where totals are, or why there are none; or the same as JSON.
 * Cost: that of the reports. Locking: none.
 */
#ifndef APROF_CLI_RUN_END_H
#define APROF_CLI_RUN_END_H

#include "recover.h"

struct run_end {
  const char *program;
  const struct written *written;
  bool known; /* that is all that was written */
  bool report, json, quiet;
  int status; /* of the command */
};

void run_end(const struct run_end *);

/* The value of the last `key` (with its colon) in KEY:VALUE,... or NULL. */
char *run_option(const char *list, const char *key);

#endif
