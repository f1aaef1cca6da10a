/* SPDX-License-Identifier: MIT */
/*
 * A bindings file from a library's headers: what can be told of names and types.
 *
 * In: headers, as they are included, and flags; a program that uses them. Out: lines of the
 * grammar, each with its reason; what is to be decided by who knows the library is asked in a
 * comment. Cost: one unit that includes them. Locking: none.
 */
#ifndef APROF_CHECK_SUGGEST_H
#define APROF_CHECK_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "check.h"

struct suggest_request {
  char *const *header; /* a path, or as #include <> has it */
  size_t headers;
  char *const *flag;
  size_t flags;
  const struct check_request *program; /* one that uses the library; NULL: none */
};

struct suggest_result {
  char *text; /* the file; to be freed */
  size_t creates, others, functions;
  size_t used; /* functions that the program calls */
};

/* False after a message. */
bool suggest_run(const struct suggest_request *, struct suggest_result *);

#endif
