/* SPDX-License-Identifier: MIT */
/*
 * What a program does wrong with its futures, told before it runs.
 *
 * In: units, each with the flags that it is compiled with. Out: findings, each with the path that
 * proves it and a way to mend it; and what could not be seen.
 * Cost: that of the compiler's front end, for each unit that has changed. Locking: none.
 */
#ifndef APROF_CHECK_CHECK_H
#define APROF_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct check_request {
  const char *database; /* the folder of compile_commands.json, or ... */
  char *const *file;    /* files: all of the program, or those of the database that are wanted */
  size_t files;
  char *const *flag; /* ... flags for them */
  size_t flags;
  const char *const *bindings; /* files of lines, or names of shipped ones */
  size_t binding_files;
  const char *shipped; /* the folder of the shipped ones */
  const char *include; /* where aprof.h is */
  const char *cache;   /* a folder, or NULL */
  unsigned jobs;
};

struct check_place {
  const char *file;
  unsigned line;
};

struct check_note {
  struct check_place at;
  const char *text;
};

struct check_finding {
  const char *rule;
  struct check_place at;
  const char *word; /* what the caret stands under */
  const char *text;
  const struct check_note *path; /* what proves it, in order */
  size_t steps;
  const char *mend;
  const char *identity; /* rule, file and text: the same after lines have moved */
};

/* What was not seen. */
struct check_unseen {
  struct check_place at; /* of a unit that was not read the line is 0 */
  const char *text;
};

struct check_rule {
  const char *name;
  const char *text; /* what it finds, in a sentence without a full stop */
};

struct check_result {
  const struct check_finding *finding; /* by file and line */
  size_t findings;
  const struct check_unseen *trouble; /* units that were not read whole */
  size_t troubles;
  const struct check_unseen
      *pointer; /* calls from async code through pointers, of unknown targets */
  size_t pointers;
  size_t units, unread, functions, kept; /* kept: from the cache */
  size_t left_out;                       /* findings that are known, or of unchanged lines */
};

/* False after a message: there is nothing to check.. */
bool check_run(const struct check_request *, struct check_result *);

/* Row after row, NULL behind the last. */
const struct check_rule *check_rule(size_t row);

#endif
